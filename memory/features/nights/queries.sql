-- night_add: a night of an owner
INSERT INTO nights (owner, at, looked, passed_over, thrown) VALUES (:owner, :at, :looked, :passed_over, :thrown);

-- night_passed_over: how many of its changes were left out
UPDATE nights SET passed_over = ? WHERE number = ?;

-- night_drop: a night in which nothing was left to do
DELETE FROM nights WHERE number = ?;

-- night_change_add: what a night did to a fact
INSERT INTO night_changes (night, place, action, why, memory, made, fields) VALUES (?, ?, ?, ?, ?, ?, ?);

-- night_write: the columns of a fact that a night may change
UPDATE facts SET
    origin = :origin, recorded_at = :recorded_at, recorded = :recorded, valid_from = :valid_from,
    confidence = :confidence, importance = :importance, tier = :tier, sensitivity = :sensitivity,
    stability = :stability, state = :state, access = :access, sessions = :sessions, used_at = :used_at,
    valid_until = :valid_until, superseded_at = :superseded_at, supersedes = :supersedes, contradicts = :contradicts,
    derived_from = :derived_from
WHERE id = :id;

-- summary_add: a line of a day
INSERT INTO summaries (night, owner, day, tier, session, text, memory, weight) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (owner, day, tier, memory) DO NOTHING;

-- night_cursor_get: how far the nights of an owner have come
SELECT * FROM night_cursors WHERE owner = ?;

-- night_cursor_set: how far they have come now
INSERT INTO night_cursors (owner, fact, passage, unread, plain, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (owner) DO UPDATE SET
    fact = max(night_cursors.fact, excluded.fact), passage = max(night_cursors.passage, excluded.passage),
    unread = max(night_cursors.unread, excluded.unread), plain = max(night_cursors.plain, excluded.plain),
    at = excluded.at;

-- night_preview_passage: recall shows so much of a passage, of which it showed so much
UPDATE passages SET preview = :to WHERE id = :id AND preview = :from AND owner = :owner;

-- night_preview_fact: recall shows so much of a fact
UPDATE facts SET preview = :to WHERE id = :id AND preview = :from AND owner = :owner;

-- night_plain: recall leaves this out of a passage, out of which it left that
UPDATE passages SET gaps = :to WHERE id = :id AND gaps = :from AND owner = :owner;

-- nights_all: the nights of some owners, the newest first; the limit comes last
SELECT nights.*, (SELECT count(*) FROM summaries WHERE night = nights.number) AS lines,
    (SELECT count(*) FROM night_candidates WHERE night = nights.number) AS candidates
FROM nights WHERE owner IN (?*) ORDER BY number DESC LIMIT ?;

-- nights_counted: how many changes of each kind these nights made
SELECT night, action, count(DISTINCT place) AS changes FROM night_changes WHERE night IN (?*) GROUP BY night, action;

-- night_get: one night
SELECT * FROM nights WHERE number = ?;

-- night_changes_get: what it did, in order
SELECT * FROM night_changes WHERE night = ? ORDER BY number;

-- night_lines: the lines of days that it wrote
SELECT * FROM summaries WHERE night = ? ORDER BY day, tier DESC, number;

-- night_later: a later night that stands and changed one of the memories that a night changed, in the same respect:
-- courtesies are left out of a passage however much of it is shown
SELECT min(later.night) AS night FROM night_changes AS own JOIN night_changes AS later
    ON later.memory = own.memory AND (later.action = 'plain') = (own.action = 'plain')
JOIN nights ON nights.number = later.night
WHERE own.night = :night AND later.night > :night AND nights.undone_at IS NULL;

-- night_undone: a night was taken back
UPDATE nights SET undone_at = ? WHERE number = ?;

-- night_lines_drop: with the lines that it wrote
DELETE FROM summaries WHERE night = ?;

-- night_forget_changes: a memory is forgotten: what nights did to it
DELETE FROM night_changes WHERE memory = ?;

-- night_forget_lines: and the lines that tell of it
DELETE FROM summaries WHERE memory = ?;

-- night_absorbed: the archived facts that some facts stand for
SELECT absorbed.* FROM facts CROSS JOIN json_each(facts.supersedes) AS named
JOIN facts AS absorbed ON absorbed.id = named.value
WHERE facts.id IN (?*) AND absorbed.state = 'archived';

-- night_release: what was archived, since another stood for it, takes part again
UPDATE facts SET state = 'active' WHERE id = ? AND state = 'archived';

-- summaries_between: the lines of days of some owners; the first and the last day come last
SELECT * FROM summaries WHERE owner IN (?*) AND day >= ? AND day <= ? ORDER BY day, tier DESC, number;

-- snapshot_upto: the last rows of both tables
SELECT (SELECT coalesce(max(number), 0) FROM facts) AS fact, (SELECT coalesce(max(number), 0) FROM passages) AS passage;

-- snapshot_new: the active facts of an owner that were learnt after a row, the first ones of them
SELECT id, number FROM facts WHERE number > ? AND owner = ? AND state = 'active' ORDER BY number LIMIT ?;

-- snapshot_since: the active facts of an owner that were learnt since a moment
SELECT id FROM facts WHERE recorded >= ? AND owner = ? AND state = 'active';

-- snapshot_used: the active facts of an owner that were used since a day
SELECT id, used_at FROM facts WHERE owner = ? AND state = 'active' AND used_at >= ?;

-- snapshot_texts: all active facts of an owner behind a row, up to a row
SELECT id, text FROM facts WHERE owner = ? AND state = 'active' AND number > ? AND number <= ? ORDER BY number;

-- snapshot_active: how many active facts of each category an owner has
SELECT category, count(*) AS held FROM facts WHERE owner = ? AND state = 'active' GROUP BY category;

-- snapshot_derived: what lasting knowledge of an owner was drawn from
SELECT derived_from FROM facts INDEXED BY facts_derived WHERE derived_from != '[]' AND owner = ?;

-- snapshot_fading: active facts that may have faded below a floor, the weakest first; not what a person has had back.
-- Nothing fades faster than confidence over the root of the days since it was learnt.
SELECT id FROM facts WHERE owner = :owner AND state = 'active' AND NOT pinned AND recorded < :now - 86400
AND confidence * confidence * 86400 < :floor * :floor * (:now - recorded)
AND NOT EXISTS (
    SELECT 1 FROM night_changes JOIN nights ON nights.number = night_changes.night
    WHERE night_changes.memory = facts.id AND night_changes.action = 'archive' AND nights.undone_at IS NOT NULL
)
ORDER BY confidence * confidence / (:now - recorded), id LIMIT :limit;

-- snapshot_drafts: drafts of an owner that wait since before a moment; not pinned ones, nor what a person has had back
SELECT id FROM facts WHERE owner = :owner AND state = 'draft' AND NOT pinned AND recorded < :until AND NOT EXISTS (
    SELECT 1 FROM night_changes JOIN nights ON nights.number = night_changes.night
    WHERE night_changes.memory = facts.id AND night_changes.action = 'archive' AND nights.undone_at IS NOT NULL
) ORDER BY number LIMIT :limit;

-- snapshot_doubted: whether anything of an owner was read with doubt after a row
SELECT 1 FROM facts WHERE owner = ? AND number > ? AND state = 'draft' LIMIT 1;

-- snapshot_beside: the newest drafts of an owner, and what was said again in other words, which stand for it now
SELECT id, text FROM facts WHERE owner = :owner AND (state = 'draft' OR (state = 'archived' AND id IN (
    SELECT named.value FROM facts AS newer, json_each(newer.supersedes) AS named
    WHERE newer.owner = :owner AND newer.state = 'active' AND newer.supersedes != '[]'
))) ORDER BY number DESC LIMIT :limit;

-- snapshot_said: what was said to an owner's sessions after a row, and since a moment
SELECT * FROM passages WHERE number > ? AND owner = ? AND CAST(strftime('%s', at) AS INTEGER) >= ? ORDER BY number;

-- snapshot_heard: the next passages of an owner behind a row; the limit comes last
SELECT * FROM passages WHERE number > ? AND owner = ? ORDER BY number LIMIT ?;

-- snapshot_old_session: passages of sessions that ended before a moment, of an owner, after a row, never shown
SELECT passages.* FROM passages JOIN sessions ON sessions.id = passages.session
WHERE passages.number > :after AND passages.owner = :owner AND passages.preview = 0 AND length(passages.text) > :long
AND sessions.seen < :until AND NOT EXISTS (SELECT 1 FROM uses WHERE uses.memory = passages.id)
ORDER BY passages.number LIMIT :limit;

-- snapshot_old_upto: the last row before the first of an owner's passages whose session has gone on since a moment
SELECT coalesce(min(passages.number) - 1, (SELECT max(number) FROM passages), 0) AS number
FROM passages JOIN sessions ON sessions.id = passages.session
WHERE passages.number > :after AND passages.owner = :owner AND sessions.seen >= :until;

-- snapshot_old_facts: active facts of an owner, learnt before a moment and never used nor shown
SELECT * FROM facts WHERE owner = :owner AND state = 'active' AND recorded < :until AND preview = 0
AND length(text) > :long AND access = 1 AND used_at IS NULL AND NOT pinned AND tier NOT IN ('long-term', 'shared')
AND origin != 'person' AND NOT EXISTS (SELECT 1 FROM uses WHERE uses.memory = facts.id AND uses.shown > 0)
ORDER BY number LIMIT :limit;

-- snapshot_learned: the active facts of an owner that were learnt between two moments
SELECT * FROM facts WHERE owner = ? AND state = 'active' AND recorded >= ? AND recorded < ? ORDER BY recorded, number;

-- snapshot_elsewhere: what a user's projects hold that may recur in all of them
SELECT id, text FROM facts WHERE owner IN (?*) AND state = 'active' AND layer = 'user-project'
AND origin IN ('person', 'user') AND sensitivity != 'restricted'
AND kind IN ('preference', 'convention', 'correction', 'anti-pattern', 'heuristic', 'pattern') ORDER BY number;

-- snapshot_rules: which of these facts were said, or used, in so many sessions and may be a rule for others
SELECT id FROM facts WHERE state = 'active' AND layer = 'user-project' AND sessions >= ?
AND origin IN ('person', 'user') AND kind IN ('correction', 'convention', 'decision', 'anti-pattern', 'heuristic')
AND id IN (?*) ORDER BY number;

-- snapshot_sayings: the messages in which facts were said, piece by piece, each with the agent's words before it
SELECT facts.id AS fact, own.session, own.turn, own.text, (
    SELECT earlier.text FROM passages AS earlier
    WHERE earlier.session = own.session AND earlier.turn < own.turn AND earlier.speaker = 'assistant'
    AND earlier.owner = own.owner AND earlier.sensitivity = 'normal'
    ORDER BY earlier.turn DESC, earlier.piece LIMIT 1
) AS before
FROM facts JOIN passages AS own ON own.source = facts.source AND own.session = facts.session AND own.owner = facts.owner
WHERE facts.id IN (?*) AND own.sensitivity = 'normal' AND own.speaker = 'user' AND own.origin IN ('person', 'user')
ORDER BY own.number;

-- snapshot_messages: the newest messages of a person of which nothing was learnt in the project, nor anything that was
-- taken back since, piece by piece, each with the agent's words before it
SELECT '' AS fact, own.session, own.turn, own.text, (
    SELECT earlier.text FROM passages AS earlier
    WHERE earlier.session = own.session AND earlier.turn < own.turn AND earlier.speaker = 'assistant'
    AND earlier.owner = own.owner AND earlier.sensitivity = 'normal'
    ORDER BY earlier.turn DESC, earlier.piece LIMIT 1
) AS before
FROM passages AS own INDEXED BY passages_said
WHERE own.owner = :owner AND own.sensitivity = 'normal' AND own.speaker = 'user' AND own.origin IN ('person', 'user')
AND NOT EXISTS (
    SELECT 1 FROM facts INDEXED BY facts_by_source WHERE facts.source = own.source AND facts.session = own.session
    AND (facts.owner = own.owner OR facts.state NOT IN ('active', 'draft', 'archived'))
)
ORDER BY own.number DESC LIMIT :limit;

-- snapshot_said_by: in which sessions facts, or those that they absorbed, were said
WITH told AS (SELECT id, supersedes FROM facts WHERE id IN (?*)),
parts AS (
    SELECT id AS whole, id AS part FROM told
    UNION SELECT told.id, absorbed.id FROM told CROSS JOIN json_each(told.supersedes) AS one
    JOIN facts AS absorbed ON absorbed.id = one.value AND absorbed.state = 'archived'
)
SELECT facts.id, facts.kind, uses.session, sum(uses.said) AS times FROM parts
JOIN facts ON facts.id = parts.whole JOIN uses ON uses.memory = parts.part
WHERE uses.said > 0 GROUP BY facts.id, facts.kind, uses.session ORDER BY facts.id, uses.session;

-- night_candidate_add: what a night did to a candidate
INSERT INTO night_candidates (night, candidate, made, fields) VALUES (?, ?, ?, ?);

-- night_candidates_get: what a night put forward
SELECT night_candidates.made, night_candidates.fields, candidates.* FROM night_candidates
JOIN candidates ON candidates.id = night_candidates.candidate WHERE night = ? ORDER BY candidates.number;

-- night_candidates_drop: a night put nothing forward
DELETE FROM night_candidates WHERE night = ?;
