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

-- sums_before: the newest receipt of a request that came before a time
SELECT receipts.number FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
WHERE exchanges.at < ? ORDER BY receipts.number DESC LIMIT 1;

-- sums_after: what was done to the turns behind a receipt, by model and by whether the provider read from its cache
SELECT model, reported, cached > 0 AS warm, count(*) AS requests, sum(degraded) AS degraded, sum(added) AS added,
    sum(shown) AS shown, sum(max(saved, 0)) AS shorter, sum(max(-saved, 0)) AS longer, sum(input) AS input,
    sum(cached) AS cached, sum(sheds) AS sheds, sum(min(rewritten, max(input - cached, 0))) AS anew
FROM (
    SELECT exchanges.model, usage IS NOT NULL AS reported,
        coalesce(usage ->> '$.input', 0) AS input, coalesce(usage ->> '$.cached', 0) AS cached,
        body ->> '$.status' LIKE 'degraded%' AS degraded, json_array_length(body, '$.shown') AS shown,
        coalesce(body ->> '$.page_tokens', 0) + coalesce(body ->> '$.recall_tokens', 0) AS added,
        coalesce(body ->> '$.saved', 0) AS saved, body ->> '$.shed' IS NOT NULL AS sheds,
        CASE WHEN body ->> '$.shed.warm' THEN body ->> '$.shed.rewritten' ELSE 0 END AS rewritten
    FROM (
        SELECT receipts.body, exchanges.model, nullif(exchanges.usage, '') AS usage
        FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
        WHERE receipts.number > ? AND exchanges.kind IN ('main', 'sub-agent')
    ) AS exchanges
)
GROUP BY model, reported, warm;
