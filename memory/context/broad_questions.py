"""Questions that no words find an answer to, because they are about everything of a time, of what is open, or of
somebody: "what did we do this morning?", "where did we leave off?", "what do you know about Petra?".

They are answered from lines that exist: the first thing that was said in each session and what was learnt in it, from
the day's buffer or from its summary; and from what is filed under a name. Never anything else is given so: a message
that does not ask this gets nothing of it.

The profile of who is talked about: what is known of a person whom a message only names ("draft a mail to Petra").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from memory.context.diversity import diverse
from memory.context.message_intent import tells
from memory.context.rank import Memory, Scored, is_question
from memory.fact import Fact, FactKind, Passage, Sensitivity, State
from memory.language.entities import RELATION, entities
from memory.language.sentences import sentences
from memory.language.time_spans import Span, spans

_DAY: Final = timedelta(days=1)
RECENT: Final = timedelta(days=2)
"""The last days, which tell what is open."""
MAX_TIME_SPAN: Final = timedelta(days=32)
"""A longer time is not told by itself."""
LINES: Final = 12
"""Lines of an answer at most."""
CHARACTERS: Final = 200
"""Characters of a line at most."""

_WE: Final = r"(?:i|we|you|you and i|the team)"
_DOINGS: Final = (
    r"(?:do|did|done|doing|work(?:ed|ing)?(?: on)?|talk(?:ed|ing)?(?: about)?|discuss(?:ed|ing)?|get done|accomplish\w*"
    r"|achieve[ds]?|finish(?:ed)?|cover(?:ed)?|go(?:ing)? on|happen(?:ed|ing)?|learn(?:ed|t)?|decide[ds]?|start(?:ed)?"
    r"|up to)"
)
_OF_A_TIME: Final = re.compile(
    r"^\W*(?:(?:so|and|hey|hi|ok|please|can you|could you|tell me|remind me|summari[sz]e|recap)[\s,]+){0,3}"
    rf"(?:what (?:all )?(?:(?:did|have|had|were|was) {_WE}(?: \w+)? {_DOINGS}|(?:has )?happened|was done|went on"
    rf"|was going on)|what(?:'s| has)? been going|what {_WE}"
    r" (?:did|have done|worked on|talked about|discussed|decided)"
    r"|summari[sz]e|recap(?: of)?|(?:give me |show me )?(?:a |the |an )?(?:summary|recap|overview)(?: of)?)"
    r"(?: (?:here|together|in this project|on this project|exactly|again|so far|earlier|morning|afternoon))*\W*$",
    re.IGNORECASE,
)
"""A question about a time with nothing in it but the time, whose words have been taken out."""

_OPEN: Final = re.compile(
    r"\b(?:where (?:did|had) (?:we|i) (?:leave|left) off|where were we|where do (?:we|i) stand|catch me up"
    rf"|what (?:were|was|am|are) {_WE} (?:just |currently |last )?(?:working on|doing|up to)"
    rf"|what (?:have|had) {_WE} been (?:working on|doing|up to)"
    r"|what(?:'s| is) (?:still )?(?:open|left to do|going on elsewhere)"
    r"|what else (?:is|am i|are we) (?:open|working on)|(?:my|our|the) other (?:open )?sessions)\b",
    re.IGNORECASE,
)

_PERSON: Final = re.compile(
    r"\b(?:who (?:is|was|are)|what (?:do|did) (?:you|we|i) know (?:about|of)|tell me (?:more |something |everything )?"
    r"about|what (?:can you|do you) (?:tell me|remember) about|profile of) "
    r"(?P<name>(?-i:[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?))\s*+[?.!]*+\s*+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class BroadQuestion:
    """What is asked for: everything of a time (``span``), or of somebody (``name``, in lower case). ``still_open``:
    what is being done in other sessions."""

    span: Span | None = None
    name: str = ""
    still_open: bool = False


def whole(text: str, now: datetime) -> BroadQuestion | None:
    """What a message asks for as a whole; None for every other message."""
    if len(text) > CHARACTERS or not text.strip():
        return None
    timed = spans(text, now)
    if timed.spans and _OF_A_TIME.match(timed.rest):
        span = _latest_occurrence(timed.spans[0], now)
        if span is not None and span.begin < now and span.end - span.begin <= MAX_TIME_SPAN:
            return BroadQuestion(span)
    if _OPEN.search(text) and not timed.spans:
        return BroadQuestion(Span(now - RECENT, now + _DAY), still_open=True)
    if (named := _PERSON.search(text)) is not None:
        return BroadQuestion(name=named["name"].lower().removesuffix("'s"))
    return None


def _latest_occurrence(span: Span, now: datetime) -> Span | None:
    """A time as it is meant: without a year, the latest one that has begun ("on 6 November"). None where there is none,
    as on 29 February of most years."""
    if not span.yearly or span.begin < now:
        return replace(span, yearly=False)
    try:
        earlier = span.begin.replace(year=span.begin.year - 1)
    except ValueError:
        return None
    return Span(earlier, earlier + (span.end - span.begin))


def of_a_time(memories: Iterable[Memory], span: Span, session: str, *, still_open: bool = False) -> list[Scored]:
    """The lines of a time, the most telling first: what each session was asked first (where it stands last, too, if it
    may be ``still_open``), then what was learnt in it."""
    inside = [
        each
        for each in memories
        if each.session != session
        and each.sensitivity is Sensitivity.NORMAL
        and span.begin <= each.recorded_at < span.end
    ]
    by_session: dict[str, list[Passage]] = {}
    for each in sorted(inside, key=lambda each: (each.recorded_at, each.id)):
        if (
            isinstance(each, Passage)
            and each.origin.trusted
            and len(each.text.split()) > 3
            and whole(each.text, each.at) is None  # that somebody asked memory is no work
        ):
            by_session.setdefault(each.session, []).append(each)
    first = {passages[0].id: 1.0 for passages in by_session.values()}
    last = {passages[-1].id: 0.9 for passages in by_session.values()} if still_open else {}
    found = []
    for each in inside:
        if isinstance(each, Fact):
            if each.state is State.ACTIVE and each.origin.trusted:
                found.append(Scored(each, 0.8 * each.importance, {"day": each.importance}))
        elif share := max(first.get(each.id, 0.0), last.get(each.id, 0.0)):
            found.append(Scored(each, share, {"day": share}))
    found.sort(key=lambda each: (-each.score, -each.memory.recorded_at.timestamp(), each.id))
    return [_short(each) for each in _without_repeated_lines(found)[:LINES]]


def _without_repeated_lines(found: Iterable[Scored]) -> list[Scored]:
    """The lines without those that say again what a better one says, letter for letter."""
    unique: dict[str, Scored] = {}
    for each in found:
        unique.setdefault("".join(filter(str.isalnum, each.memory.text.casefold())), each)
    return list(unique.values())


def last_day(memories: Iterable[Memory], session: str) -> Span | None:
    """The day on which something was said last in another session, and the one before; None where nothing was."""
    times = [each.recorded_at for each in memories if each.session != session and each.origin.trusted]
    if not times:
        return None
    midnight = max(times).replace(hour=0, minute=0, second=0, microsecond=0)
    return Span(midnight - _DAY, midnight + _DAY)


def about_person(memories: Iterable[Memory], name: str, session: str, now: datetime) -> list[Scored]:
    """What is filed under a name, the weightiest first: facts about them, then what they or others said."""
    found = []
    for each in memories:
        if each.session == session or each.sensitivity is Sensitivity.RESTRICTED:
            continue
        if isinstance(each, Fact):
            if (
                each.state is not State.ACTIVE
                or (each.expires_at and each.expires_at <= now)
                or each.kind is FactKind.TASK
            ):
                continue
            found.append(Scored(each, 0.5 + 0.5 * each.importance, {"person": 1.0}))
        elif not is_question(each):
            own = each.speaker.lower() == name
            found.append(Scored(each, 0.4 if own else 0.3, {"person": 1.0 if own else 0.5}))
    found.sort(key=lambda each: (-each.score, -each.memory.recorded_at.timestamp(), each.id))
    return [_short(each) for each in found[: 2 * LINES]]


def _short(scored: Scored) -> Scored:
    text = " ".join(scored.memory.text.split())
    if len(text) <= CHARACTERS:
        return scored
    short = text[: CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
    if isinstance(scored.memory, Passage):
        return scored._replace(memory=replace(scored.memory, text=short, gaps=()))
    return scored._replace(memory=replace(scored.memory, text=short))


MAX_PROFILE_LINES: Final = 4
"""Lines of a profile at most."""
MAX_CANDIDATE_PASSAGES: Final = 2 * MAX_PROFILE_LINES
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
    return diverse(about_person(found, name, session, now))[:MAX_PROFILE_LINES]


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
