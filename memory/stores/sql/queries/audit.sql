-- audit_add: somebody asked something
INSERT INTO audit (at, who, what, memory, user, status) VALUES (?, ?, ?, ?, ?, ?);

-- audit_newest: what was asked last, by somebody or anybody, the newest first
SELECT * FROM audit WHERE (?1 = '' OR who = ?1) AND (?2 = '' OR instr(what, ?2) > 0) ORDER BY number DESC LIMIT ?3;
