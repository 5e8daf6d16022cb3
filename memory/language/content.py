"""What a text is about, for comparing one with another."""

from __future__ import annotations

from memory.language.vocabulary import vocabulary
from memory.language.words import STOP, stem, words

Stems = frozenset[str]

_SWEEPING = vocabulary("currently now actually always usually really also just still only very")


def content(text: str) -> Stems:
    """The stems of a text in lower case, without those that say nothing, and without "now" and "always"."""
    return frozenset(stem(word) for word in words(text) if word not in STOP and word not in _SWEEPING)
