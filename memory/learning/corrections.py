"""What a correction says was wrong; what is right is told by the clause itself.

It is taken from the clause ("X, not Y", "instead of Y"), or else from the reply that the clause answers.
"""

from __future__ import annotations

import re

from memory.language.sentences import sentences

_BOTH = (
    re.compile(r"\bnot (?:the |a |an )?(?P<wrong>[^,;.?!]{2,80}),? but (?P<right>[^;?!]{2,120})", re.I),
    re.compile(r"(?P<right>[^;?!]{2,160}?),? (?:instead of|rather than) (?P<wrong>[^,;?!]{2,100})", re.I),
    re.compile(r"(?P<right>[^;?!]{2,160}?)(?:,| and|;| -)? (?:and )?not (?P<wrong>[^,;?!]{2,80})[.!]*$", re.I),
)


def mistaken(text: str, before: str = "") -> str:
    """What a correction says was wrong: from its own words, else the sentence of ``before`` that it shares most
    words with; empty where neither can be told."""
    for pattern in _BOTH:
        if found := pattern.search(text[:600]):
            return found["wrong"].strip(" .\"'`")
    return _corrected_sentence(text, before)


def _corrected_sentence(text: str, before: str) -> str:
    wanted = _content(text)
    best, most = "", 1
    for sentence in sentences(before[-4000:])[-60:]:
        shared = len(wanted & _content(sentence))
        if shared > most and len(sentence) <= 240:
            best, most = sentence, shared
    return best


def _content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]{4,40}", text.lower()))
