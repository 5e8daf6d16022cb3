"""What must hold of a body that is sent: one file per dialect, decoded JSON in, sentences out.

The sentences are stable: a body and its edited copy that break the same rule at the same place say the same, but for
the numbers of messages where some left, so that what the client's own body breaks is not held against an edit
(``compared.py``). Sources: the providers' references and the refusals that clients met after trimming.
"""
