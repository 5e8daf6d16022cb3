-- following: the facts that follow one of these
SELECT DISTINCT facts.* FROM facts INDEXED BY facts_following, json_each(facts.supersedes) AS before
WHERE (facts.supersedes != '[]' OR facts.contradicts != '[]') AND before.value IN (?*);

-- facts_from: the facts that came from these messages
SELECT * FROM facts WHERE source IN (?*) ORDER BY number;

-- said_in: in which sessions memories were said, and how often
SELECT uses.memory, uses.session, uses.said, sessions.started_at FROM uses JOIN sessions ON sessions.id = uses.session
WHERE uses.memory IN (?*) AND uses.said > 0;

-- passages_saying: passages of a session that came from a message, or in which one of some patterns (JSON) stands
SELECT * FROM passages WHERE session = ? AND (source = ? OR EXISTS (
    SELECT 1 FROM json_each(?) AS pattern WHERE passages.text LIKE pattern.value ESCAPE '\'
)) ORDER BY source != ?, turn, piece, number LIMIT ?;

-- use_times: when the sessions were in which a memory was used; of what was made in no session there is none
SELECT sessions.seen_at AS at FROM uses JOIN sessions ON sessions.id = uses.session
WHERE uses.memory = ? AND uses.used > 0 ORDER BY sessions.seen;
