-- client_keys_all: every key that was issued, in the order of their names
SELECT * FROM client_keys ORDER BY name, made_at;

-- client_key_add: a key is issued, unless one of its name is in force, or its organisation has members and its user is none
INSERT INTO client_keys (hash, name, user, org, projects, scopes, mode, made_at, made_by, expires_at, revoked_at)
SELECT :hash, :name, :user, :org, :projects, :scopes, :mode, :made_at, :made_by, :expires_at, NULL
WHERE NOT EXISTS (SELECT 1 FROM client_keys WHERE name = :name AND revoked_at IS NULL)
AND (
    NOT EXISTS (SELECT 1 FROM members WHERE org = :org)
    OR EXISTS (SELECT 1 FROM members WHERE org = :org AND user = :user)
);

-- client_key_revoke: a key lets nobody in any more
UPDATE client_keys SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL;
