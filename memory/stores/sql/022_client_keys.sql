-- Keys that were issued to users of clients. hash: of the key, which is kept nowhere; projects: names (JSON); mode: on, or
-- read-only. A name may stand twice where at most one of them is in force.
CREATE TABLE client_keys (
    hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    user TEXT NOT NULL,
    org TEXT,
    projects TEXT NOT NULL,
    mode TEXT NOT NULL,
    made_at TEXT NOT NULL,
    made_by TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
) WITHOUT ROWID;
