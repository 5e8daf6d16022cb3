-- What a person may approve for others. owner: whose sessions bear it out; mark: says what it is, see the noun;
-- sources_then, sessions_then: how much there was for it when it was decided; fact: the shared fact that it became.
DROP TABLE candidates;

CREATE TABLE candidates (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    mark TEXT NOT NULL,
    layer TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    what TEXT NOT NULL,
    sources INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    state TEXT NOT NULL,
    made_at TEXT NOT NULL,
    decided_at TEXT,
    reason TEXT NOT NULL,
    sources_then INTEGER NOT NULL,
    sessions_then INTEGER NOT NULL,
    fact TEXT NOT NULL
);

CREATE INDEX candidates_by_owner ON candidates (owner, state);

CREATE INDEX candidates_by_fact ON candidates (fact) WHERE fact != '';

-- The facts that bear a candidate out.
CREATE TABLE candidate_evidence (
    candidate TEXT NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
    memory TEXT NOT NULL,
    PRIMARY KEY (candidate, memory)
) WITHOUT ROWID;

CREATE INDEX candidate_evidence_by_memory ON candidate_evidence (memory);

-- What a night did to a candidate: made it, or changed its counts and its state (JSON, of each what it was and what it
-- became).
CREATE TABLE night_candidates (
    night INTEGER NOT NULL REFERENCES nights,
    candidate TEXT NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
    made INTEGER NOT NULL,
    fields TEXT NOT NULL,
    PRIMARY KEY (night, candidate)
) WITHOUT ROWID;

CREATE INDEX night_candidates_by_candidate ON night_candidates (candidate);

-- The shared facts whose lines were written into their owner's file.
CREATE TABLE crystallized (
    fact TEXT PRIMARY KEY,
    owner TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX crystallized_by_owner ON crystallized (owner)
