-- What nights have done: a row for each night of an owner that changed something.
-- looked: facts that were new; passed_over: changes left out, since something else had happened to a fact meanwhile;
-- thrown: the passes that were thrown out (JSON).
CREATE TABLE nights (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    at TEXT NOT NULL,
    looked INTEGER NOT NULL,
    passed_over INTEGER NOT NULL,
    thrown TEXT NOT NULL,
    undone_at TEXT
);

CREATE INDEX nights_by_owner ON nights (owner, number);

-- A fact that a night changed, or made. place: facts with the same one changed together; fields: of each column that
-- changed what it was and what it became (JSON). No text of a memory stands here.
CREATE TABLE night_changes (
    number INTEGER PRIMARY KEY,
    night INTEGER NOT NULL REFERENCES nights,
    place INTEGER NOT NULL,
    action TEXT NOT NULL,
    why TEXT NOT NULL,
    memory TEXT NOT NULL,
    made INTEGER NOT NULL,
    fields TEXT NOT NULL
);

CREATE INDEX night_changes_by_night ON night_changes (night, place);

CREATE INDEX night_changes_by_memory ON night_changes (memory);

-- Days in short: a line for each of the memories that were chosen to stand for one. tier: L1 the day, L0 in short.
CREATE TABLE summaries (
    number INTEGER PRIMARY KEY,
    night INTEGER NOT NULL REFERENCES nights,
    owner TEXT NOT NULL,
    day TEXT NOT NULL,
    tier TEXT NOT NULL,
    session TEXT NOT NULL,
    text TEXT NOT NULL,
    memory TEXT NOT NULL,
    weight REAL NOT NULL,
    UNIQUE (owner, day, tier, memory)
);

CREATE INDEX summaries_by_memory ON summaries (memory);

-- Knowledge that a person might approve for others, as each night saw it.
CREATE TABLE candidates (
    night INTEGER NOT NULL REFERENCES nights,
    memory TEXT NOT NULL,
    kind TEXT NOT NULL,
    sources INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    PRIMARY KEY (night, memory)
) WITHOUT ROWID;

CREATE INDEX candidates_by_memory ON candidates (memory);

-- How far the nights have come with each owner: the last fact, and the last passage of a day that is over.
CREATE TABLE night_cursors (
    owner TEXT PRIMARY KEY,
    fact INTEGER NOT NULL,
    passage INTEGER NOT NULL,
    at TEXT NOT NULL
) WITHOUT ROWID;
