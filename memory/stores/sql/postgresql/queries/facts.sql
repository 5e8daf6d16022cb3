-- uses_write: memories were shown in sessions, and perhaps used, or said again (JSON: memory, session, shown, used, said),
-- and how often that is by now
INSERT INTO uses (memory, session, shown, used, said)
SELECT told ->> 0, told ->> 1, (told ->> 2)::bigint, (told ->> 3)::bigint, (told ->> 4)::bigint
FROM json_array_elements(?::json) AS each (told)
ON CONFLICT (memory, session) DO UPDATE SET
    shown = uses.shown + excluded.shown, used = uses.used + excluded.used, said = uses.said + excluded.said
RETURNING uses.memory, uses.session, uses.shown, uses.used, uses.said;

-- uses_begin: whoever made a memory is its first user (JSON: memory, session)
INSERT INTO uses (memory, session, shown, used, said)
SELECT told ->> 0, told ->> 1, 0, 1, 1 FROM json_array_elements(?::json) AS each (told)
ON CONFLICT (memory, session) DO NOTHING;

-- passages_near: the passages of sessions between two turns (JSON: session, first, last), place for place, in order
SELECT passages.* FROM json_array_elements(?::json) WITH ORDINALITY AS each (asked, place)
JOIN passages ON passages.session = asked ->> 0
AND passages.turn BETWEEN (asked ->> 1)::bigint AND (asked ->> 2)::bigint
ORDER BY place, passages.turn, passages.piece, passages.number;

-- forget_links: facts that name one of these as what they follow or contradict
SELECT DISTINCT facts.id, facts.supersedes, facts.contradicts FROM facts, LATERAL (
    SELECT value FROM json_each(facts.supersedes) UNION ALL SELECT value FROM json_each(facts.contradicts)
) AS named
WHERE (facts.supersedes != '[]' OR facts.contradicts != '[]') AND named.value IN (?*);
