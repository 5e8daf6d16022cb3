"""Where memory is kept: the journal (SQLite, the truth) and the index (Qdrant, which can be rebuilt from it)."""
