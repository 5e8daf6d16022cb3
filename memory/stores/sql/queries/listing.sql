-- facts_listed: facts of some owners, the newest first, by their states, kinds and origins (JSON lists), learnt since a
-- time; the limit and how many are passed over come last
SELECT * FROM facts WHERE owner IN (?*)
AND state IN (SELECT value FROM json_each(?)) AND kind IN (SELECT value FROM json_each(?))
AND origin IN (SELECT value FROM json_each(?)) AND recorded >= ?
ORDER BY recorded DESC, number DESC LIMIT ? OFFSET ?;

-- facts_unsettled: the active facts of some owners that contradict another one, the newest first; the limit comes last
SELECT * FROM facts INDEXED BY facts_following WHERE (supersedes != '[]' OR contradicts != '[]')
AND contradicts != '[]' AND owner IN (?*) AND state = 'active'
ORDER BY recorded DESC, number DESC LIMIT ?;

-- facts_drafts_waiting: how many drafts of some owners wait, without those of some ids (a JSON list)
SELECT count(*) AS drafts FROM facts WHERE owner IN (?*) AND state = 'draft'
AND id NOT IN (SELECT value FROM json_each(?));

-- receipts_showing: the receipts of one person's requests to which a memory was added, the newest first
SELECT receipts.body FROM mentions JOIN receipts ON receipts.exchange = mentions.number
JOIN exchanges ON exchanges.number = mentions.number JOIN sessions ON sessions.number = exchanges.session
WHERE mentions.place = 'exchange' AND mentions.memory = ? AND sessions.org IS ? AND sessions.user IS ?
ORDER BY receipts.number DESC LIMIT ?;

-- receipts_of_session: the newest receipts of a session of one person's
SELECT receipts.body FROM sessions JOIN exchanges ON exchanges.session = sessions.number
JOIN receipts ON receipts.exchange = exchanges.number
WHERE sessions.id = ? AND sessions.org IS ? AND sessions.user IS ?
ORDER BY exchanges.number DESC LIMIT ?;

-- sessions_get: sessions by id
SELECT * FROM sessions WHERE id IN (?*);

-- pages_showing: of how many of one person's sessions the page began with a memory
SELECT count(DISTINCT ledger.session) AS sessions FROM mentions JOIN ledger ON ledger.number = mentions.number
JOIN sessions ON sessions.number = ledger.session
WHERE mentions.place = 'ledger' AND mentions.memory = ? AND (ledger.reason = 'page' OR ledger.reason LIKE 'page %')
AND sessions.org IS ? AND sessions.user IS ?;
