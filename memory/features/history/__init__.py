"""A fact's life: the chain it stands in, and its strength over time.

lives                   what followed what; how strong a fact was and will be
feature                 both over HTTP (the tables of ``palimpsest history`` are drawn by the command line)
"""
