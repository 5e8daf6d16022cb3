-- quota_uses_of: what an owner has used on a day
SELECT kind, used FROM quota_uses WHERE day = ? AND owner = ?;

-- quota_uses_add: an owner has used more; how much that is now
INSERT INTO quota_uses (day, owner, kind, used) VALUES (?, ?, ?, ?)
ON CONFLICT (day, owner, kind) DO UPDATE SET used = quota_uses.used + excluded.used
RETURNING used;

-- quota_uses_end: nobody asks for earlier days any more
DELETE FROM quota_uses WHERE day < ?;
