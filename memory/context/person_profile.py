"""The profile of who is talked about: what is known of a person whom a message only names ("draft a mail to Petra").

Nothing here answers a question; it stands beside what was found, in a few lines. A name is a person's where a memory
shows it: by a pronoun, by what they are to somebody, by what only people do, or because they spoke.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from memory.context.broad_questions import about_person
from memory.context.diversity import diverse
from memory.context.message_intent import tells
from memory.context.rank import Memory, Scored
from memory.fact import Fact, Passage, Sensitivity
from memory.language.entities import RELATION, entities
from memory.language.sentences import sentences

LINES: Final = 4
"""Lines of a profile at most."""
MAX_CANDIDATE_PASSAGES: Final = 2 * LINES
"""Passages that say something of somebody, of which the best are taken."""
PEOPLE: Final = 2
"""People of one message whose profiles are given."""

_NAME: Final = re.compile(r"[A-Z][a-zà-ÿ'’-]{1,20}(?: [A-Z][a-zà-ÿ'’-]{1,20})?")
_BIDDING: Final = re.compile(
    r"(?:Ask|Tell|Send|Mail|Email|Call|Text|Ping|Message|Invite|Remind|Thank|Write|Give|Show|Help|Meet|Introduce) "
)
"""What stands with a capital before a name and is none of it, where it begins a sentence: "Ask Petra"."""
_NEAR_BEFORE: Final = re.compile(rf"\b{RELATION},? (?:is |called |named )?$", re.IGNORECASE)
_DOES: Final = re.compile(
    r" (?:prefers|likes|loves|hates|dislikes|enjoys|wants|lives|works(?! with\b| without\b)|speaks|thinks|asked"
    r"|told|said|joined|leads|manages"
    r"|is (?:allergic|on (?:leave|vacation|holiday)|away|(?:my|our|his|her|the) (?:\w+ )?(?:lead|manager|boss"
    rf"|owner|engineer|developer|designer|{RELATION})))\b"
    rf"|['’]s (?:birthday|phone|number(?! of\b)|e-?mail|{RELATION})\b",
    re.IGNORECASE,
)
_GOES_BY: Final = re.compile(
    r"[^.?!\n]{0,80}\b(?:he|she|his|her|him)\b|[^.?!\n]{0,120}[.!] (?:he|she)\b", re.IGNORECASE
)
"""A pronoun behind a name, which is its bearer's where the name stands as a person's does: "the Heron service is down,
he said" has one, too."""
_AS_A_PERSON: Final = re.compile(
    r"(?:^|[.!?:;,\n]|\b(?:with|to|for|from|and|met|ask|asked|tell|told|mail|call|called|saw|invited?|hired|know|knows"
    r"|thank|by the way|btw|so|also))\s*$",
    re.IGNORECASE,
)
_BESIDE: Final = 40
"""Characters before a name in which it may be said what its bearer is to somebody."""
_BEHIND: Final = 160
"""Characters behind a name in which it may be said what only people do."""
_GOES_ON: Final = re.compile(r"(?:he|she|they|his|her|their)\b", re.IGNORECASE)


def talked_of(text: str) -> tuple[str, ...]:
    """The names in a message that may be people's, in lower case."""
    names = (_BIDDING.sub("", name).removesuffix("'s").lower() for name in entities(text) if _NAME.fullmatch(name))
    return tuple(dict.fromkeys(names))[:PEOPLE]


def profile(memories: Sequence[Memory], name: str, session: str, now: datetime) -> list[Scored]:
    """What is known of a person, best first; nothing where no memory shows that the name is a person's. Of
    ``memories``, which the name stands in, the newest are read first."""
    if not any(
        (isinstance(each, Passage) and each.speaker.lower() == name) or _is_person(each.text, name) for each in memories
    ):
        return []
    found: list[Memory] = []
    passages_left = 0
    for each in sorted(memories, key=lambda each: each.recorded_at, reverse=True):
        if each.sensitivity is not Sensitivity.NORMAL or not each.origin.trusted:
            continue
        if isinstance(each, Fact):
            found.append(each)
        elif passages_left < MAX_CANDIDATE_PASSAGES and tells(each.text) and (text := _about(each.text, name)):
            found.append(replace(each, text=text, gaps=()))
            passages_left += 1
    return diverse(about_person(found, name, session, now))[:LINES]


def _is_person(text: str, name: str) -> bool:
    """Whether a text shows that a name is a person's: only what stands right beside the name is read."""
    for found in _named(name).finditer(text):
        before, behind = (
            text[max(found.start() - _BESIDE, 0) : found.start()],
            text[found.end() : found.end() + _BEHIND],
        )
        if _DOES.match(behind) or _NEAR_BEFORE.search(before):
            return True
        if _GOES_BY.match(behind) and _AS_A_PERSON.search(before):
            return True
    return False


@lru_cache(maxsize=256)
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)


@lru_cache(maxsize=256)
def _subject(name: str) -> re.Pattern[str]:
    """A sentence that begins with a name, or with what its bearer is to somebody."""
    return re.compile(
        r"\W*(?:(?:by the way|btw|so|and|also|yes),? )?(?:(?:my|our|his|her|their|the) (?:[\w-]{1,20} ){0,3})?"
        rf"{re.escape(name)}\b",
        re.IGNORECASE,
    )


def _about(text: str, name: str) -> str:
    """The sentences of a text that say something of somebody, and those that go on about them."""
    lines: list[str] = []
    on_it = False
    for sentence in sentences(text):
        # Most sentences do not name them: that is seen sooner than that they say nothing of them.
        named = name in sentence.lower()
        says = named and (_subject(name).match(sentence) or _is_person(sentence, name))
        on_it = bool(says or (on_it and _GOES_ON.match(sentence))) and tells(sentence)
        if on_it:
            lines.append(sentence)
    return " ".join(lines)
