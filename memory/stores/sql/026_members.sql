-- Who is a member of an organisation, and in which role. project: the one in which the role stands in the place of that in
-- the organisation, which has an empty name.
CREATE TABLE members (
    org TEXT NOT NULL,
    user TEXT NOT NULL,
    project TEXT NOT NULL,
    role TEXT NOT NULL,
    added_at TEXT NOT NULL,
    added_by TEXT NOT NULL,
    PRIMARY KEY (org, user, project)
) WITHOUT ROWID;

-- What a key is for (JSON).
ALTER TABLE client_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '["calls"]';

-- Whose maintainers were asked to approve it (the owner of what their organisation shares), by whom and when; who decided.
ALTER TABLE candidates ADD COLUMN submitted_to TEXT NOT NULL DEFAULT '';

ALTER TABLE candidates ADD COLUMN submitted_by TEXT NOT NULL DEFAULT '';

ALTER TABLE candidates ADD COLUMN submitted_at TEXT;

ALTER TABLE candidates ADD COLUMN decided_by TEXT NOT NULL DEFAULT '';

CREATE INDEX candidates_submitted ON candidates (submitted_to) WHERE submitted_to != ''
