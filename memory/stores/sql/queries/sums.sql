-- sums_before: the newest receipt of a request that came before a time
SELECT receipts.number FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
WHERE exchanges.at < ? ORDER BY receipts.number DESC LIMIT 1;

-- sums_after: what was done to the turns behind one receipt, up to another (of one person, or with ?2 = 0 of everybody), by the day that
-- it was for the person, by project, by model and by whether the provider read from its cache
SELECT day, project, model, reported, cached > 0 AS warm, count(*) AS requests, sum(degraded) AS degraded,
    sum(added) AS added, sum(shown) AS shown, sum(max(saved, 0)) AS shorter, sum(max(-saved, 0)) AS longer,
    sum(input) AS input, sum(cached) AS cached, sum(sheds) AS sheds,
    sum(min(rewritten, max(input - cached, 0))) AS anew
FROM (
    SELECT day, project, exchanges.model, usage IS NOT NULL AS reported,
        coalesce(usage ->> '$.input', 0) AS input, coalesce(usage ->> '$.cached', 0) AS cached,
        body ->> '$.status' LIKE 'degraded%' AS degraded, json_array_length(body, '$.shown') AS shown,
        coalesce(body ->> '$.page_tokens', 0) + coalesce(body ->> '$.recall_tokens', 0) AS added,
        coalesce(body ->> '$.saved', 0) AS saved, body ->> '$.shed' IS NOT NULL AS sheds,
        CASE WHEN body ->> '$.shed.warm' THEN body ->> '$.shed.rewritten' ELSE 0 END AS rewritten
    FROM (
        SELECT receipts.body, exchanges.model, nullif(exchanges.usage, '') AS usage, substr(exchanges.at, 1, 10) AS day,
            sessions.project
        FROM receipts
        JOIN exchanges ON exchanges.number = receipts.exchange
        JOIN sessions ON sessions.number = exchanges.session
        WHERE receipts.number > ?1 AND receipts.number <= ?5 AND exchanges.kind IN ('main', 'sub-agent')
            AND (NOT ?2 OR sessions.org IS ?3 AND sessions.user IS ?4)
    ) AS exchanges
)
GROUP BY day, project, model, reported, warm;

-- measured: what was done in each session of a person that began since a time while memory was measured; the sessions
-- that one sent count as part of it
SELECT coalesce(sender.id, sessions.id) AS id, max(sessions.held_out) AS held_out, count(*) AS turns,
    sum(coalesce(nullif(turn.usage, '') ->> '$.input', 0) + coalesce(nullif(turn.usage, '') ->> '$.output', 0)) AS tokens,
    sum(turn.usage = '') AS unreported,
    sum(coalesce(receipts.body ->> '$.page_tokens', 0) + coalesce(receipts.body ->> '$.recall_tokens', 0)) AS added
FROM sessions
LEFT JOIN sessions AS sender ON sender.key = sessions.parent AND sender.key != ''
JOIN exchanges AS turn ON turn.session = sessions.number
JOIN receipts ON receipts.exchange = turn.number
WHERE sessions.held_out IS NOT NULL AND sessions.started_at >= ? AND sessions.org IS ? AND sessions.user IS ?
    AND turn.kind IN ('main', 'sub-agent')
GROUP BY 1;

-- measured_corrections: how often a person corrected the agent in some sessions
SELECT session, count(*) AS number FROM facts
WHERE session IN (SELECT value FROM json_each(?)) AND kind = 'correction' AND origin = 'user' GROUP BY session;

-- measured_repeats: how often a person said again in some sessions what memory knew
SELECT session, sum(said) AS number FROM uses
WHERE session IN (SELECT value FROM json_each(?)) AND said > 0 GROUP BY session;

-- pages_given: the pages with which the sessions of one person's project began, the newest first
SELECT ledger.text, sessions.started_at AS at FROM sessions
JOIN ledger ON ledger.session = sessions.number AND ledger.reason = 'page'
WHERE sessions.org IS ? AND sessions.user IS ? AND sessions.project = ? AND ledger.text != ''
ORDER BY sessions.number DESC, ledger.number DESC LIMIT ?;

-- receipts_last: the row of the newest receipt
SELECT max(number) FROM receipts;

-- receipts_between: how many receipts there are behind one, up to another
SELECT count(*) FROM receipts WHERE number > ? AND number <= ?;
