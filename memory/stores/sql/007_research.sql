-- What sub-agents found out. owner: whose it is (a project's, or a person's); person: whose messages the trail is of
-- (people.name); session, parent: ids of sessions; trail: digests of 16 bytes, joined; reports, sources: JSON.
CREATE TABLE research (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    person TEXT NOT NULL,
    session TEXT NOT NULL,
    parent TEXT NOT NULL,
    claimed TEXT NOT NULL,
    call TEXT NOT NULL,
    tool TEXT NOT NULL,
    agent TEXT NOT NULL,
    description TEXT NOT NULL,
    question TEXT NOT NULL,
    reports TEXT NOT NULL,
    line TEXT NOT NULL,
    overview TEXT NOT NULL,
    sources TEXT NOT NULL,
    trail BLOB NOT NULL,
    runtime TEXT NOT NULL,
    model TEXT NOT NULL,
    directory TEXT NOT NULL,
    commit_ TEXT NOT NULL,
    began TEXT NOT NULL,
    ended TEXT NOT NULL,
    seen REAL NOT NULL,
    requests INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    written INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    delivery TEXT NOT NULL,
    returned BLOB NOT NULL
);

CREATE INDEX research_by_owner ON research (owner, seen);

CREATE INDEX research_by_session ON research (session) WHERE session != '';

CREATE INDEX research_by_parent ON research (parent) WHERE parent != '';

CREATE INDEX research_running ON research (seen) WHERE outcome = 'running';

-- Prompts that were given to sub-agents, until the session that took each is known. at: seconds since 1970.
CREATE TABLE spawns (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    person TEXT NOT NULL,
    call TEXT NOT NULL,
    mark BLOB NOT NULL,
    tool TEXT NOT NULL,
    prompt TEXT NOT NULL,
    description TEXT NOT NULL,
    agent TEXT NOT NULL,
    at TEXT NOT NULL,
    seen REAL NOT NULL,
    child TEXT NOT NULL DEFAULT '',
    UNIQUE (session, call, mark)
);

CREATE INDEX spawns_open ON spawns (person, seen) WHERE child = '';

-- Names of tools that were seen to send sub-agents out, for each person.
CREATE TABLE spawners (
    person TEXT NOT NULL,
    tool TEXT NOT NULL,
    PRIMARY KEY (person, tool)
) WITHOUT ROWID;

-- Each time that a research was used again: how (given, answered, recalled), in which session, with how many tokens.
CREATE TABLE research_uses (
    number INTEGER PRIMARY KEY,
    research TEXT NOT NULL,
    session TEXT NOT NULL,
    how TEXT NOT NULL,
    at TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    UNIQUE (research, session, how)
);
