-- audit_stays: the audit log is only ever added to
CREATE FUNCTION audit_is_only_added_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is only ever added to';
END $$;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_only_added_to();

-- audit_is_kept: and nothing of it goes
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_only_added_to();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_only_added_to();
