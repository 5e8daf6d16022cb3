"""The documentation, and in ``generate`` what writes its reference pages from the code."""
