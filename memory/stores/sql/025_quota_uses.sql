-- How much of their quotas people and organisations have used on a day. day: of UTC; owner: a person's or an
-- organisation's; kind: what is counted.
CREATE TABLE quota_uses (
    day TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (day, owner, kind)
) WITHOUT ROWID;
