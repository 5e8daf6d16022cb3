"""L0, L1 and L2 of any text: one line, an overview of at most a fifth, the whole.

`shape` has the nouns. Each other file makes the overview of one kind of text and answers None to every other kind;
signatures, paths, numbers and names survive first, as whole lines, because these are what a next step uses. Everything
here is deterministic, bounded in work, and total: whatever comes in, out comes None or a text within the limit.
"""
