-- session_person: whose session it is
SELECT people.number, people.name FROM sessions JOIN people ON people.number = sessions.person WHERE sessions.id = ?;

-- messages_not_whole: which of these messages cannot be given back word for word
SELECT digest FROM messages INDEXED BY messages_not_whole
WHERE person = ? AND (redacted OR forgotten) AND digest IN (?*);

-- overviews_of: the overviews of some subjects
SELECT subject, part, tokens, line, overview, overview_tokens FROM overviews WHERE owner = ? AND subject IN (?*);

-- messages_without_overviews: which of a session's messages can be given back word for word and have no overview yet
SELECT messages.digest FROM sessions
JOIN people ON people.number = sessions.person
JOIN messages ON messages.person = sessions.person
WHERE sessions.id = ? AND messages.digest IN (?*) AND NOT messages.redacted AND NOT messages.forgotten
    AND NOT EXISTS (SELECT 1 FROM overviews WHERE owner = people.name AND subject = messages.digest);

-- overview_write: keep an overview, or write it anew; nothing of a forgotten message
INSERT INTO overviews (owner, subject, part, tokens, line, overview, overview_tokens)
SELECT :owner, :subject, :part, :tokens, :line, :overview, :overview_tokens
WHERE NOT EXISTS (
    SELECT 1 FROM messages JOIN people ON people.number = messages.person
    WHERE people.name = :owner AND messages.digest = :subject AND messages.forgotten
)
ON CONFLICT (owner, subject, part) DO UPDATE SET
    tokens = excluded.tokens, line = excluded.line, overview = excluded.overview,
    overview_tokens = excluded.overview_tokens;

-- overviews_forget: the overviews of a person's message go
DELETE FROM overviews WHERE owner = (SELECT name FROM people WHERE number = ?) AND subject = ?;

-- message_projects: the projects of a person's sessions in which a message stood, or was the reply
SELECT DISTINCT sessions.project FROM sessions JOIN people ON people.number = sessions.person
WHERE people.name = :person AND (
    EXISTS (SELECT 1 FROM seen WHERE seen.session = sessions.number AND seen.digest = :digest)
    OR EXISTS (SELECT 1 FROM exchanges WHERE exchanges.session = sessions.number AND exchanges.reply = :digest)
);

-- pin_set: a person wants this whole
INSERT INTO pins (owner, subject, part, at) VALUES (?, ?, ?, ?) ON CONFLICT (owner, subject, part) DO NOTHING;

-- pin_drop: and now no longer
DELETE FROM pins WHERE owner = ? AND subject = ? AND part = ?;

-- pins_forget: what is forgotten is not pinned
DELETE FROM pins WHERE owner = (SELECT name FROM people WHERE number = ?) AND subject = ?;

-- pins_of: what a person wants whole
SELECT subject, part FROM pins WHERE owner = ?;

-- messages_named: a person's messages whose digests lie between two
SELECT messages.digest, messages.role, messages.redacted, messages.forgotten, messages.body
FROM people JOIN messages ON messages.person = people.number
WHERE people.name = ? AND messages.digest BETWEEN ? AND ? ORDER BY messages.digest LIMIT ?;

-- usage_of_receipt: what the provider reported for the exchange of a receipt
SELECT exchanges.number, exchanges.session, exchanges.usage
FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange WHERE receipts.id = ?;

-- usage_after: what it reported for the turn of the session that came after one
SELECT usage FROM exchanges
WHERE session = ? AND number > ? AND kind IN ('main', 'sub-agent') ORDER BY number LIMIT 1;

-- usage_newest: what it reported for a session's newest turn, of which model, and where that turn's request ended
SELECT exchanges.usage, exchanges.kept, exchanges.tail, exchanges.model
FROM exchanges JOIN sessions ON sessions.number = exchanges.session
WHERE sessions.id = ? AND exchanges.kind IN ('main', 'sub-agent') AND exchanges.usage != ''
    AND exchanges.number <= coalesce(sessions.tip, exchanges.number)
ORDER BY exchanges.number DESC LIMIT 1;
