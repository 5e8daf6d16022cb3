"""Understanding talk: a message becomes clauses, and a small trained model says of each what it is.

``tokens`` cuts text into words and forms, ``features`` turns a piece of text and what stands around it into numbers,
``network`` is the model, ``clauses`` finds where clauses begin and judges them, and ``wording`` makes texts of the
clauses that are worth keeping. The weights are made by
:mod:`memory.models.training` from the data beside it, and come in as arguments: nothing here reads a file.
"""
