-- session_write: insert a session or bring it up to date, never back; its row, if the person is known
INSERT INTO sessions (
    id, key, person, org, "user", project, runtime, kind, parent, segment, forked_from, started_at, seen_at, seen,
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
    segment = greatest(sessions.segment, excluded.segment),
    forked_from = coalesce(excluded.forked_from, sessions.forked_from),
    seen_at = CASE WHEN excluded.seen > sessions.seen THEN excluded.seen_at ELSE sessions.seen_at END,
    seen = greatest(sessions.seen, excluded.seen),
    credential = CASE excluded.credential WHEN '' THEN sessions.credential ELSE excluded.credential END
RETURNING *;

-- session_begin: insert a session under a number of its own; its row
INSERT INTO sessions (
    number, id, key, person, org, "user", project, runtime, kind, parent, segment, forked_from, started_at, seen_at, seen,
    credential, held_out
)
SELECT
    :number, :id, :key, people.number, :org, :user, :project, :runtime, :kind, :parent, :segment, :forked_from,
    :started_at, :seen_at, :seen, :credential, :held_out
FROM people WHERE people.name = :person
RETURNING *;

-- session_in_namespace: a session of a namespace by a runtime's own id, whichever runtime that was
SELECT * FROM sessions WHERE key > ? AND key < ? AND right(key, length(?)) = ?
ORDER BY seen DESC, number DESC LIMIT 1;

-- sessions_called: a person's sessions that a runtime's own id names, in whatever namespace
SELECT sessions.* FROM sessions JOIN people ON people.number = sessions.person
WHERE people.name = ? AND sessions.runtime = ? AND right(sessions.key, length(?)) = ? ORDER BY sessions.number;

-- latest_named: a person's sessions whose id lies between a prefix and its end, or whose runtime calls them so
SELECT sessions.*, exchanges.number AS turn, exchanges.dialect, exchanges.model, exchanges.at AS turned_at,
    exchanges.reply
FROM sessions
JOIN people ON people.number = sessions.person
JOIN exchanges ON exchanges.number = sessions.tip
WHERE people.name = ?1
    AND (sessions.id >= ?2 AND sessions.id < ?3 OR right(sessions.key, length(?2) + 1) = ':' || ?2)
ORDER BY sessions.seen DESC LIMIT ?4;

-- trail_write: remember that a request ended here; the session's tip, which is moved first, stays known as that
INSERT INTO trail (link, namespace, session, exchange) VALUES (?, ?, ?, ?)
ON CONFLICT (link, namespace, session) DO UPDATE SET exchange = greatest(trail.exchange, excluded.exchange)
WHERE trail.exchange IS DISTINCT FROM (SELECT tip FROM sessions WHERE sessions.number = excluded.session);

-- trail_find: the sessions whose requests ended at one of these links; of each link, the likeliest first
-- (the tip of a session of which no exchange was committed yet is 0)
SELECT trail.link, (trail.exchange = coalesce(sessions.tip, 0)) IS TRUE AS at_tip, sessions.*
FROM trail JOIN sessions ON sessions.number = trail.session
WHERE trail.namespace = ? AND trail.link IN (?*)
ORDER BY at_tip DESC, sessions.seen DESC, sessions.number DESC;

-- ledger_again: a decision is taken once more, after others: then it is the last one
UPDATE ledger SET number = nextval(pg_get_serial_sequence('ledger', 'number')) WHERE session = ? AND mark = ?
RETURNING number;
