-- trail_find: the sessions whose requests ended at one of these links; of each link, the likeliest first
-- (the tip of a session of which no exchange was committed yet is 0)
SELECT trail.link, (trail.exchange = coalesce(sessions.tip, 0)) IS TRUE AS at_tip, sessions.*
FROM trail JOIN sessions ON sessions.number = trail.session
WHERE trail.namespace = ? AND trail.link IN (?*)
ORDER BY at_tip DESC, sessions.seen DESC, sessions.number DESC;

-- ledger_again: a decision is taken once more, after others: then it is the last one
UPDATE ledger SET number = nextval(pg_get_serial_sequence('ledger', 'number')) WHERE session = ? AND mark = ?
RETURNING number;
