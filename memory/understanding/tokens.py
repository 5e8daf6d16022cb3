"""Text as the models see it: lower-case words, and one name for each kind of form (a number, a path, a time…).

Forms are named because their values teach nothing: no two ports are the same, and all of them are numbers.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

MAX_WORD_CHARS = 32
"""Characters of a word that are read: what is longer is no word of any language."""

_TOKEN = re.compile(
    r"(?P<code>`[^`\n]{1,200}`)"
    r"|(?P<url>\b(?:https?|ssh|git|ftp)://[^\s)>\]]{1,400})"
    r"|(?P<mail>\b[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,30}){1,4})"
    r"|(?P<date>\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b)"
    r"|(?P<clock>\b\d{1,2}:\d\d\b|\b\d{1,2}\s?(?:am|pm)\b)"
    r"|(?P<version>\bv?\d{1,4}\.\d{1,4}(?:\.\d{1,4}){1,2}\b)"
    r"|(?P<path>(?:[\w.@~-]{1,60}|)(?:/[\w.@*{}-]{1,60}){1,12}/?|\b[\w-]{1,60}/(?=\s|$|[,.;])|\b[\w-]{1,60}\.[a-z]{1,4}[a-z0-9]{0,3}\b(?!\.\w))"
    r"|(?P<flag>(?<!\S)--?[a-zA-Z][\w-]{0,40})"
    r"|(?P<name>\b\w*(?:[a-z0-9][A-Z]|_)\w*\b|\b\w{1,60}\(\))"
    r"|(?P<unit>\b\d{1,9}(?:[.,]\d{1,6})?\s?(?:%|ms|s|sec|min|h|kb|mb|gb|tb|k|m|px|rem|€|\$|£|°c?)(?!\w))"
    r"|(?P<number>\b\d{1,12}(?:[.,]\d{1,6}){0,3}\b)"
    r"|(?P<han>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
    r"|(?P<word>[^\W\d_]{1,60}(?:['’-][^\W\d_]{1,60}){0,4})"
    r"|(?P<mark>[?!.…,;:()\"“”«»–—=<>+*#&|/-])",
)
_PLAIN = frozenset(("word", "han", "mark"))


class TextToken(NamedTuple):
    """A word, a mark or a form, and where it stands in its text: from one character to another."""

    text: str
    start: int
    end: int

    @property
    def is_mark(self) -> bool:
        """Whether it is punctuation."""
        return not (self.text[0].isalnum() or self.text[0] == "<")


def located(text: str) -> list[TextToken]:
    """The tokens of a text with their places."""
    return [TextToken(_read(match), match.start(), match.end()) for match in _TOKEN.finditer(text)]


@lru_cache(maxsize=2048)
def tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text, in order: words in lower case, marks, and ``<kind>`` for a form."""
    return tuple([_read(match) for match in _TOKEN.finditer(text)])


def _read(match: re.Match[str]) -> str:
    kind = match.lastgroup or "mark"
    if kind not in _PLAIN:
        return f"<{kind}>"
    word = match[0].lower()
    return (word.replace("’", "'") if "’" in word else word)[:MAX_WORD_CHARS]
