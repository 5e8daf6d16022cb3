-- came_facts: facts of some owners by where they came from
SELECT facts.* FROM facts LEFT JOIN sessions ON sessions.id = facts.session
WHERE facts.owner IN (SELECT value FROM json_each(:owners))
AND (CAST(:since AS DOUBLE PRECISION) IS NULL OR facts.recorded >= :since)
AND (CAST(:until AS DOUBLE PRECISION) IS NULL OR facts.recorded < :until)
AND (:origins = '[]' OR facts.origin IN (SELECT value FROM json_each(:origins)))
AND (:program = '' OR lower(sessions.runtime) = lower(:program))
AND (:credential = '' OR substr(sessions.credential, 1, length(:credential)) = :credential)
AND (:sessions = '[]' OR facts.session IN (SELECT value FROM json_each(:sessions)))
AND (:session = '' OR substr(facts.session, 1, length(:session)) = :session
    OR substr(sessions.key, -length(:session) - 1) = ':' || :session)
ORDER BY facts.number;

-- came_passages: passages of some owners by where they came from
SELECT passages.* FROM passages LEFT JOIN sessions ON sessions.id = passages.session
WHERE passages.owner IN (SELECT value FROM json_each(:owners))
AND (CAST(:since AS DOUBLE PRECISION) IS NULL OR julianday(passages.at) >= :since / 86400.0 + 2440587.5)
AND (CAST(:until AS DOUBLE PRECISION) IS NULL OR julianday(passages.at) < :until / 86400.0 + 2440587.5)
AND (:origins = '[]' OR passages.origin IN (SELECT value FROM json_each(:origins)))
AND (:program = '' OR lower(sessions.runtime) = lower(:program))
AND (:credential = '' OR substr(sessions.credential, 1, length(:credential)) = :credential)
AND (:sessions = '[]' OR passages.session IN (SELECT value FROM json_each(:sessions)))
AND (:session = '' OR substr(passages.session, 1, length(:session)) = :session
    OR substr(sessions.key, -length(:session) - 1) = ':' || :session)
ORDER BY passages.number;

-- came_research: research of some owners by where it came from
SELECT research.id, research.session FROM research LEFT JOIN sessions ON sessions.id = research.session
WHERE research.owner IN (SELECT value FROM json_each(:owners))
AND (CAST(:since AS DOUBLE PRECISION) IS NULL OR research.seen >= :since)
AND (CAST(:until AS DOUBLE PRECISION) IS NULL OR research.seen < :until)
AND (:origins = '[]' OR 'sub-agent' IN (SELECT value FROM json_each(:origins)))
AND (:program = '' OR lower(coalesce(sessions.runtime, research.runtime)) = lower(:program))
AND (:credential = '' OR substr(sessions.credential, 1, length(:credential)) = :credential)
AND (:sessions = '[]' OR research.session IN (SELECT value FROM json_each(:sessions)))
AND (:session = '' OR substr(research.session, 1, length(:session)) = :session
    OR substr(sessions.key, -length(:session) - 1) = ':' || :session)
ORDER BY research.number;

-- came_request: the request of a receipt, or of an exchange, by its id or the beginning of it
SELECT exchanges.number, exchanges.fresh, exchanges.reply, sessions.id AS session
FROM exchanges JOIN sessions ON sessions.number = exchanges.session
LEFT JOIN receipts ON receipts.exchange = exchanges.number
WHERE substr(receipts.id, 1, length(:request)) = :request OR substr(exchanges.id, 1, length(:request)) = :request;

-- came_from: the session of a memory, and the first request of it in which its message stood
SELECT sessions.id AS session, sessions.key, sessions.runtime, sessions.credential, sessions.project, (
    SELECT exchanges.number FROM exchanges WHERE exchanges.session = sessions.number
    AND (exchanges.reply = :source OR instr(exchanges.tail, :source) > 0) ORDER BY exchanges.number LIMIT 1
) AS exchange
FROM sessions WHERE sessions.id = :session;

-- came_with: a request, for who asks where something came from
SELECT exchanges.model, exchanges.at, coalesce(receipts.id, exchanges.id) AS id
FROM exchanges LEFT JOIN receipts ON receipts.exchange = exchanges.number WHERE exchanges.number = ?;

-- shelve_fact: a fact is another owner's
UPDATE facts SET owner = ? WHERE id = ?;

-- shelve_passage: a passage is another owner's
UPDATE passages SET owner = ? WHERE id = ?;

-- shelve_research: a research is another owner's
UPDATE research SET owner = ? WHERE id = ?;

-- shelve_candidate: a candidate is another owner's
UPDATE candidates SET owner = ? WHERE id = ?;

-- shelve_lines: the lines of days that tell of a memory are another owner's
UPDATE summaries SET owner = ?1 WHERE memory = ?2 AND NOT EXISTS (
    SELECT 1 FROM summaries AS there WHERE there.owner = ?1
    AND there.day = summaries.day AND there.tier = summaries.tier AND there.memory = summaries.memory
);

-- shelve_error_keys: the lines by which a fact is found are another owner's
UPDATE error_keys SET owner = ?1 WHERE memory = ?2 AND NOT EXISTS (
    SELECT 1 FROM error_keys AS there WHERE there.owner = ?1 AND there.key = error_keys.key AND there.memory = error_keys.memory
);

-- shelve_observation: what a fact holds of how work is done is another owner's
UPDATE observations SET owner = ?1 WHERE memory = ?2 AND NOT EXISTS (
    SELECT 1 FROM observations AS there WHERE there.owner = ?1 AND there.subject = observations.subject
);

-- research_owner: whose a research is
SELECT owner FROM research WHERE id = ?;

-- quarantine_count: how many memories are in quarantine
SELECT (SELECT count(*) FROM facts WHERE owner GLOB 'quarantine/*')
    + (SELECT count(*) FROM passages WHERE owner GLOB 'quarantine/*') AS number;

-- quarantine_first: the first facts of a session that some owners (a JSON list) have in quarantine; the limit comes last
SELECT * FROM facts WHERE owner IN (SELECT value FROM json_each(?1)) AND session = ?2 ORDER BY number LIMIT ?3;

-- quarantine_sessions: the sessions of the facts that some owners (a JSON list, as they are named there) have in
-- quarantine, those with most of them first, and how much of each
SELECT session, count(*) AS facts, (
    SELECT count(*) FROM passages WHERE passages.session = facts.session
    AND passages.owner IN (SELECT value FROM json_each(?1))
) AS passages FROM facts WHERE owner IN (SELECT value FROM json_each(?1))
GROUP BY session ORDER BY facts DESC, session LIMIT ?2;
