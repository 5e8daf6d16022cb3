"""What a message says about the form of its answer ("return it as HH:MM", "in one word"): no part of what it asks.

How an answer should look is said in words that no memory of the matter has ("format", "alphabetical order", an example
of another value). Left in, they make a plain question look like one about unknown things.
"""

from __future__ import annotations

import re
from typing import Final

_EXAMPLE: Final = re.compile(
    r"\((?:e\.?\s?g\b\.?|ex\b|i\.?e\b\.?|example\b|for example\b)[^()]{0,200}\)", re.IGNORECASE
)
"""An example in brackets: a value that is not the one asked for."""

_FORMS: Final = (
    r"(?:format|form|style|alphabetical|chronological|ascending|descending|digits?|numerals?|decimals?|figures"
    r"|(?:one|a single|two|three|\d+|few) (?:words?|sentences?|lines?)|words only|capitals"
    r"|(?:upper|lower) ?case|letters|json|yaml|csv|markdown|bullet(?:s| points)|a table|a list"
    r"|(?:bulleted|numbered|comma[- ]separated) list|yes or no|rounded|short(?:ly)?|brief(?:ly)?|concise(?:ly)?"
    r"|nothing else|no explanation|without explanation)"
)
_SHAPES: Final = re.compile(
    r"^[\s\"'(]*(?:(?:please|just|only|and|then|also)\s+){0,3}"
    r"(?:(?:(?:answer|respond|reply|return|give|list|write|format|express|state|provide|output|print|present)"
    r"|(?:put|show|keep) (?:the|your|all|every|each) (?:answers?|repl(?:y|ies)|responses?|results?))"
    r"\b[^.!?\n]{0,80}?\b"
    r"|(?:be|(?:put|show|keep) (?:it|them))\s+"
    r"(?:(?:very|as|really|nice and|in|to|under|within|at|most|a|an|the|only|just)\s+){0,4})" + _FORMS + r"\b",
    re.IGNORECASE,
)
"""A sentence that orders how the answer should look. "Keep" and the like order much else: with them it has to be the
answer itself that is kept, or nothing may stand between."""

_OURS: Final = re.compile(
    r"\b(?:I|we|my|our|ours|mine|us|yesterday|ago|last (?:time|night|week|month|year))\b", re.IGNORECASE
)
"""What speaks of something that was: "give me the format that we agreed on" asks for it."""

_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*(?:[.!?]+|\n|$)")


def without_form(text: str) -> str:
    """A message without what it only says about the form of its answer; the message itself where nothing else is
    in it."""
    bare = _EXAMPLE.sub(" ", text)
    kept = "".join(sentence for sentence in _SENTENCE.findall(bare) if not _only_form(sentence))
    return kept.strip() or text


def _only_form(sentence: str) -> bool:
    return _SHAPES.match(sentence) is not None and _OURS.search(sentence) is None
