-- checkout_write: where a memory was learnt; what is known already stays
INSERT INTO checkouts (memory, owner, repository, branch, commit_id, staged, cites, anchor, looked, awaits)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (memory) DO NOTHING;

-- checkout_looked: what a memory cites, as it was found
UPDATE checkouts SET cites = ?, awaits = ?, looked = true WHERE memory = ?;

-- checkout_anew: a memory was seen in another state of its checkout
INSERT INTO checkouts (memory, owner, repository, branch, commit_id, staged, cites, anchor, looked, awaits)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (memory) DO UPDATE SET repository = excluded.repository,
branch = excluded.branch, commit_id = excluded.commit_id, staged = excluded.staged, cites = excluded.cites,
anchor = excluded.anchor, looked = excluded.looked, awaits = excluded.awaits;

-- checkouts_observed: what holds of what the files of an owner's repository say
SELECT facts.* FROM facts JOIN checkouts ON checkouts.memory = facts.id
WHERE facts.owner = ? AND repository = ? AND state = 'active' AND origin = 'file' ORDER BY facts.number;

-- checkout_anchored: the commit by which others know what was learnt on a branch
UPDATE checkouts SET anchor = ? WHERE memory = ?;

-- checkout_said_elsewhere: what was said on another branch too does not hold on one only
UPDATE checkouts SET staged = false WHERE memory = ? AND staged AND NOT (repository = ? AND branch = ?);

-- checkout_renamed: a branch has another name now
UPDATE checkouts SET branch = ? WHERE repository = ? AND branch = ? AND staged;

-- checkouts_of: where these memories were learnt, and what has become of the branch
SELECT checkouts.*, branches.stage, branches.since
FROM checkouts LEFT JOIN branches
ON staged AND branches.repository = checkouts.repository AND branches.name = checkouts.branch
WHERE memory IN (?*);

-- checkouts_unlooked: memories of a repository of which it was not looked for what they cite, with their text; facts
-- first, the newest first
SELECT checkouts.memory, coalesce(facts.text, passages.text, '') AS text
FROM checkouts LEFT JOIN facts ON facts.id = checkouts.memory LEFT JOIN passages ON passages.id = checkouts.memory
WHERE checkouts.repository = ? AND NOT looked
ORDER BY facts.number IS NULL, facts.number DESC, passages.number DESC LIMIT ?;

-- checkouts_awaiting: memories in use that name what their repository does not hold yet; facts first, the newest first
SELECT checkouts.*, branches.stage, branches.since
FROM checkouts LEFT JOIN branches
ON staged AND branches.repository = checkouts.repository AND branches.name = checkouts.branch
LEFT JOIN facts ON facts.id = checkouts.memory
WHERE checkouts.repository = ? AND awaits AND (facts.id IS NULL OR facts.state IN ('active', 'draft'))
ORDER BY facts.number IS NULL, facts.number DESC, checkouts.memory LIMIT ?;

-- checkout_ended: what was learnt on a branch before these commits (a JSON list), which go on from it or have its name,
-- goes by another
UPDATE checkouts SET branch = ? WHERE repository = ? AND branch = ? AND staged
AND commit_id NOT IN (SELECT value FROM json_each(?));

-- checkouts_on: what was learnt on a branch
SELECT memory, commit_id, anchor FROM checkouts WHERE repository = ? AND branch = ? AND staged;

-- checkouts_branch: ids of the facts of some owners that were learnt on a branch, the newest first
SELECT checkouts.memory FROM checkouts JOIN facts ON facts.id = checkouts.memory
WHERE checkouts.owner IN (?*) AND branch = ? AND facts.origin != 'file' ORDER BY facts.recorded DESC LIMIT ?;

-- checkouts_counted: the branches on which facts of some owners were learnt
SELECT checkouts.repository, checkouts.branch, max(staged) AS staged, count(*) AS facts, branches.stage, branches.since
FROM checkouts JOIN facts ON facts.id = checkouts.memory LEFT JOIN branches
ON staged AND branches.repository = checkouts.repository AND branches.name = checkouts.branch
WHERE checkouts.owner IN (?*) AND facts.state = 'active' AND facts.origin != 'file' AND branch != ''
GROUP BY checkouts.repository, checkouts.branch ORDER BY max(facts.recorded) DESC LIMIT ?;

-- checkouts_after: an owner's, behind an id
SELECT checkouts.*, branches.stage, branches.since
FROM checkouts LEFT JOIN branches
ON staged AND branches.repository = checkouts.repository AND branches.name = checkouts.branch
WHERE owner = ? AND memory > ? ORDER BY memory LIMIT ?;

-- checkouts_owners: whose memories were learnt on a branch
SELECT DISTINCT owner FROM checkouts WHERE repository = ? AND branch = ? AND staged;

-- branches_in: the branches of a repository on which something was learnt
SELECT DISTINCT checkouts.branch AS name, coalesce(tip, '') AS tip, coalesce(base, '') AS base,
    coalesce(stage, 'open') AS stage, since
FROM checkouts LEFT JOIN branches ON branches.repository = checkouts.repository AND branches.name = checkouts.branch
WHERE staged AND checkouts.repository = ? ORDER BY name LIMIT ?;

-- branch_write: what has become of a branch
INSERT INTO branches (repository, name, tip, base, stage, since) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (repository, name) DO UPDATE SET
    tip = excluded.tip, base = excluded.base, stage = excluded.stage, since = excluded.since;

-- branch_drop: a branch has another name now
DELETE FROM branches WHERE repository = ? AND name = ?;

-- forget_checkout: where a memory was learnt, and what it cites
DELETE FROM checkouts WHERE memory = ?;

-- forget_branches: branches on which nothing is known any more
DELETE FROM branches WHERE NOT EXISTS (
    SELECT 1 FROM checkouts WHERE checkouts.repository = branches.repository AND checkouts.branch = branches.name AND staged
);
