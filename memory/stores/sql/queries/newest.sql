-- latest_scopes: the places in which sessions were seen last
SELECT org, user, project FROM sessions WHERE user IS NOT NULL
GROUP BY org, user, project ORDER BY max(seen) DESC LIMIT ?;

-- owners_largest: the projects of persons, those with the most indexed texts first
SELECT name FROM owners WHERE name GLOB 'up*' AND texts > 0 ORDER BY texts DESC, name LIMIT ?;

-- facts_newest: the ids of the active facts of some owners, the newest first; the limit comes last
SELECT id FROM facts WHERE owner IN (?*) AND state = 'active' ORDER BY recorded DESC, number DESC LIMIT ?;

-- passages_newest: the ids of some owners' passages among the newest of all, the newest first; how many are looked at,
-- and the limit, come last
SELECT id FROM passages WHERE owner IN (?*) AND number > (SELECT max(number) FROM passages) - ?
ORDER BY number DESC LIMIT ?;
