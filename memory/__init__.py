"""What an agent should still know tomorrow.

    bootstrap               the one place that chooses stores and models, and joins the parts
    parts                   those parts, joined; the journal of a home
    features  hooks         what plugs into all of it, one folder each; how it plugs in
    services                shells: prepare a request, note a reply, learn from the journal, answer a person
    context                 before: what the model should see         (question, rank, floor, pack, page)
    learning                after: what an exchange teaches           (extract, redact, passages, reconcile)
    strength  language      decay and reinforcement; words, sentences, dates, entities, contradiction
    ports                   what memory needs of the world
    stores  models          I/O: journal (SQLite), index (Qdrant), embedders
    conversation  edits  fact  scope  session                         the nouns

Memory never knows the proxy. Thinking does no I/O; I/O does no thinking.
"""
