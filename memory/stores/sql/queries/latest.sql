-- latest_turns: the sessions seen last (of one runtime, or of any where it is empty), with the receipt of their tip
SELECT sessions.*, receipts.body AS receipt FROM sessions JOIN receipts ON receipts.exchange = sessions.tip
WHERE ?1 = '' OR sessions.runtime = ?1
ORDER BY sessions.seen DESC, sessions.number DESC LIMIT ?2;

-- latest_of: one person's sessions, as latest_turns
SELECT sessions.*, receipts.body AS receipt FROM sessions JOIN receipts ON receipts.exchange = sessions.tip
WHERE (?1 = '' OR sessions.runtime = ?1) AND sessions.org IS ?3 AND sessions.user IS ?4
ORDER BY sessions.seen DESC, sessions.number DESC LIMIT ?2;

-- latest_named: a person's sessions whose id lies between a prefix and its end, or whose runtime calls them so
SELECT sessions.*, exchanges.number AS turn, exchanges.dialect, exchanges.model, exchanges.at AS turned_at,
    exchanges.reply
FROM sessions
JOIN people ON people.number = sessions.person
JOIN exchanges ON exchanges.number = sessions.tip
WHERE people.name = ?1
    AND (sessions.id >= ?2 AND sessions.id < ?3 OR substr(sessions.key, -length(?2) - 1) = ':' || ?2)
ORDER BY sessions.seen DESC LIMIT ?4;
