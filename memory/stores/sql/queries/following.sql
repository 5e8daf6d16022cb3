-- following: the facts that follow one of these
SELECT DISTINCT facts.* FROM facts INDEXED BY facts_following, json_each(facts.supersedes) AS before
WHERE (facts.supersedes != '[]' OR facts.contradicts != '[]') AND before.value IN (?*);

-- facts_from: the facts that came from these messages
SELECT * FROM facts WHERE source IN (?*) ORDER BY number;

-- use_times: when the sessions were in which a memory was used; of what was made in no session there is none
SELECT sessions.seen_at AS at FROM uses JOIN sessions ON sessions.id = uses.session
WHERE uses.memory = ? AND uses.used > 0 ORDER BY sessions.seen;
