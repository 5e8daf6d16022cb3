"""A recorded corpus, and what the proxy makes of it, byte for byte: the proof that a change changed nothing.

    python -m tests.corpus [--write] [--keep DIR] [--only NAME]

``scenes`` says what is played, ``stage`` plays it through the real proxy with real stores, ``fixed`` takes away what
differs from run to run (the clock, ids, keys, the time zone, workers that run at the same time), and ``digests``
compares what came out with ``digests.txt``.
"""
