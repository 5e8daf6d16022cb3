"""What a sentence says has changed: "switched from A to B", "B instead of A", "no longer A", "Ida replaced Bo"."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory.language.content import Stems, content

_VERBS = (
    r"switch(?:e[sd]|ing)?|mov(?:e[sd]?|ing)|migrat(?:e[sd]?|ing)|chang(?:e[sd]?|ing)|(?<!\bi )went|renamed|rewrote|"
    r"rewritten|upgrad(?:e[sd]?|ing)|downgrad(?:e[sd]?|ing)|convert(?:s|ed|ing)?|raised|lowered|increased|decreased|"
    r"reduced|bumped"
)
_FROM_TO = re.compile(
    r"\b(?:"
    + _VERBS
    + r") (?:\S{1,40} ){0,4}?from (?P<old>(?:[^,.;]|\.(?=\w)){1,80}?) to (?P<new>(?:[^,.;]|\.(?=\w)){1,80})|"
    r"\b(?P<new2>(?:[^,.;]|\.(?=\w)){1,80}?) (?:instead of|rather than) (?P<old2>(?:[^,.;]|\.(?=\w)){1,80})|"
    r"\breplaced (?P<old3>(?:[^,.;]|\.(?=\w)){1,60}?) (?:with|by) (?P<new3>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"\b(?:no longer|(?:stopped|quit)(?= \w{2,20}ing\b)) (?:\w{1,15} ){0,2}?(?P<old4>(?:[^,.;]|\.(?=\w)){1,80}?)"
    r"(?= (?:because|since|so|as of|due to|"
    r"and (?:now |we |i |have ){0,3}(?:us|switch|mov|migrat|replac|chang)\w{0,6})\b|[,.;]|$)|"
    r"\b(?:"
    + _VERBS
    + r") (?:\S{1,40} ){0,4}?to (?P<new5>(?:[^,.;]|\.(?=\w)){1,60}?) from (?P<old5>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"\brenamed (?P<old6>(?:[^,.;]|\.(?=\w)){1,60}?) (?:to|as) (?P<new6>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"^(?!(?:we|i|they|he|she|you|it) )(?P<new7>(?:[^,.;]|\.(?=\w)){1,60}?) (?:has |have |now )?(?:"
    r"(?:replaced|replaces|succeeded|succeeds)(?! (?:.{1,60} )?(?:with|by) )|"
    r"(?:took|takes|taken) over (?:\S{1,40} ){0,5}?from) (?P<old7>(?:[^,.;]|\.(?=\w)){1,60}?)(?= as |[,.;]|$)|"
    r"^(?!(?:we|i|they|he|she|you|it) )(?P<old8>(?:[^,.;]|\.(?=\w)){1,60}?) (?:has |have |now )?(?:handed|passed) "
    r"(?:\S{1,40} ){0,6}?to (?P<new8>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"\b(?:(?:do|does|did)(?:n't| not)|(?:(?:am|is|are|'m|'s|'re) not|(?:is|are)n't)) "
    r"(?P<old9>(?:[^,.;]|\.(?=\w)){1,60}?) any ?more(?=[,.;!]|$)|"
    r"^(?P<old10>(?:[^,.;]|\.(?=\w)){1,60}?) (?:has been|have been|was|were|is|are|got) (?:now )?"
    r"(?:replaced|superseded|succeeded) (?:by|with) (?P<new10>(?:[^,.;]|\.(?=\w)){1,60})"
)
_PAIRS = ("", "2", "3", "4", "5", "6", "7", "8", "9", "10")
"""Behind the names of both sides in each of these forms; the fourth and the ninth have no new one."""
_ENDING = frozenset(("new", "new3", "new6", "new8", "new10", "old2", "old5", "old7"))
"""Sides behind which the sentence may go on."""
_BEHIND = re.compile(
    r"(?<=\S) (?:for|in|on|at|as|because|since|so|when|while|after|before|with|by|last|this|yesterday|now|today)\b.*$"
)
_UP_TO_VERB = re.compile(
    r"^.{0,80}?\b(?:uses?|used|using|needs?|wants?|prefers?|with|is|are|be|has|have|runs?|writes?|takes?)\b (?=\S)"
)
"""What stands before "B" in "we use B instead of A", and is nothing that came."""
_NOT = re.compile(r"(?:n't|\b(?:not|never|no plans?|refuse[sd]?|against))\b(?! (?:only|just)\b)")
_CLAUSE = re.compile(r"[,;:.–—]|\b(?:so|but|and|because)\b")
# One of these stands in whatever the patterns match; to look for them is much cheaper.
_BESIDE_OLD = (
    "from ", "instead of ", "rather than ", "replace", "no longer ", "renamed ", "succeed", "handed ", "passed ",
    "stopped ", "quit ", "anymore", "any more", "supersed",
)  # fmt: skip


class StatedChange(NamedTuple):
    """The stems of what has gone and of what came for it, either of which may be empty. ``hands_over``: somebody took
    another one's place, who may be much else besides."""

    left: Stems
    came: Stems
    hands_over: bool


def changes(text: str) -> tuple[StatedChange, ...]:
    """The changes that a sentence in lower case tells of; "we have not switched" tells of none."""
    if not any(phrase in text for phrase in _BESIDE_OLD):
        return ()
    return tuple(
        StatedChange(_side(each, "old"), _side(each, "new"), bool(each["old7"] or each["old8"] or each["old10"]))
        for each in _FROM_TO.finditer(text)
        if not _NOT.search(_CLAUSE.split(text[: each.end("new2") if each["new2"] else each.start()])[-1])
    )


def _side(found: re.Match[str], side: str) -> Stems:
    """What stands on one side of a change, in whichever form it was found."""
    groups = found.groupdict()
    pair, text = next(((pair, text) for pair in _PAIRS if (text := groups.get(side + pair))), ("", ""))
    if side + pair == "new2":
        return content(_UP_TO_VERB.sub("", text)) or content(text)
    return (content(_BEHIND.sub("", text)) if side + pair in _ENDING else frozenset()) or content(text)
