-- person_add: know a person by name
INSERT INTO people (name) VALUES (?) ON CONFLICT (name) DO NOTHING;

-- person_get: a person's number
SELECT number FROM people WHERE name = ?;

-- session_write: insert a session or bring it up to date, never back; its row, if the person is known
INSERT INTO sessions (
    id, key, person, org, user, project, runtime, kind, parent, segment, forked_from, started_at, seen_at, seen,
    credential, held_out
)
SELECT
    :id, :key, people.number, :org, :user, :project, :runtime, :kind, :parent, :segment, :forked_from, :started_at,
    :seen_at, :seen, :credential, :held_out
FROM people WHERE people.name = :person
ON CONFLICT (id) DO UPDATE SET
    key = excluded.key,
    org = excluded.org,
    project = excluded.project,
    runtime = excluded.runtime,
    kind = excluded.kind,
    parent = coalesce(excluded.parent, sessions.parent),
    segment = max(sessions.segment, excluded.segment),
    forked_from = coalesce(excluded.forked_from, sessions.forked_from),
    seen_at = CASE WHEN excluded.seen > sessions.seen THEN excluded.seen_at ELSE sessions.seen_at END,
    seen = max(sessions.seen, excluded.seen),
    credential = CASE excluded.credential WHEN '' THEN sessions.credential ELSE excluded.credential END
RETURNING *;

-- session_get: a session by id
SELECT * FROM sessions WHERE id = ?;

-- session_by_number: a session by its row
SELECT * FROM sessions WHERE number = ?;

-- session_begin: insert a session under a number of its own; its row
INSERT INTO sessions (
    number, id, key, person, org, user, project, runtime, kind, parent, segment, forked_from, started_at, seen_at, seen,
    credential, held_out
)
SELECT
    :number, :id, :key, people.number, :org, :user, :project, :runtime, :kind, :parent, :segment, :forked_from,
    :started_at, :seen_at, :seen, :credential, :held_out
FROM people WHERE people.name = :person
RETURNING *;

-- session_by_key: the session last seen under a runtime's own id
SELECT * FROM sessions WHERE key = ? AND key != '' ORDER BY seen DESC, number DESC LIMIT 1;

-- session_by_messages: of the sessions that were seen last under keys from one to another, that in which most of these
-- messages stood, and in how many (heard)
SELECT sessions.*, near.heard
FROM (
    SELECT newest.number, count(*) AS heard
    FROM (
        SELECT number FROM sessions WHERE key >= ? AND key < ? AND key != '' ORDER BY seen DESC LIMIT ?
    ) AS newest
    JOIN seen ON seen.session = newest.number
    WHERE seen.digest IN (?*)
    GROUP BY newest.number
) AS near
JOIN sessions ON sessions.number = near.number
ORDER BY near.heard DESC, sessions.seen DESC, sessions.number DESC LIMIT 1;

-- session_tip: move a session's tip to a turn, unless it came before the one there: it may be journaled late
UPDATE sessions SET tip = :turn WHERE number = :session AND coalesce(
    (SELECT julianday(exchanges.at) FROM exchanges WHERE exchanges.number = sessions.tip), 0
) <= julianday(:at);

-- trail_write: remember that a request ended here; the session's tip, which is moved first, stays known as that
INSERT INTO trail (link, namespace, session, exchange) VALUES (?, ?, ?, ?)
ON CONFLICT (link, namespace, session) DO UPDATE SET exchange = max(trail.exchange, excluded.exchange)
WHERE trail.exchange IS NOT (SELECT tip FROM sessions WHERE sessions.number = excluded.session);

-- trail_find: the sessions whose requests ended at one of these links; of each link, the likeliest first
SELECT trail.link, trail.exchange = sessions.tip AS at_tip, sessions.*
FROM trail JOIN sessions ON sessions.number = trail.session
WHERE trail.namespace = ? AND trail.link IN (?*)
ORDER BY at_tip DESC, sessions.seen DESC, sessions.number DESC;

-- ledger_write: add a decision, once; gives its row and its mark where it was not there
INSERT INTO ledger (session, mark, digest, occurrence, text, form, reason, memories, act, part, tier)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session, mark) DO NOTHING
RETURNING number, mark;

-- ledger_again: a decision is taken once more, after others: then it is the last one
UPDATE ledger SET number = (SELECT max(number) + 1 FROM ledger) WHERE session = ? AND mark = ? RETURNING number;

-- ledger_withdraw: a decision was not taken after all
DELETE FROM ledger WHERE session = ? AND mark = ? RETURNING number;

-- ledger_version: how far a session's ledger is written
SELECT coalesce(max(number), 0) AS last, count(*) AS size FROM ledger WHERE session = ?;

-- session_standing: the same of a session by id, and whether one of its turns has offered tools
SELECT coalesce(max(ledger.number), 0) AS last, count(*) AS size,
    EXISTS (SELECT 1 FROM exchanges JOIN sessions ON sessions.number = exchanges.session
        WHERE sessions.id = ?1 AND exchanges.tools) AS tools
FROM ledger JOIN sessions ON sessions.number = ledger.session WHERE sessions.id = ?1;

-- ledger_since: a session's decisions behind a row
SELECT ledger.* FROM ledger JOIN sessions ON sessions.number = ledger.session
WHERE sessions.id = ? AND ledger.number > ? ORDER BY ledger.number;

-- ledger_mention: these memories (a JSON list of ids) stand in a session's decision with this mark
INSERT INTO mentions (memory, place, number)
SELECT value, 'ledger', ledger.number FROM ledger, json_each(?) WHERE ledger.session = ? AND ledger.mark = ?
ON CONFLICT (memory, place, number) DO NOTHING;

-- ledger_given: which memories were given at which messages of a session
SELECT ledger.digest, ledger.memories FROM ledger JOIN sessions ON sessions.number = ledger.session
WHERE sessions.id = ? AND ledger.act = 'append' AND ledger.memories != '[]' ORDER BY ledger.number;

-- ledger_of: a session's decisions in the order they were taken
SELECT ledger.* FROM ledger JOIN sessions ON sessions.number = ledger.session
WHERE sessions.id = ? ORDER BY ledger.number;
