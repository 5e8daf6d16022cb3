-- trail_find: the sessions whose requests ended at one of these links; of each link, the likeliest first
-- (the tip of a session of which no exchange was committed yet is 0)
SELECT trail.link, (trail.exchange = coalesce(sessions.tip, 0)) IS TRUE AS at_tip, sessions.*
FROM trail JOIN sessions ON sessions.number = trail.session
WHERE trail.namespace = ? AND trail.link IN (?*)
ORDER BY at_tip DESC, sessions.seen DESC, sessions.number DESC;

-- ledger_again: a decision is taken once more, after others: then it is the last one
UPDATE ledger SET number = nextval(pg_get_serial_sequence('ledger', 'number')) WHERE session = ? AND mark = ?
RETURNING number;

-- session_by_messages: of the sessions that were seen last under keys from one to another, that in which most of these
-- messages stood, and in how many (heard); keys in the order of their characters, whatever the database's language is
SELECT sessions.*, near.heard
FROM (
    SELECT newest.number, count(*) AS heard
    FROM (
        SELECT number FROM sessions WHERE key COLLATE "C" >= ? AND key COLLATE "C" < ? AND key != ''
        ORDER BY seen DESC LIMIT ?
    ) AS newest
    JOIN seen ON seen.session = newest.number
    WHERE seen.digest IN (?*)
    GROUP BY newest.number
) AS near
JOIN sessions ON sessions.number = near.number
ORDER BY near.heard DESC, sessions.seen DESC, sessions.number DESC LIMIT 1;
