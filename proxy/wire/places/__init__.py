"""Where the parts of a message stand in its bytes, so that another text can stand there: one file per dialect, a raw
JSON slice in, one place for each of :attr:`Message.parts` out, in the same order. A part without a place (None, or
behind the last one) is never replaced: reasoning, what the provider signed or encrypted, and what we do not know."""
