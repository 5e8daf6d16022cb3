-- Times are ISO 8601 text with their UTC offset, so that "tomorrow" keeps its meaning; where rows are ordered by
-- time, a column of seconds since 1970 stands beside the text.

-- Names of single values: the key of keyed hashes, the worker's cursor.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- Whose words a message row holds. Messages are stored once for each person, never across people: what one
-- person has forgotten must neither vanish for another nor be kept by them.
CREATE TABLE people (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- tip: the newest exchange that is a turn of the session (not a side request).
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    person INTEGER NOT NULL REFERENCES people,
    org TEXT,
    user TEXT,
    project TEXT,
    runtime TEXT NOT NULL,
    kind TEXT NOT NULL,
    parent TEXT,
    segment INTEGER NOT NULL,
    forked_from TEXT,
    started_at TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    seen REAL NOT NULL,
    tip INTEGER
);

CREATE INDEX sessions_by_key ON sessions (key, seen) WHERE key != '';

-- body: zlib of the packed parts, a line feed, and what was spoken; both free of secrets.
-- digest: of the message as it came, secrets and all, so that a resent message is known again.
CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people,
    digest BLOB NOT NULL,
    role TEXT NOT NULL,
    redacted INTEGER NOT NULL DEFAULT 0,
    forgotten INTEGER NOT NULL DEFAULT 0,
    body BLOB NOT NULL,
    UNIQUE (person, digest)
);

-- A request's messages are the first `kept` of the exchange `base`, and then `tail` (digests of 16 bytes).
-- fresh: indices (JSON) of messages that the session had not had before.
CREATE TABLE exchanges (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions,
    kind TEXT NOT NULL,
    at TEXT NOT NULL,
    dialect TEXT NOT NULL,
    model TEXT NOT NULL,
    status INTEGER NOT NULL,
    base INTEGER REFERENCES exchanges,
    kept INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    tail BLOB NOT NULL,
    fresh TEXT NOT NULL,
    reply BLOB,
    complete INTEGER NOT NULL,
    stop TEXT NOT NULL,
    usage TEXT NOT NULL,
    shown TEXT NOT NULL
);

CREATE INDEX exchanges_by_session ON exchanges (session, number);

-- How often a message has stood in one request of a session at most: tells what is fresh.
CREATE TABLE seen (
    session INTEGER NOT NULL REFERENCES sessions,
    digest BLOB NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (session, digest)
) WITHOUT ROWID;

-- Where requests ended, with and without their reply, as chain hashes.
CREATE TABLE trail (
    link BLOB NOT NULL,
    namespace TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions,
    exchange INTEGER NOT NULL,
    PRIMARY KEY (link, namespace, session)
) WITHOUT ROWID;

-- mark: a hash of the entry, so that writing it twice is writing it once.
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions,
    mark BLOB NOT NULL,
    digest BLOB NOT NULL,
    occurrence INTEGER NOT NULL,
    text TEXT NOT NULL,
    form TEXT NOT NULL,
    reason TEXT NOT NULL,
    memories TEXT NOT NULL,
    UNIQUE (session, mark)
);

CREATE TABLE receipts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    exchange INTEGER REFERENCES exchanges,
    body TEXT NOT NULL
);

CREATE INDEX receipts_by_exchange ON receipts (exchange);

-- Where a memory stands in words or by name (place: ledger, exchange), so that it can be taken out again without
-- reading everything.
CREATE TABLE mentions (
    memory TEXT NOT NULL,
    place TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (memory, place, number)
) WITHOUT ROWID;

CREATE TABLE facts (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    category TEXT NOT NULL,
    stream TEXT NOT NULL,
    layer TEXT NOT NULL,
    origin TEXT NOT NULL,
    session TEXT NOT NULL,
    source BLOB NOT NULL,
    recorded_at TEXT NOT NULL,
    recorded REAL NOT NULL,
    valid_from TEXT NOT NULL,
    confidence REAL NOT NULL,
    importance REAL NOT NULL,
    surprise REAL NOT NULL,
    tier TEXT NOT NULL,
    sensitivity TEXT NOT NULL,
    stability TEXT NOT NULL,
    state TEXT NOT NULL,
    access INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    used_at TEXT,
    valid_until TEXT,
    superseded_at TEXT,
    supersedes TEXT NOT NULL,
    contradicts TEXT NOT NULL,
    derived_from TEXT NOT NULL,
    expires_at TEXT,
    pinned INTEGER NOT NULL,
    wrong TEXT NOT NULL,
    entities TEXT NOT NULL
);

CREATE INDEX facts_by_owner ON facts (owner, state, recorded);

CREATE INDEX facts_by_source ON facts (source);

CREATE INDEX facts_derived ON facts (id) WHERE derived_from != '[]';

CREATE INDEX facts_following ON facts (id) WHERE supersedes != '[]' OR contradicts != '[]';

CREATE TABLE passages (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    owner TEXT NOT NULL,
    origin TEXT NOT NULL,
    speaker TEXT NOT NULL,
    session TEXT NOT NULL,
    source BLOB NOT NULL,
    at TEXT NOT NULL,
    turn INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    question INTEGER NOT NULL,
    sensitivity TEXT NOT NULL
);

CREATE INDEX passages_by_place ON passages (session, turn, piece);

CREATE INDEX passages_by_source ON passages (source);

-- Who was shown a memory, and who used it: one row for each memory and session.
CREATE TABLE uses (
    memory TEXT NOT NULL,
    session TEXT NOT NULL,
    shown INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (memory, session)
) WITHOUT ROWID;

-- texts: how many indexed texts an owner has, and in how many of them a term stands.
CREATE TABLE owners (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    texts INTEGER NOT NULL
);

CREATE TABLE terms (
    owner INTEGER NOT NULL REFERENCES owners,
    term INTEGER NOT NULL,
    texts INTEGER NOT NULL,
    PRIMARY KEY (owner, term)
) WITHOUT ROWID;

-- Keyed hashes of what a person has had forgotten.
CREATE TABLE tombstones (
    hash BLOB PRIMARY KEY,
    at TEXT NOT NULL
) WITHOUT ROWID;

-- Every index that is kept up to date: the one in use, and one that is being filled beside it.
-- ready: its outbox has had everything that was there when it began.
CREATE TABLE generations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    ready INTEGER NOT NULL DEFAULT 0,
    current INTEGER NOT NULL DEFAULT 0
);

-- What a generation has still to take in (sort: fact, turn) or to let go (sort: gone).
CREATE TABLE outbox (
    generation INTEGER NOT NULL REFERENCES generations ON DELETE CASCADE,
    memory TEXT NOT NULL,
    sort TEXT NOT NULL,
    PRIMARY KEY (generation, memory)
) WITHOUT ROWID;
