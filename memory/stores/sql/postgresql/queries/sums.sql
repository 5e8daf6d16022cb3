-- sums_after: what was done to the turns behind one receipt, up to another (of one person, or with ?2 = 0 of everybody),
-- by the day that it was for the person, by project, by model and by whether the provider read from its cache
SELECT day, project, model, reported, cached > 0 AS warm, count(*) AS requests,
    count(*) FILTER (WHERE degraded) AS degraded,
    sum(added) AS added, sum(shown) AS shown, sum(greatest(saved, 0)) AS shorter, sum(greatest(-saved, 0)) AS longer,
    sum(input) AS input, sum(cached) AS cached, count(*) FILTER (WHERE sheds) AS sheds,
    sum(least(rewritten, greatest(input - cached, 0))) AS anew
FROM (
    SELECT day, project, model, usage IS NOT NULL AS reported,
        coalesce((usage ->> 'input')::bigint, 0) AS input, coalesce((usage ->> 'cached')::bigint, 0) AS cached,
        body ->> 'status' LIKE 'degraded%' AS degraded, json_array_length(body -> 'shown') AS shown,
        coalesce((body ->> 'page_tokens')::bigint, 0) + coalesce((body ->> 'recall_tokens')::bigint, 0) AS added,
        coalesce((body ->> 'saved')::bigint, 0) AS saved, body ->> 'shed' IS NOT NULL AS sheds,
        CASE WHEN (body #>> '{shed,warm}')::boolean THEN (body #>> '{shed,rewritten}')::bigint ELSE 0 END AS rewritten
    FROM (
        SELECT receipts.body::json AS body, exchanges.model, nullif(exchanges.usage, '')::json AS usage,
            substr(exchanges.at, 1, 10) AS day, sessions.project
        FROM receipts
        JOIN exchanges ON exchanges.number = receipts.exchange
        JOIN sessions ON sessions.number = exchanges.session
        WHERE receipts.number > ?1 AND receipts.number <= ?5 AND exchanges.kind IN ('main', 'sub-agent')
            AND (?2 = '0' OR sessions.org IS NOT DISTINCT FROM ?3 AND sessions."user" IS NOT DISTINCT FROM ?4)
    ) AS turns
) AS told
GROUP BY day, project, model, reported, warm;

-- measured: what was done in each session of a person that began since a time while memory was measured; the sessions
-- that one sent count as part of it
SELECT coalesce(sender.id, sessions.id) AS id, max(sessions.held_out) AS held_out, count(*) AS turns,
    sum(coalesce((nullif(turn.usage, '')::json ->> 'input')::bigint, 0)
        + coalesce((nullif(turn.usage, '')::json ->> 'output')::bigint, 0)) AS tokens,
    count(*) FILTER (WHERE turn.usage = '') AS unreported,
    sum(coalesce((receipts.body::json ->> 'page_tokens')::bigint, 0)
        + coalesce((receipts.body::json ->> 'recall_tokens')::bigint, 0)) AS added
FROM sessions
LEFT JOIN sessions AS sender ON sender.key = sessions.parent AND sender.key != ''
JOIN exchanges AS turn ON turn.session = sessions.number
JOIN receipts ON receipts.exchange = turn.number
WHERE sessions.held_out IS NOT NULL AND sessions.started_at >= ?
    AND sessions.org IS NOT DISTINCT FROM ? AND sessions."user" IS NOT DISTINCT FROM ?
    AND turn.kind IN ('main', 'sub-agent')
GROUP BY 1;
