-- What facts say, beside the fact: looked through for words as they stand, without reading the rest of each.
CREATE INDEX facts_texts ON facts (owner, recorded, text, wrong);

-- Drafts, of which there are few, are counted for a page.
CREATE INDEX facts_drafts ON facts (owner) WHERE state = 'draft';
