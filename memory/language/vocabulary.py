"""A set of words, written down as one text."""


def vocabulary(words: str) -> frozenset[str]:
    """The words of a text that are separated by spaces."""
    return frozenset(words.split())
