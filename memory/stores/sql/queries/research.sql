-- research_write: keep a research, or write it anew
INSERT INTO research (
    id, owner, person, session, parent, claimed, call, tool, agent, description, question, reports, line, overview,
    sources, trail, runtime, model, directory, commit_, began, ended, seen, requests, tokens, written, outcome,
    delivery, returned
) VALUES (
    :id, :owner, :person, :session, :parent, :claimed, :call, :tool, :agent, :description, :question, :reports, :line,
    :overview, :sources, :trail, :runtime, :model, :directory, :commit_, :began, :ended, :seen, :requests, :tokens,
    :written, :outcome, :delivery, :returned
)
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner, person = excluded.person, session = excluded.session, parent = excluded.parent,
    claimed = excluded.claimed, call = excluded.call, tool = excluded.tool, agent = excluded.agent,
    description = excluded.description, question = excluded.question, reports = excluded.reports,
    line = excluded.line, overview = excluded.overview, sources = excluded.sources, trail = excluded.trail,
    runtime = excluded.runtime, model = excluded.model, directory = excluded.directory, commit_ = excluded.commit_,
    began = excluded.began, ended = excluded.ended, seen = excluded.seen, requests = excluded.requests,
    tokens = excluded.tokens, written = excluded.written, outcome = excluded.outcome, delivery = excluded.delivery,
    returned = excluded.returned;

-- research_get: research by id
SELECT * FROM research WHERE id IN (?*);

-- research_of_session: the research of a sub-agent's session
SELECT * FROM research WHERE session = ? AND session != '' LIMIT 1;

-- research_of_parent: the research that a session sent out, the oldest first
SELECT * FROM research WHERE parent = ? AND parent != '' ORDER BY number;

-- research_newest: the newest research of some owners; the limit comes last
SELECT * FROM research WHERE owner IN (?*) ORDER BY seen DESC, number DESC LIMIT ?;

-- research_named: research whose id lies between two texts
SELECT id, owner FROM research WHERE id BETWEEN ? AND ? LIMIT 50;

-- research_after: research of an owner in the order of the ids, for an export
SELECT * FROM research WHERE owner = ? AND id > ? ORDER BY id LIMIT ?;

-- research_owners: every owner that has research
SELECT DISTINCT owner FROM research ORDER BY owner;

-- research_projects: the shelves between two names on which there is research that can be found
SELECT name FROM owners WHERE name >= ? AND name < ? AND texts > 0 ORDER BY name;

-- research_idle: research that has gone no further since a moment
SELECT * FROM research WHERE outcome = 'running' AND seen < ? ORDER BY seen LIMIT 20;

-- research_delete: a research goes
DELETE FROM research WHERE id = ?;

-- research_uses_delete: and how it was used
DELETE FROM research_uses WHERE research = ?;

-- research_use: a research was used again, unless it is forgotten meanwhile
INSERT INTO research_uses (research, session, how, at, tokens)
SELECT id, ?2, ?3, ?4, ?5 FROM research WHERE id = ?1
ON CONFLICT (research, session, how) DO NOTHING;

-- research_uses_of: how some research was used
SELECT research, session, how, at, tokens FROM research_uses WHERE research IN (?*) ORDER BY number;

-- research_pieces: the passages by which a research is found
SELECT * FROM passages WHERE session = ?;

-- research_forget_spawn: the prompt that sent it
DELETE FROM spawns WHERE (session = ? AND call = ?) OR (child = ? AND child != '') OR (person = ? AND prompt = ?);

-- research_sessions_passages: what was learnt of a sub-agent's session beside its research
SELECT id FROM passages WHERE session = ? UNION SELECT id FROM facts WHERE session = ?;

-- spawn_write: a session gave an errand
INSERT INTO spawns (session, person, call, mark, tool, prompt, description, agent, at, seen, child)
VALUES (:session, :person, :call, :mark, :tool, :prompt, :description, :agent, :at, :seen, :child)
ON CONFLICT (session, call, mark) DO UPDATE
SET child = CASE WHEN excluded.child != '' THEN excluded.child ELSE spawns.child END;

-- spawns_of: the errands that a session gave
SELECT * FROM spawns WHERE session = ? ORDER BY number;

-- spawns_waiting: errands of a person's that nobody has taken, given since a moment
SELECT * FROM spawns WHERE person = ? AND seen >= ? AND child = '' ORDER BY number;

-- spawner_add: a tool was seen to send a sub-agent out
INSERT INTO spawners (person, tool) VALUES (?, ?) ON CONFLICT (person, tool) DO NOTHING;

-- spawners_of: the tools of a person's that were seen to
SELECT tool FROM spawners WHERE person = ?;

-- session_tie: a session is another one's sub-agent
UPDATE sessions SET kind = 'sub-agent', parent = coalesce(parent, ?) WHERE id = ?;

-- session_in_namespace: a session of a namespace by a runtime's own id, whichever runtime that was
SELECT * FROM sessions WHERE key > ? AND key < ? AND substr(key, -length(?)) = ?
ORDER BY seen DESC, number DESC LIMIT 1;

-- research_with_message: research of a person's in whose trail a message stands, or in which its report came back
SELECT id FROM research WHERE person = (SELECT name FROM people WHERE number = ?)
AND (instr(trail, ?) > 0 OR returned = ?);

-- research_trails: a person's research with the messages of its trail, but for some (a JSON list of ids)
SELECT id, trail, returned FROM research WHERE person = ? AND id NOT IN (SELECT value FROM json_each(?));

-- research_family: the session (first) that sent a research (second) out, the one that it forked from, those that forked
-- from it, and those in which the research was used again
SELECT number FROM sessions WHERE (?1 != '' AND (id = ?1 OR forked_from = ?1))
OR id = (SELECT forked_from FROM sessions WHERE id = ?1)
OR id IN (SELECT session FROM research_uses WHERE research = ?2);

-- research_upto: the newest exchange, and the newest use of a research
SELECT coalesce((SELECT max(number) FROM exchanges), 0), coalesce((SELECT max(number) FROM research_uses), 0);

-- research_seen: every message that stood in a session
SELECT digest FROM seen WHERE session = ?;

-- research_elsewhere: which of these messages stood in other sessions of a person than these (a JSON list of ids)
SELECT DISTINCT seen.digest FROM sessions JOIN seen ON seen.session = sessions.number
WHERE sessions.person = ? AND sessions.id NOT IN (SELECT value FROM json_each(?)) AND seen.digest IN (?*);

-- research_asked: research of an owner that was asked the same
SELECT * FROM research WHERE owner = ? AND question = ?;
