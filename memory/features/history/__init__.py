"""A fact's life: what was said of it, the chain it stands in, and its strength over time.

sayings                 what was said of it, by whom, when, and in which session
lives                   what followed what; how strong a fact was and will be
feature                 all over HTTP (the tables of ``palimpsest history`` are drawn by the command line)
"""
