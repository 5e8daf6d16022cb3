-- spawn_write: a session gave an errand
INSERT INTO spawns (session, person, call, mark, tool, prompt, description, agent, at, seen, child)
VALUES (:session, :person, :call, :mark, :tool, :prompt, :description, :agent, :at, :seen, :child)
ON CONFLICT (session, call, mark) DO UPDATE
SET child = CASE WHEN excluded.child != '' THEN excluded.child ELSE spawns.child END;

-- came_facts: facts of some owners by where they came from
SELECT facts.* FROM facts LEFT JOIN sessions ON sessions.id = facts.session
WHERE facts.owner IN (SELECT value FROM json_each(:owners))
AND (:since::double precision IS NULL OR facts.recorded >= :since)
AND (:until::double precision IS NULL OR facts.recorded < :until)
AND (:origins = '[]' OR facts.origin IN (SELECT value FROM json_each(:origins)))
AND (:program = '' OR lower(sessions.runtime) = lower(:program))
AND (:credential = '' OR substr(sessions.credential, 1, length(:credential)) = :credential)
AND (:sessions = '[]' OR facts.session IN (SELECT value FROM json_each(:sessions)))
AND (:session = '' OR substr(facts.session, 1, length(:session)) = :session
    OR right(sessions.key, length(:session) + 1) = ':' || :session)
ORDER BY facts.number;

-- came_passages: passages of some owners by where they came from
SELECT passages.* FROM passages LEFT JOIN sessions ON sessions.id = passages.session
WHERE passages.owner IN (SELECT value FROM json_each(:owners))
AND (:since::double precision IS NULL OR seconds(passages.at) >= :since)
AND (:until::double precision IS NULL OR seconds(passages.at) < :until)
AND (:origins = '[]' OR passages.origin IN (SELECT value FROM json_each(:origins)))
AND (:program = '' OR lower(sessions.runtime) = lower(:program))
AND (:credential = '' OR substr(sessions.credential, 1, length(:credential)) = :credential)
AND (:sessions = '[]' OR passages.session IN (SELECT value FROM json_each(:sessions)))
AND (:session = '' OR substr(passages.session, 1, length(:session)) = :session
    OR right(sessions.key, length(:session) + 1) = ':' || :session)
ORDER BY passages.number;

-- came_research: research of some owners by where it came from
SELECT research.id, research.session FROM research LEFT JOIN sessions ON sessions.id = research.session
WHERE research.owner IN (SELECT value FROM json_each(:owners))
AND (:since::double precision IS NULL OR research.seen >= :since)
AND (:until::double precision IS NULL OR research.seen < :until)
AND (:origins = '[]' OR 'sub-agent' IN (SELECT value FROM json_each(:origins)))
AND (:program = '' OR lower(coalesce(sessions.runtime, research.runtime)) = lower(:program))
AND (:credential = '' OR substr(sessions.credential, 1, length(:credential)) = :credential)
AND (:sessions = '[]' OR research.session IN (SELECT value FROM json_each(:sessions)))
AND (:session = '' OR substr(research.session, 1, length(:session)) = :session
    OR right(sessions.key, length(:session) + 1) = ':' || :session)
ORDER BY research.number;
