-- What is new of an owner, in turn: a night looks behind the row with which the last one ended.
CREATE INDEX facts_in_turn ON facts (owner, state);
