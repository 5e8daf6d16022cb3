-- What facts say, beside the fact: looked through for words as they stand, without reading the rest of each.
CREATE INDEX facts_texts ON facts (owner, recorded, text, wrong);
