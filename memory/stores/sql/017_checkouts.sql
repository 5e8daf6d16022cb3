-- In which checkout a memory was learnt. anchor: the first commit of its branch by which others know it; staged: it does
-- not hold for the project before the branch is merged; cites: what of the code it names (JSON); looked: whether that was
-- looked for.
CREATE TABLE checkouts (
    memory TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    repository TEXT NOT NULL,
    branch TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    anchor TEXT NOT NULL DEFAULT '',
    staged INTEGER NOT NULL DEFAULT 0,
    cites TEXT NOT NULL DEFAULT '[]',
    looked INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE INDEX checkouts_by_branch ON checkouts (repository, branch) WHERE staged;

CREATE INDEX checkouts_by_owner ON checkouts (owner, memory);

CREATE INDEX checkouts_to_look_at ON checkouts (repository) WHERE NOT looked;

-- A branch on which something was learnt, and what has become of it.
CREATE TABLE branches (
    repository TEXT NOT NULL,
    name TEXT NOT NULL,
    tip TEXT NOT NULL,
    base TEXT NOT NULL,
    stage TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (repository, name)
) WITHOUT ROWID;
