-- forget_derived: facts that were derived from one of these
SELECT DISTINCT facts.id FROM facts INDEXED BY facts_derived, json_each(facts.derived_from) AS source
WHERE facts.derived_from != '[]' AND source.value IN (?*);

-- forget_derived_links: facts that say they were drawn from one of these
SELECT DISTINCT facts.id, facts.derived_from FROM facts INDEXED BY facts_derived, json_each(facts.derived_from) AS source
WHERE facts.derived_from != '[]' AND source.value IN (?*);

-- forget_derived_link: rewrite what a fact was drawn from
UPDATE facts SET derived_from = ? WHERE id = ?;

-- forget_persons_message: whose message a memory came from
SELECT sessions.person FROM sessions WHERE sessions.id = ?;

-- forget_facts_of_message: the facts that a message of a person's taught
SELECT facts.* FROM facts JOIN sessions ON sessions.id = facts.session
WHERE facts.source = ? AND sessions.person = ?;

-- forget_passages_of_message: the passages of a message of a person's
SELECT passages.* FROM passages JOIN sessions ON sessions.id = passages.session
WHERE passages.source = ? AND sessions.person = ?;

-- forget_message: put a placeholder in a message's place, also where it may still come
INSERT INTO messages (body, person, digest, role, forgotten) VALUES (?, ?, ?, 'other', true)
ON CONFLICT (person, digest) DO UPDATE SET body = excluded.body, forgotten = true WHERE NOT messages.forgotten;

-- forget_fact: delete a fact
DELETE FROM facts WHERE id = ?;

-- forget_passage: delete a passage
DELETE FROM passages WHERE id = ?;

-- forget_uses: delete who used a memory
DELETE FROM uses WHERE memory = ?;

-- forget_links: facts that name one of these as what they follow or contradict
SELECT DISTINCT facts.id, facts.supersedes, facts.contradicts FROM facts INDEXED BY facts_following,
    json_each(json_array(json(facts.supersedes), json(facts.contradicts))) AS side, json_each(side.value) AS named
WHERE (facts.supersedes != '[]' OR facts.contradicts != '[]') AND named.value IN (?*);

-- forget_link: rewrite what a fact follows and contradicts
UPDATE facts SET supersedes = ?, contradicts = ? WHERE id = ?;

-- forget_entries: ledger entries that hold one of these
SELECT DISTINCT ledger.number, ledger.act, ledger.text, ledger.memories, sessions.id AS session
FROM mentions JOIN ledger ON ledger.number = mentions.number JOIN sessions ON sessions.number = ledger.session
WHERE mentions.place = 'ledger' AND mentions.memory IN (?*);

-- forget_shown: exchanges in which one of these was shown, with their receipts
SELECT DISTINCT exchanges.number, exchanges.shown, receipts.number AS receipt, receipts.body
FROM mentions JOIN exchanges ON exchanges.number = mentions.number
LEFT JOIN receipts ON receipts.exchange = exchanges.number
WHERE mentions.place = 'exchange' AND mentions.memory IN (?*);

-- forget_shown_in: rewrite what was shown in an exchange
UPDATE exchanges SET shown = ? WHERE number = ?;

-- forget_receipt: rewrite a receipt
UPDATE receipts SET body = ? WHERE number = ?;

-- forget_mentions: a memory stands nowhere any more
DELETE FROM mentions WHERE memory = ?;

-- forget_sessions: the sessions of a person in which one of these messages stood
SELECT DISTINCT sessions.number, sessions.id FROM sessions JOIN seen ON seen.session = sessions.number
WHERE sessions.person = ? AND seen.digest IN (?*);

-- forget_in_entry: rewrite a ledger entry, or empty it; the decision itself stays
UPDATE ledger SET text = ?, memories = ? WHERE number = ?;

-- forget_sheds: the receipts of a session that tell what was shed
SELECT receipts.number, receipts.body FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
WHERE exchanges.session = ? AND json_extract(receipts.body, '$.shed') IS NOT NULL;

-- forget_parts: leave of a message only what does not go, also where it may still come
INSERT INTO messages (body, person, digest, role, redacted) VALUES (?, ?, ?, ?, true)
ON CONFLICT (person, digest) DO UPDATE SET body = excluded.body, redacted = true WHERE NOT messages.forgotten;

-- messages_newest: the number of the newest message
SELECT coalesce(max(number), 0) FROM messages;

-- messages_behind: a person's messages behind one, but for those that are forgotten
SELECT digest, role, body FROM messages WHERE person = ? AND number > ? AND NOT forgotten;

-- overviews_told: all overviews of a person's messages
SELECT number, line, overview FROM overviews WHERE owner = (SELECT name FROM people WHERE number = ?);

-- overview_rewrite: take lines out of an overview
UPDATE overviews SET line = ?, overview = ? WHERE number = ?;

-- ledgers_of: the decisions of all sessions of a person, with the id of their session
SELECT ledger.*, sessions.id FROM ledger JOIN sessions ON sessions.number = ledger.session
WHERE sessions.person = ? AND ledger.text != '';
