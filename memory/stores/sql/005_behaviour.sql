-- What was done, step by step, without its content. mark: names a step with all that came before it in its
-- conversation; source: the digest of the message that it stood in; traits: conventions that it followed (JSON).
CREATE TABLE steps (
    number INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    session TEXT NOT NULL,
    at TEXT NOT NULL,
    deed TEXT NOT NULL,
    family TEXT NOT NULL,
    shape TEXT NOT NULL,
    outcome TEXT NOT NULL,
    traits TEXT NOT NULL,
    mark BLOB NOT NULL,
    source BLOB NOT NULL,
    UNIQUE (owner, mark)
);

CREATE INDEX steps_by_owner ON steps (owner);

CREATE INDEX steps_by_source ON steps (source);

-- Which fact holds an observation. subject: names what was observed; detail: what a list of them shows (JSON).
CREATE TABLE observations (
    owner TEXT NOT NULL,
    subject BLOB NOT NULL,
    sort TEXT NOT NULL,
    memory TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (owner, subject)
) WITHOUT ROWID;

CREATE INDEX observations_by_memory ON observations (memory);

-- The lines of an error, hashed, by which the fact that holds its fix is found. family: of the command that failed;
-- specific: whether the line alone tells which error it is.
CREATE TABLE error_keys (
    key BLOB NOT NULL,
    owner TEXT NOT NULL,
    memory TEXT NOT NULL,
    family TEXT NOT NULL,
    specific INTEGER NOT NULL,
    PRIMARY KEY (key, owner, memory)
) WITHOUT ROWID;

CREATE INDEX error_keys_by_memory ON error_keys (memory);
