-- checkout_looked: what a memory cites, as it was found
UPDATE checkouts SET cites = ?, looked = true WHERE memory = ?;

-- checkout_said_elsewhere: what was said on another branch too does not hold on one only
UPDATE checkouts SET staged = false WHERE memory = ? AND staged AND NOT (repository = ? AND branch = ?);

-- checkouts_counted: the branches on which facts of some owners were learnt
SELECT checkouts.repository, checkouts.branch, bool_or(staged) AS staged, count(*) AS facts,
    max(branches.stage) AS stage, max(branches.since) AS since
FROM checkouts JOIN facts ON facts.id = checkouts.memory LEFT JOIN branches
ON staged AND branches.repository = checkouts.repository AND branches.name = checkouts.branch
WHERE checkouts.owner IN (?*) AND facts.state = 'active' AND facts.origin != 'file' AND branch != ''
GROUP BY checkouts.repository, checkouts.branch ORDER BY max(facts.recorded) DESC LIMIT ?;

-- branches_in: the branches of a repository on which something was learnt
SELECT DISTINCT checkouts.branch AS name, coalesce(tip, '') AS tip, coalesce(base, '') AS base,
    coalesce(stage, 'open') AS stage, since
FROM checkouts LEFT JOIN branches ON branches.repository = checkouts.repository AND branches.name = checkouts.branch
WHERE staged AND checkouts.repository = ? ORDER BY name LIMIT ?;
