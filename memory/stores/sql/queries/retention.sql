-- retention_sessions: every session, whose it is, where it stands, and whether it was seen since a time
SELECT number, person, tip, seen >= ? AS living FROM sessions;

-- retention_exchanges: every exchange, and whether it is older than a time (seconds since 1970)
SELECT number, session, base, tail, reply, CAST(strftime('%s', at) AS INTEGER) < ? AS old
FROM exchanges ORDER BY number;

-- retention_learned: how far all the works have come that read the journal
SELECT min(coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE meta.name = works.value), 0)) AS number
FROM json_each(?) AS works;

-- retention_any: whether an exchange is to go: one that is older than a time (first), which all works have read (up to
-- the second), of people (JSON numbers), but for those at which a session stands that was seen since
SELECT exchanges.number FROM exchanges CROSS JOIN sessions ON sessions.number = exchanges.session
WHERE exchanges.number <= ?2 AND CAST(strftime('%s', exchanges.at) AS INTEGER) < ?1 AND NOT (
    sessions.seen >= ?1 AND (exchanges.number IS sessions.tip OR NOT EXISTS (
        SELECT 1 FROM exchanges AS later
        WHERE later.session = exchanges.session AND later.number > exchanges.number
    ))
) AND sessions.person IN (SELECT CAST(value AS INTEGER) FROM json_each(?3))
LIMIT 1;

-- retention_protected: messages that something else than an exchange holds: what sessions have been given that were
-- seen since a time, what a person wants whole
SELECT sessions.person, ledger.digest FROM ledger JOIN sessions ON sessions.number = ledger.session
WHERE sessions.seen >= ?
UNION
SELECT people.number, pins.subject FROM pins JOIN people ON people.name = pins.owner;

-- retention_trails: messages that research is told with
SELECT people.number AS person, research.trail FROM research JOIN people ON people.name = research.person;

-- retention_messages: every message but what stands for a forgotten one
SELECT number, person, digest FROM messages WHERE NOT forgotten;

-- retention_since: the exchanges behind a number
SELECT exchanges.number, exchanges.reply, sessions.person FROM exchanges
JOIN sessions ON sessions.number = exchanges.session WHERE exchanges.number > ?;

-- retention_living: whether a session was seen since a time
SELECT number FROM sessions WHERE number = ? AND seen >= ?;

-- retention_stayed: exchanges and whose they are
SELECT exchanges.number, exchanges.reply, sessions.person FROM exchanges
JOIN sessions ON sessions.number = exchanges.session WHERE exchanges.number IN (?*);

-- retention_shown: of exchanges what was shown in them
SELECT number, shown FROM exchanges WHERE number IN (?*) AND shown != '[]';

-- retention_built: what builds on these exchanges
SELECT number FROM exchanges WHERE base IN (?*);

-- retention_whole: an exchange's request stands for itself
UPDATE exchanges SET base = NULL, kept = 0, depth = 0, tail = ? WHERE number = ?;

-- retention_unmention: a memory no longer stands there
DELETE FROM mentions WHERE memory = ? AND place = ? AND number = ?;

-- retention_receipts: the receipts of an exchange go
DELETE FROM receipts WHERE exchange = ?;

-- retention_gone: an exchange goes
DELETE FROM exchanges WHERE number = ?;

-- retention_entries: what a session was given
SELECT number, memories FROM ledger WHERE session = ? AND memories != '[]';

-- retention_ledger: what a session was given goes
DELETE FROM ledger WHERE session = ?;

-- retention_bodies: messages whole, before they go; not what has been pinned or forgotten since they were found
SELECT number, person, digest, role, body FROM messages
WHERE number IN (?*) AND NOT forgotten AND NOT EXISTS (
    SELECT 1 FROM pins JOIN people ON people.name = pins.owner
    WHERE people.number = messages.person AND pins.subject = messages.digest
);

-- retention_message: a message goes
DELETE FROM messages WHERE number = ?;

-- people: all whose messages there are
SELECT number, name FROM people ORDER BY number;

-- unkept_passages: an owner's passages that are too old, restricted where nothing restricted is kept, or of a message
-- that told of people where nothing about people is: that stands with the person as well as with the project
SELECT id FROM passages WHERE owner = :owner AND (
    CAST(strftime('%s', at) AS INTEGER) < :before
    OR (:restricted = 1 AND sensitivity = 'restricted')
    OR (:personal = 1 AND source IN (
        SELECT facts.source FROM facts
        WHERE facts.owner IN (:owner, :person) AND facts.category IN ('person', 'people')
    ))
)
LIMIT :most;

-- unkept_facts: an owner's facts that are too old, of one kind where one is named, or of a sort that is not kept
SELECT id FROM facts WHERE owner = :owner AND (
    (recorded < :before AND (:kind = '' OR kind = :kind))
    OR (:restricted = 1 AND sensitivity = 'restricted')
    OR (:personal = 1 AND category IN ('person', 'people'))
)
LIMIT :most;
