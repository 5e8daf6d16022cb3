-- What a ledger entry does at its message: it adds text, puts text in a part's place, or begins a segment.
ALTER TABLE ledger ADD COLUMN act TEXT NOT NULL DEFAULT 'append';

ALTER TABLE ledger ADD COLUMN part INTEGER NOT NULL DEFAULT 0;

ALTER TABLE ledger ADD COLUMN tier TEXT NOT NULL DEFAULT 'L2';

-- Messages that cannot be given back word for word: few, and asked for with every shed.
CREATE INDEX messages_not_whole ON messages (person, digest) WHERE redacted OR forgotten;

-- The lower tiers of a content. owner: whose it is, for a message the person (people.name); subject: what it is part
-- of, for a message its digest. tokens: of the whole part; overview_tokens: of the overview.
CREATE TABLE overviews (
    number INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    subject BLOB NOT NULL,
    part INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    line TEXT NOT NULL,
    overview TEXT NOT NULL,
    overview_tokens INTEGER NOT NULL,
    UNIQUE (owner, subject, part)
);

-- Contents that a person wants whole.
CREATE TABLE pins (
    owner TEXT NOT NULL,
    subject BLOB NOT NULL,
    part INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (owner, subject, part)
) WITHOUT ROWID;
