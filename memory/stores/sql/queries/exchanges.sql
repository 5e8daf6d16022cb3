-- message_write: store a message, once for each person
INSERT INTO messages (person, digest, role, redacted, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (person, digest) DO NOTHING;

-- messages_known: which of these messages are stored for a person
SELECT digest FROM messages WHERE person = ? AND digest IN (?*);

-- messages_get: stored messages of a person
SELECT digest, role, redacted, forgotten, body FROM messages WHERE person = ? AND digest IN (?*);

-- exchange_exists: whether an exchange was committed already
SELECT number FROM exchanges WHERE id = ?;

-- exchange_write: append an exchange, once
INSERT INTO exchanges (
    id, session, kind, at, dialect, model, status, base, kept, depth, tail, fresh, reply, complete, stop, usage, shown,
    tools
) VALUES (
    :id, :session, :kind, :at, :dialect, :model, :status, :base, :kept, :depth, :tail, :fresh, :reply, :complete,
    :stop, :usage, :shown, :tools
)
ON CONFLICT (id) DO NOTHING;

-- exchanges_newest: the last exchanges of a session
SELECT number, depth FROM exchanges WHERE session = ? ORDER BY number DESC LIMIT ?;

-- exchange_links: an exchange and what it builds on, the newest first
WITH RECURSIVE chain (number, base, kept, tail) AS (
    SELECT number, base, kept, tail FROM exchanges WHERE number = ?
    UNION ALL
    SELECT exchanges.number, exchanges.base, exchanges.kept, exchanges.tail
    FROM exchanges JOIN chain ON exchanges.number = chain.base
)
SELECT kept, tail FROM chain;

-- exchanges_behind: the oldest exchanges behind the cursor of a work
SELECT * FROM exchanges
WHERE number > coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = ?), 0)
ORDER BY number LIMIT ?;

-- replies_recent: the newest replies of a person's sessions, of so many exchanges
SELECT exchanges.at AS replied_at, exchanges.reply AS replied, sessions.*
FROM exchanges
JOIN sessions ON sessions.number = exchanges.session
JOIN people ON people.number = sessions.person
WHERE exchanges.number > (SELECT coalesce(max(number), 0) FROM exchanges) - ? AND people.name = ?
    AND exchanges.reply IS NOT NULL AND exchanges.complete
ORDER BY exchanges.number DESC LIMIT ?;

-- seen_find: how often these messages have stood in a session
SELECT digest, times FROM seen WHERE session = ? AND digest IN (?*);

-- seen_write: a message has stood so often in one request
INSERT INTO seen (session, digest, times) VALUES (?, ?, ?)
ON CONFLICT (session, digest) DO UPDATE SET times = max(seen.times, excluded.times);

-- receipt_write: keep what was done to a request
INSERT INTO receipts (id, exchange, body) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET exchange = excluded.exchange, body = excluded.body;

-- mentions_write: these memories (a JSON list of ids) stand here
INSERT INTO mentions (memory, place, number) SELECT value, ?, ? FROM json_each(?) WHERE true
ON CONFLICT (memory, place, number) DO NOTHING;

-- receipt_find: receipts whose id lies between a prefix and its end
SELECT id, body FROM receipts WHERE id >= ? AND id < ? ORDER BY id LIMIT 2;

-- receipts_newest: the newest receipts
SELECT body FROM receipts ORDER BY number DESC LIMIT ?;

-- receipt_of: receipts of one person's requests, as receipt_find
SELECT receipts.id, receipts.body FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
JOIN sessions ON sessions.number = exchanges.session
WHERE receipts.id >= ? AND receipts.id < ? AND sessions.org IS ? AND sessions.user IS ? ORDER BY receipts.id LIMIT 2;

-- receipts_of: the newest receipts of one person's requests
SELECT receipts.body FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
JOIN sessions ON sessions.number = exchanges.session
WHERE sessions.org IS ? AND sessions.user IS ? ORDER BY receipts.number DESC LIMIT ?;

-- exchange_newest: the number of the newest exchange
SELECT coalesce(max(number), 0) FROM exchanges;
