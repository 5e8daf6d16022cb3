"""What must stay to the letter when a text is said in other words: numbers, names, paths, code."""

from __future__ import annotations

import re

from memory.language.words import STOP

_EXACT = re.compile(r"\d+(?:[.,:/-]\d+)*|\b[A-Z][\w-]*|[\w./-]*[_/.][\w./-]+\w|`[^`]+`")


def invented(text: str, source: str) -> str:
    """The first number, name, path or piece of code in a text that its source does not have; empty where there is
    none. Any word with a capital may be a name, but for the small words that begin a sentence."""
    known = source.casefold()
    for match in _EXACT.finditer(text):
        exact = match[0].strip("`.,")
        if exact and exact.casefold() not in STOP and exact.casefold() not in known:
            return exact
    return ""
