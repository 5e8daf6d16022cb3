-- terms_add: terms stand in so many more texts of an owner (JSON: term, texts; the owner comes last)
INSERT INTO terms (owner, term, texts)
SELECT owners.number, (told ->> 0)::bigint, (told ->> 1)::bigint
FROM json_array_elements(?::json) AS each (told) CROSS JOIN owners WHERE owners.name = ?
ORDER BY 1, 2
ON CONFLICT (owner, term) DO UPDATE SET texts = terms.texts + excluded.texts;

-- rarity: in how many texts of some owners (JSON) each of some terms (JSON) stands, and, under no term, of how many
SELECT terms.term, sum(terms.texts) AS texts FROM owners
JOIN terms ON terms.owner = owners.number AND terms.term IN (SELECT value::bigint FROM json_each(:terms))
WHERE owners.name IN (SELECT value FROM json_each(:owners)) GROUP BY terms.term
UNION ALL
SELECT NULL, coalesce(sum(texts), 0) FROM owners WHERE name IN (SELECT value FROM json_each(:owners));
