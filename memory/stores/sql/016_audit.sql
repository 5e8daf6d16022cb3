-- Who asked what of memory; only ever added to. memory: the id of what was asked about; no text stands here.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    memory TEXT NOT NULL,
    user TEXT NOT NULL,
    status INTEGER NOT NULL
);

CREATE TRIGGER audit_stays AFTER UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is only ever added to'); END;

CREATE TRIGGER audit_is_kept AFTER DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is only ever added to'); END
