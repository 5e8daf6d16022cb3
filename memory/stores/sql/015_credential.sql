-- Who spoke in a session: a keyed hash of the credential that its client sent, empty where it sent none or is older.
ALTER TABLE sessions ADD COLUMN credential TEXT NOT NULL DEFAULT ''
