-- candidate_add: put something forward
INSERT INTO candidates (
    id, owner, kind, mark, layer, title, text, what, sources, sessions, state, made_at, decided_at, reason,
    sources_then, sessions_then, fact, decided_by
) VALUES (
    :id, :owner, :kind, :mark, :layer, :title, :text, :what, :sources, :sessions, :state, :made_at, :decided_at,
    :reason, :sources_then, :sessions_then, :fact, :decided_by
);

-- candidate_evidence_add: a fact that bears it out, if there is such a fact
INSERT INTO candidate_evidence (candidate, memory) SELECT ?, id FROM facts WHERE id = ? ON CONFLICT DO NOTHING;

-- candidate_grown: there is more for a candidate, or it waits again. What was submitted stays in the words in which it
-- was; what maintainers have rejected waits for its person, who may submit it again
UPDATE candidates SET
    mark = :mark, what = :what, sources = :sources, sessions = :sessions, state = :state,
    title = CASE WHEN submitted_to != '' AND state != 'rejected' THEN title ELSE :title END,
    text = CASE WHEN submitted_to != '' AND state != 'rejected' THEN text ELSE :text END,
    submitted_by = CASE WHEN state = 'rejected' THEN '' ELSE submitted_by END,
    submitted_at = CASE WHEN state = 'rejected' THEN NULL ELSE submitted_at END,
    submitted_to = CASE WHEN state = 'rejected' THEN '' ELSE submitted_to END
WHERE id = :id;

-- candidate_submit: an organisation's maintainers are asked to approve it
UPDATE candidates SET
    state = 'waiting', title = :title, text = :text, layer = :layer, submitted_to = :submitted_to,
    submitted_by = :submitted_by, submitted_at = :submitted_at
WHERE id = :id;

-- candidates_submitted: what was submitted to the maintainers of an organisation and is not in quarantine, in the
-- order in which it was
SELECT * FROM candidates WHERE submitted_to = ? AND submitted_to != '' AND owner NOT GLOB 'quarantine/*'
ORDER BY submitted_at, number;

-- candidate_counted: put its counts and its state back
UPDATE candidates SET sources = :sources, sessions = :sessions, state = :state WHERE id = :id;

-- candidate_decided: a person has decided
UPDATE candidates SET
    state = :state, decided_at = :at, reason = :reason, title = :title, text = :text, layer = :layer, fact = :fact,
    decided_by = :by, submitted_to = :submitted_to, submitted_by = :submitted_by, submitted_at = :submitted_at,
    sources_then = sources, sessions_then = sessions
WHERE id = :id;

-- candidate_drop: it is put forward no more
DELETE FROM candidates WHERE id = ?;

-- candidates_get: candidates by id
SELECT * FROM candidates WHERE id IN (?*);

-- candidates_of: the candidates of some owners, those with the most evidence first
SELECT * FROM candidates WHERE owner IN (?*) ORDER BY sessions DESC, sources DESC, number;

-- candidates_skills: the skills that are approved, whoever's
SELECT * FROM candidates WHERE kind = 'skill' AND state = 'approved' ORDER BY number;

-- candidates_first: those of some owners that wait and are not submitted to an organisation, those with the most evidence
-- first; the organisation and the limit come last
SELECT * FROM candidates WHERE owner IN (?*) AND state = 'waiting' AND (submitted_to = '' OR submitted_to != ?)
ORDER BY sessions DESC, sources DESC, number LIMIT ?;

-- candidates_decided: those of some owners that were decided, the newest decision first; the limit comes last
SELECT * FROM candidates WHERE owner IN (?*) AND state != 'waiting' AND decided_at IS NOT NULL
ORDER BY decided_at DESC, number DESC LIMIT ?;

-- candidates_with: the candidates that rest on one of these facts
SELECT candidates.* FROM candidate_evidence JOIN candidates ON candidates.id = candidate_evidence.candidate
WHERE candidate_evidence.memory IN (?*);

-- evidence_owners: whose the facts are that a candidate rests on
SELECT facts.owner AS owner FROM candidate_evidence JOIN facts ON facts.id = candidate_evidence.memory
WHERE candidate_evidence.candidate = ?;

-- candidates_waiting: how many of them there are; the organisation comes last
SELECT count(*) AS waiting FROM candidates
WHERE owner IN (?*) AND state = 'waiting' AND (submitted_to = '' OR submitted_to != ?);

-- candidates_waiting_all: how many wait for anybody
SELECT count(*) AS waiting FROM candidates WHERE state = 'waiting';

-- evidence_of: what bears candidates out
SELECT candidate, memory FROM candidate_evidence WHERE candidate IN (?*) ORDER BY candidate, memory;

-- evidence_faded: which of these facts a night has archived, and that stands
SELECT night_changes.memory FROM night_changes JOIN nights ON nights.number = night_changes.night
WHERE night_changes.memory IN (?*) AND night_changes.action = 'archive' AND nights.undone_at IS NULL;

-- candidate_evidence_drop: a fact that bears it out no more
DELETE FROM candidate_evidence WHERE candidate = ? AND memory = ?;

-- shared_facts: what has been approved for all who share an owner, in the order in which it was
SELECT * FROM facts WHERE owner = ? AND state = 'active' AND tier = 'shared' ORDER BY recorded, number;

-- crystallized_forget: a shared fact is forgotten
DELETE FROM crystallized WHERE fact = ?;

-- shared_texts: what has been approved for all who share an owner
SELECT text FROM facts WHERE owner = ? AND state = 'active' AND tier = 'shared';
