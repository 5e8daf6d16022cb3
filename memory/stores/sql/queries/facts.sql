-- fact_write: insert a fact, or write it anew
INSERT INTO facts (
    id, text, owner, kind, category, stream, layer, origin, session, source, recorded_at, recorded, valid_from,
    confidence, importance, surprise, tier, sensitivity, stability, state, access, sessions, used_at, valid_until,
    superseded_at, supersedes, contradicts, derived_from, expires_at, pinned, wrong, entities,
    device, preview, core
) VALUES (
    :id, :text, :owner, :kind, :category, :stream, :layer, :origin, :session, :source, :recorded_at, :recorded,
    :valid_from, :confidence, :importance, :surprise, :tier, :sensitivity, :stability, :state, :access, :sessions,
    :used_at, :valid_until, :superseded_at, :supersedes, :contradicts, :derived_from, :expires_at, :pinned, :wrong,
    :entities, :device, :preview, :core
)
ON CONFLICT (id) DO UPDATE SET
    text = excluded.text, owner = excluded.owner, kind = excluded.kind, category = excluded.category,
    stream = excluded.stream, layer = excluded.layer, origin = excluded.origin, session = excluded.session,
    source = excluded.source, recorded_at = excluded.recorded_at, recorded = excluded.recorded,
    valid_from = excluded.valid_from, confidence = excluded.confidence, importance = excluded.importance,
    surprise = excluded.surprise, tier = excluded.tier, sensitivity = excluded.sensitivity,
    stability = excluded.stability, state = excluded.state, access = excluded.access, sessions = excluded.sessions,
    used_at = excluded.used_at, valid_until = excluded.valid_until, superseded_at = excluded.superseded_at,
    supersedes = excluded.supersedes, contradicts = excluded.contradicts, derived_from = excluded.derived_from,
    expires_at = excluded.expires_at, pinned = excluded.pinned, wrong = excluded.wrong, entities = excluded.entities,
    device = excluded.device, preview = excluded.preview, core = excluded.core;

-- facts_get: facts by id
SELECT * FROM facts WHERE id IN (?*);

-- facts_put_away: an owner's archived facts that were seen once and are less sure than this, but for what a night has
-- archived; the newest first, the limit comes last
SELECT * FROM facts WHERE owner = ? AND state = 'archived' AND access = 1 AND confidence < ? AND NOT EXISTS (
    SELECT 1 FROM night_changes JOIN nights ON nights.number = night_changes.night
    WHERE night_changes.memory = facts.id AND nights.undone_at IS NULL
) ORDER BY recorded DESC LIMIT ?;

-- facts_of: the active facts of some owners, the newest first; the limit comes last
SELECT * FROM facts WHERE owner IN (?*) AND state = 'active' ORDER BY recorded DESC, number DESC LIMIT ?;

-- facts_for_page: active facts that may stand on a page, the surest and weightiest first; the limit comes last. What
-- was learnt on a branch is none for the project's page before that is merged; an observation stands there only beside
-- what it contradicts
SELECT * FROM facts WHERE number IN (
    SELECT number FROM facts WHERE owner IN (?*) AND state = 'active' AND (
        pinned OR tier = 'shared' OR stability = 'stable' OR (origin IN ('person', 'user') AND (kind != 'observation' OR contradicts != '[]'))
    ) AND NOT EXISTS (
        SELECT 1 FROM checkouts LEFT JOIN branches
        ON branches.repository = checkouts.repository AND branches.name = checkouts.branch
        WHERE checkouts.memory = facts.id AND staged AND coalesce(branches.stage, 'open') != 'merged'
    ) ORDER BY pinned DESC, sessions > 1 DESC, confidence * (0.5 + importance) DESC, number DESC LIMIT ?
);

-- facts_holding: the newest facts of an owner whose text, or what it says does not hold, has what is looked for in it
SELECT number, recorded FROM facts INDEXED BY facts_texts
WHERE owner = ? AND (text LIKE ? ESCAPE '\' OR (wrong != '' AND wrong LIKE ? ESCAPE '\'))
ORDER BY recorded DESC, number DESC LIMIT ?;

-- facts_beginning: the newest facts of some owners whose id begins with what is looked for
SELECT number, recorded FROM facts WHERE +owner IN (?*) AND id BETWEEN ? AND ?
ORDER BY recorded DESC, number DESC LIMIT ?;

-- facts_numbered: facts by their numbers, the newest first
SELECT * FROM facts WHERE number IN (?*) ORDER BY recorded DESC, number DESC;

-- fact_pin: pin a fact or let go of it
UPDATE facts SET pinned = ? WHERE id = ?;

-- facts_used: count one use of each of these (JSON); the last one stays the last, in whatever order they are told
UPDATE facts SET
    access = access + 1,
    preview = 0,
    used_at = CASE WHEN used_at IS NULL OR julianday(used_at) < julianday(:at) THEN :at ELSE used_at END
WHERE id IN (SELECT value FROM json_each(:ids));

-- passages_used: what was used (JSON) is shown whole again
UPDATE passages SET preview = 0 WHERE id IN (SELECT value FROM json_each(?)) AND preview > 0;

-- facts_shown: count one access of each of these (JSON) that was shown in so many more sessions without being used
UPDATE facts SET access = access + 1 WHERE id IN (SELECT value FROM json_each(:ids)) AND (
    SELECT count(*) FROM uses WHERE memory = facts.id AND shown > 0 AND used = 0
) % :sessions = 0;

-- facts_borne_out: somebody has said these (JSON) again in another session
UPDATE facts SET stability = CASE stability WHEN 'draft' THEN 'verified' ELSE 'stable' END
WHERE id IN (SELECT value FROM json_each(?));

-- facts_used_elsewhere: count one more session of each of these (JSON)
UPDATE facts SET sessions = sessions + 1 WHERE id IN (SELECT value FROM json_each(?));

-- uses_write: memories were shown in sessions, and perhaps used, or said again (JSON: memory, session, shown, used, said),
-- and how often that is by now
INSERT INTO uses (memory, session, shown, used, said)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) WHERE true
ON CONFLICT (memory, session) DO UPDATE SET
    shown = shown + excluded.shown, used = used + excluded.used, said = said + excluded.said
RETURNING memory, session, shown, used, said;

-- uses_begin: whoever made a memory is its first user (JSON: memory, session)
INSERT INTO uses (memory, session, shown, used, said)
SELECT value ->> 0, value ->> 1, 0, 1, 1 FROM json_each(?) WHERE true ON CONFLICT (memory, session) DO NOTHING;

-- passage_write: insert a passage, or write it anew
INSERT INTO passages (
    id, text, owner, origin, speaker, session, source, at, turn, piece, question, sensitivity, preview,
    gaps
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    text = excluded.text, owner = excluded.owner, origin = excluded.origin, speaker = excluded.speaker,
    session = excluded.session, source = excluded.source, at = excluded.at, turn = excluded.turn,
    piece = excluded.piece, question = excluded.question, sensitivity = excluded.sensitivity, preview = excluded.preview,
    gaps = excluded.gaps;

-- passages_get: passages by id
SELECT * FROM passages WHERE id IN (?*);

-- passages_find: passages of some owners that hold a text, the newest first; the limit comes last
SELECT * FROM passages WHERE owner IN (?*) AND text LIKE ? ESCAPE '\' ORDER BY number DESC LIMIT ?;

-- facts_between: the active facts of some owners that were learnt between two moments; the limit comes last
SELECT * FROM facts WHERE owner IN (?*) AND state = 'active' AND recorded >= ? AND recorded < ?
ORDER BY recorded, number LIMIT ?;

-- passages_between: what was said between two moments; the days around them, as text, come first, the limit last
SELECT * FROM passages WHERE owner IN (?*) AND at >= ? AND at < ?
AND julianday(at) >= julianday(?) AND julianday(at) < julianday(?) ORDER BY julianday(at), session, turn, piece LIMIT ?;

-- ids_between: the ids of memories from one text to another, with their owners
SELECT id, owner FROM facts WHERE id BETWEEN ? AND ?
UNION ALL
SELECT id, owner FROM passages WHERE id BETWEEN ? AND ?;

-- passages_taught: which of these messages an owner has passages of
SELECT DISTINCT source FROM passages WHERE owner = ? AND source IN (?*);

-- passages_near: the passages of sessions between two turns (JSON: session, first, last), place for place, in order
SELECT passages.* FROM json_each(?) AS asked CROSS JOIN passages
ON passages.session = asked.value ->> 0 AND passages.turn BETWEEN asked.value ->> 1 AND asked.value ->> 2
ORDER BY asked.key, passages.turn, passages.piece, passages.number;

-- texts_add: an owner has so many more indexed texts
INSERT INTO owners (name, texts) VALUES (:owner, max(0, CAST(:texts AS BIGINT)))
ON CONFLICT (name) DO UPDATE SET texts = max(0, owners.texts + CAST(:texts AS BIGINT));

-- terms_add: terms stand in so many more texts of an owner (JSON: term, texts; the owner comes last)
INSERT INTO terms (owner, term, texts)
SELECT owners.number, told.value ->> 0, told.value ->> 1 FROM json_each(?) AS told CROSS JOIN owners
WHERE owners.name = ?
ON CONFLICT (owner, term) DO UPDATE SET texts = texts + excluded.texts;

-- terms_drop: terms that stand in no text any more
DELETE FROM terms WHERE texts <= 0 AND owner = (SELECT number FROM owners WHERE name = ?);

-- texts_of: how many indexed texts some owners have
SELECT coalesce(sum(texts), 0) AS texts FROM owners WHERE name IN (?*);

-- texts_below: how many indexed texts an owner has, or those have whose name lies between two texts
SELECT coalesce(sum(texts), 0) AS texts FROM owners WHERE name = ?1 OR (name >= ?2 AND name < ?3);

-- rarity: in how many texts of some owners (JSON) each of some terms (JSON) stands, and, under no term, of how many
SELECT terms.term, sum(terms.texts) AS texts FROM owners
CROSS JOIN json_each(:terms) AS asked
CROSS JOIN terms ON terms.owner = owners.number AND terms.term = asked.value
WHERE owners.name IN (SELECT value FROM json_each(:owners)) GROUP BY terms.term
UNION ALL
SELECT NULL, coalesce(sum(texts), 0) FROM owners WHERE name IN (SELECT value FROM json_each(:owners));

-- owners_memories: how many texts are indexed of each owner that has any; the shelves of research and of what is in
-- quarantine are none
SELECT name, texts FROM owners WHERE texts > 0 AND name NOT GLOB 'research/*' AND name NOT GLOB 'trail/*'
AND name NOT GLOB 'quarantine/*' ORDER BY name;

-- owners_all: every owner that has, or had, indexed texts, or to whom something was put forward; the shelves of research
-- are none
SELECT name FROM owners WHERE name NOT GLOB 'research/*' AND name NOT GLOB 'trail/*' AND name NOT GLOB 'quarantine/*'
UNION SELECT owner AS name FROM candidates WHERE owner NOT GLOB 'quarantine/*' ORDER BY name;
