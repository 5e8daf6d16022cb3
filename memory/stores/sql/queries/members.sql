-- members_of: the roles of an organisation's members, those of each together
SELECT * FROM members WHERE org = ? ORDER BY user, project;

-- member_get: the roles of one member
SELECT * FROM members WHERE org = ? AND user = ? ORDER BY project;

-- members_any: whether an organisation has members
SELECT 1 FROM members WHERE org = ? LIMIT 1;

-- members_orgs: the organisations that have members
SELECT DISTINCT org FROM members ORDER BY org;

-- member_set: somebody has a role, in an organisation or in a project of it
INSERT INTO members (org, user, project, role, added_at, added_by) VALUES (:org, :user, :project, :role, :at, :by)
ON CONFLICT (org, user, project) DO UPDATE SET role = excluded.role;

-- member_drop: somebody is no member any more
DELETE FROM members WHERE org = ? AND user = ?;

-- member_drop_project: in a project somebody has the role that they have in the organisation
DELETE FROM members WHERE org = ? AND user = ? AND project = ?;

-- member_keys_revoke: no key of somebody's in an organisation lets anybody in any more
UPDATE client_keys SET revoked_at = ? WHERE org = ? AND user = ? AND revoked_at IS NULL;

-- member_keys: the names of the keys of somebody's in an organisation that were not revoked
SELECT name FROM client_keys WHERE org = ? AND user = ? AND revoked_at IS NULL ORDER BY name;

-- members_unnamed: who was forgotten is not named by what they added
UPDATE members SET added_by = '' WHERE org = :org AND added_by = :user;

-- client_keys_unnamed: nor by the keys that they issued
UPDATE client_keys SET made_by = '' WHERE org = :org AND made_by = :user;

-- candidates_naming: the candidates that somebody of a name submitted or decided
SELECT id, owner, submitted_by, decided_by FROM candidates WHERE submitted_by = :user OR decided_by = :user;

-- candidate_named: who submitted and decided a candidate
UPDATE candidates SET submitted_by = :submitted_by, decided_by = :decided_by WHERE id = :id;

-- members_all: the roles of everybody in every organisation, those of each together
SELECT * FROM members ORDER BY org, user, project;
