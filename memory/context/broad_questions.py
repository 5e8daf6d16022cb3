"""Questions that no words find an answer to, because they are about everything of a time, of what is open, or of
somebody: "what did we do this morning?", "where did we leave off?", "what do you know about Petra?".

They are answered from lines that exist: the first thing that was said in each session and what was learnt in it, from
the day's buffer or from its summary; and from what is filed under a name. Never anything else is given so: a message
that does not ask this gets nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from memory.context.rank import Memory, Scored, is_question
from memory.fact import Fact, FactKind, Passage, Sensitivity, State
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
        span = _latest(timed.spans[0], now)
        if span is not None and span.begin < now and span.end - span.begin <= MAX_TIME_SPAN:
            return BroadQuestion(span)
    if _OPEN.search(text) and not timed.spans:
        return BroadQuestion(Span(now - RECENT, now + _DAY), still_open=True)
    if (named := _PERSON.search(text)) is not None:
        return BroadQuestion(name=named["name"].lower().removesuffix("'s"))
    return None


def _latest(span: Span, now: datetime) -> Span | None:
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
    return [_short(each) for each in _once(found)[:LINES]]


def _once(found: Iterable[Scored]) -> list[Scored]:
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
