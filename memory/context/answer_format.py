"""What a message says about the form of its answer ("as a table", "in one word"): no part of what it asks.

How an answer should look is said in words that no memory of the matter has ("format", "order", an example of another
value). Left in, they make a plain question look like one about unknown things.
"""

from __future__ import annotations

import re
from typing import Final

from memory.context.message_intent import SENTENCE
from memory.language.vocabulary import vocabulary

MAX_SENTENCE_CHARS: Final = 400
"""Characters of a sentence beyond which it orders more than a form."""

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
_PLEASE: Final = r"^[\s\"'(]*(?:(?:please|just|only|and|then|also)\s+){0,3}"
_SOME: Final = r"(?:(?:very|as|really|nice and|in|to|under|within|at|most|a|an|the|only|just|with|using|and)\s+){0,4}"
_SHAPES: Final = re.compile(
    _PLEASE + r"(?:(?:(?:answer|respond|reply)"
    r"|(?:put|show|keep) (?:the|your|all|every|each) (?:answers?|repl(?:y|ies)|responses?|results?))"
    r"\b[^.!?\n]{0,80}?\b"
    r"|(?:be|(?:put|show|keep) (?:it|them))\s+" + _SOME + r")" + _FORMS + r"\b",
    re.IGNORECASE,
)
"""A sentence that orders how the answer should look. "Keep" and the like order much else: with them it has to be the
answer itself that is kept, or nothing may stand between."""

_GIVE: Final = re.compile(
    _PLEASE + r"(?:return|give|list|write|format|express|state|provide|output|print|present)\b", re.IGNORECASE
)
"""An order to give something, which may be what is asked: only the form in it is about the answer."""
_FORM: Final = re.compile(
    r"\b(?:(?:in|as|to|with|using|within)\s+)?"
    + _SOME
    + r"(?:this\s+)?"
    + _FORMS
    + r"(?:\s+(?:order|format|form|case))?\b"
    # What a form is a form of is asked for: "a list of the ships"; and so is what is only called by one: "CSV files".
    # A template of the value ("in the format YYYY-MM-DD") begins with capitals.
    r"(?=\s*(?:$|[^\w\s]|\d|(?:of\s+)?(?-i:[A-Z]{2})|of\s+(?:names|numbers|values|words)\b"
    r"|(?:in|as|with|to|and|or|only|please|like|such|without|separated|each|per|at|answers?|reply|response|"
    + _FORMS
    + r")\b))(?:[^:,;.!?\n]*:.*|[^,;.!?\n]*)",
    re.IGNORECASE,
)
_ANSWER: Final = vocabulary(
    "me us it them this that these those the a an all each every both your its only just final exact answer answers "
    "reply response result results value values number numbers sum total amount count name names date time"
)
"""Words that name no more than the answer."""

_OURS: Final = re.compile(
    r"\b(?:I|we|my|our|ours|mine|us|yesterday|ago|last (?:time|night|week|month|year))\b", re.IGNORECASE
)
"""What speaks of something that was: "give me the format that we agreed on" asks for it."""


def without_form(text: str) -> str:
    """A message without what it only says about the form of its answer; the message itself where nothing else is
    in it."""
    bare = _EXAMPLE.sub(" ", text)
    remaining = "".join(map(_without_format, SENTENCE.findall(bare)))
    return remaining.strip() or text


def _without_format(sentence: str) -> str:
    """What of a sentence is not about the form of the answer."""
    if len(sentence) > MAX_SENTENCE_CHARS or _OURS.search(sentence) is not None:
        return sentence
    if _SHAPES.match(sentence) is not None:
        return ""
    gives = _GIVE.match(sentence)
    form = _FORM.search(sentence, gives.end()) if gives else None
    if gives is None or form is None:
        return sentence
    left = sentence[gives.end() : form.start()] + sentence[form.end() :]
    named = {word.casefold() for word in re.findall(r"\w+", left)} - _ANSWER
    return sentence[: form.start()] + sentence[form.end() :] if named else ""
