-- Whether a memory names what its checkout does not hold yet.
ALTER TABLE checkouts ADD COLUMN awaits INTEGER NOT NULL DEFAULT 0;

CREATE INDEX checkouts_awaiting ON checkouts (repository) WHERE awaits;

-- What named nothing that was there may have named what came later: it is looked into once more.
UPDATE checkouts SET looked = false WHERE cites = '[]';
