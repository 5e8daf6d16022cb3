-- exchange_write: append an exchange, once
INSERT INTO exchanges (
    id, session, kind, at, dialect, model, status, base, kept, depth, tail, fresh, reply, complete, stop, usage, shown,
    tools
) VALUES (
    :id, :session, :kind, :at, :dialect, :model, :status, :base, :kept, :depth, :tail, :fresh, :reply, :complete,
    :stop, :usage, :shown, :tools
)
ON CONFLICT (id) DO NOTHING
RETURNING number;

-- seen_write: a message has stood so often in one request
INSERT INTO seen (session, digest, times) VALUES (?, ?, ?)
ON CONFLICT (session, digest) DO UPDATE SET times = greatest(seen.times, excluded.times);

-- retention_exchanges: every exchange, and whether it is older than a time (seconds since 1970)
SELECT number, session, base, tail, reply, floor(seconds(at)) < ? AS old FROM exchanges ORDER BY number;

-- retention_any: whether an exchange is to go: one that is older than a time (first), which all works have read (up to
-- the second), of people (JSON numbers), but for those at which a session stands that was seen since
SELECT exchanges.number FROM exchanges JOIN sessions ON sessions.number = exchanges.session
WHERE exchanges.number <= ?2 AND floor(seconds(exchanges.at)) < ?1 AND NOT (
    sessions.seen >= ?1 AND (exchanges.number IS NOT DISTINCT FROM sessions.tip OR NOT EXISTS (
        SELECT 1 FROM exchanges AS later
        WHERE later.session = exchanges.session AND later.number > exchanges.number
    ))
) AND sessions.person IN (SELECT CAST(value AS bigint) FROM json_each(?3))
LIMIT 1;

-- unkept_passages: an owner's passages that are too old, restricted where nothing restricted is kept, or of a message
-- that told of people where nothing about people is: that stands with the person as well as with the project
SELECT id FROM passages WHERE owner = :owner AND (
    floor(seconds(at)) < :before
    OR (:restricted = 1 AND sensitivity = 'restricted')
    OR (:personal = 1 AND source IN (
        SELECT facts.source FROM facts
        WHERE facts.owner IN (:owner, :person) AND facts.category IN ('person', 'people')
    ))
)
LIMIT :most;

-- forget_message: put a placeholder in a message's place, also where it may still come
INSERT INTO messages (body, person, digest, role, forgotten) VALUES (?, ?, ?, 'other', true)
ON CONFLICT (person, digest) DO UPDATE SET body = excluded.body, forgotten = true WHERE NOT messages.forgotten;

-- forget_parts: leave of a message only what does not go, also where it may still come
INSERT INTO messages (body, person, digest, role, redacted) VALUES (?, ?, ?, ?, true)
ON CONFLICT (person, digest) DO UPDATE SET body = excluded.body, redacted = true WHERE NOT messages.forgotten;

-- messages_behind: a person's messages behind one, but for those that are forgotten
SELECT digest, role, body FROM messages WHERE person = ? AND number > ? AND NOT forgotten;

-- forget_sheds: the receipts of a session that tell what was shed
SELECT receipts.number, receipts.body FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
WHERE exchanges.session = ? AND receipts.body::json ->> 'shed' IS NOT NULL;
