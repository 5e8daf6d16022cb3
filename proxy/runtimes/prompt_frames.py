"""A person's words out of the prompt that a program put around them.

Agents that are scripts send no system prompt worth the name: what their program tells the model, how to work, how to
answer, with which tags, stands in the user's role, and a person's words in the midst of it. No phrase of theirs can be
known beforehand. But they all speak to a model about its replies, in several ways at once, as a person who asks for
something hardly does; and what a person said stands before the first of it, or behind a label of its own ("Task:").
"""

from __future__ import annotations

import re

LEAST = 150
"""Characters of a text that may have a frame."""

MAX_FRAMED_CHARS = 100_000
"""Characters of a text that may have one."""

ENDS = 6000
"""Characters of its beginning, and of its end, in which a frame shows itself: what stands within may be long, and every
stream waits while it is looked through."""

_CUES = ("answer", "respon", "reply", "output", "nothing else", "tool", "command")
"""Whoever speaks to a model about its replies or its means uses one of these: most texts are done with here."""

MARKS = 3
"""Ways of speaking to a model about its replies that make a text a program's."""


def without_frame(words: str) -> str:
    """What a person said in a text; the text itself where no program speaks in it, empty where nobody else does."""
    if not LEAST <= len(words) <= MAX_FRAMED_CHARS or not _is_framed(words):
        return words
    paragraphs = [paragraph.strip() for paragraph in _PARAGRAPH.split(words)]
    text = _before_marks(paragraphs)
    if text:
        return text
    for index, paragraph in enumerate(paragraphs):
        if labelled := _LABEL.search(paragraph):
            text = _before_marks([paragraph[labelled.end() :].strip(), *paragraphs[index + 1 :]])
            return text.removeprefix("```").removesuffix("```").strip()
    return ""


def _is_framed(words: str) -> bool:
    """Whether a program speaks in a text, by its ends."""
    ends = words if len(words) <= 2 * ENDS else f"{words[:ENDS]}\n{words[-ENDS:]}"
    lower = ends.lower()
    if not any(cue in lower for cue in _CUES):
        return False
    return sum(mark.search(ends) is not None for mark in _MARKS) >= MARKS


def _before_marks(paragraphs: list[str]) -> str:
    """The paragraphs before the first in which a program speaks, without a heading or a line that leads to it."""
    lines: list[str] = []
    for paragraph in paragraphs:
        if any(mark.search(paragraph) for mark in _MARKS):
            break
        lines.append(paragraph)
    while lines and (not lines[-1] or _HEADING.fullmatch(lines[-1])):
        lines.pop()
    return "\n\n".join(lines)


_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?:---+|===+)[ \t]*(?:\n|$)")
_HEADING = re.compile(r"#{1,6} [^\n]*|\*\*[^\n]*\*\*:?|<[\w-]+>")
_LABEL = re.compile(
    r"(?im)^[ \t#*]{0,6}(?:(?:new|current|your|the|user'?s?|original|initial) )?"
    r"(?:task|question|issue|problem|request|query|input|message|goal|objective)(?: (?:is|description))?"
    r"[*\s]{0,3}:[*]{0,2}"
)
_MARKS = tuple(
    re.compile(pattern)
    for pattern in (
        # what the reply has to be
        r"(?i)\b(?:your|each|every) (?:final |next )?(?:answer|response|reply|output|message)s?"
        r" (?:should|must|shall|has to|have to|needs? to|will)\b"
        r"|\b(?:criteria|format|structure) (?:for|of) (?:your|the) (?:final )?(?:answer|response|reply|output)\b",
        r"(?i)\bfinal[_ ]answer\b",
        r"(?i)\b(?:respond|reply|answer|output|return) (?:with )?(?:only|just|exactly|nothing but)\b|\bnothing else\b",
        r"(?i)\b(?:the|this) (?:following|below|exact) (?:format|structure|headings?|template|json)\b"
        r"|\b(?:format|headings?|template|structure) (?:below|above|shown)\b",
        r"(?i)['\"`]<?/?[a-z_]{2,40}>['\"`]? tags?\b|<[a-z_]{2,40}>['\"`]? (?:tags?|blocks?)\b"
        r"|\btags? <[a-z_]{2,40}>",
        # how it has to be come by
        r"(?i)\byou (?:can|may|must|should|will) (?:only )?(?:now )?(?:execute|call|issue|invoke|use)\b[^.\n]{0,40}"
        r"\b(?:commands?|tools?|functions?|actions?)\b|\b(?:tool|function) calls?\b",
        r"(?i)\byou (?:have been|are|were|will be) (?:given|submitted|tasked|provided)\b|\byou have access to\b"
        r"|\bnow begin!|\bhere is (?:your|the) task\b",
        r"(?im)^you(?:'re| are) (?:an? |the )?[^.\n]{0,60}\b(?:agent|assistant|expert|model|ai|engineer|manager)\b",
        r"(?im)^[#*\s]{0,6}(?:[a-z]+ ){0,2}(?:rules|guidelines|requirements|instructions|workflow)\b[*:\s]{0,4}$",
        r"\b(?:MUST|NEVER|ALWAYS|ONLY|SHOULD|NOT|ALL|WILL|CRITICAL|IMPORTANT)\b",
        r"(?i)\bexamples? of (?:an? )?(?:correct|good|bad|valid|invalid)\b"
        r"|<(?:example|important|rules|instructions)\w*>",
    )
)
"""Ways of speaking to a model about its replies and its means."""
