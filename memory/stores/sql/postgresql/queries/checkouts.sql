-- checkouts_counted: the branches on which facts of some owners were learnt
SELECT checkouts.repository, checkouts.branch, bool_or(staged) AS staged, count(*) AS facts,
    max(branches.stage) AS stage, max(branches.since) AS since
FROM checkouts JOIN facts ON facts.id = checkouts.memory LEFT JOIN branches
ON staged AND branches.repository = checkouts.repository AND branches.name = checkouts.branch
WHERE checkouts.owner IN (?*) AND facts.state = 'active' AND facts.origin != 'file' AND branch != ''
GROUP BY checkouts.repository, checkouts.branch ORDER BY max(facts.recorded) DESC LIMIT ?;
