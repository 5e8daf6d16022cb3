-- What builds on an exchange: asked for when that one leaves the journal.
CREATE INDEX exchanges_by_base ON exchanges (base) WHERE base IS NOT NULL
