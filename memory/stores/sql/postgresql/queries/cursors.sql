-- cursor_set: move the cursor of a work, never back
INSERT INTO meta (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
WHERE named_number(excluded.name) < convert_from(excluded.value, 'UTF8')::bigint;
