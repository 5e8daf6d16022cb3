"""Do two sentences say things that cannot both be so, and does the newer one say that something changed?

Heuristics on stems: opposite polarity about the same thing, other numbers in the same frame, another value for the
same attribute, sides swapped, and the words of change ("no longer", "switched from … to"). It knows no world: what
it cannot see in the words, it does not see, and its verdict carries how sure it is.

Whether two texts clash, looked at once in a night.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from memory.language.calendar import MONTHS, WEEKDAYS
from memory.language.claim import Attribute, Claim
from memory.language.conditions import apart, counts, narrower, of_one_form, of_others
from memory.language.narrowing import (
    MANNER,
    VERBS,
    goes_back,
    holds_what_has_gone,
    more_than_held,
    named_after,
    narrowed,
    one_of_listed,
)
from memory.language.polarity import on_one_side
from memory.language.words import Stems, stem, vocabulary


@dataclass(frozen=True, slots=True)
class ContradictionVerdict:
    """``clash``: how sure that both cannot hold; ``change``: how sure that the newer one says the older has ended.
    Both in 0..1. ``why`` names the ground in a word, empty where there is none; ``part`` says that the newer one
    is about a part only of what the older one is about, so that it cannot end that."""

    clash: float = 0.0
    change: float = 0.0
    why: str = ""
    part: bool = False


NONE = ContradictionVerdict()
WHO_LEFT: Final = "left"
LEFT = ContradictionVerdict(0.7, 0.3, WHO_LEFT)
"""Who has left does nothing any more, and may still be spoken of."""
SCOPED = ContradictionVerdict(why="scoped")
_HOURS = vocabulary("am pm")
_MORE = vocabulary("support supports accept accepts allow allows offer offers also")
_AT = frozenset(("on", "at"))
_DAYS = frozenset(stem(word) for word in (*MONTHS, *WEEKDAYS, "weekend", "day"))
_NOT_BESIDE_PLACE, _NOT_BARE = ("name", "who"), ("where", "who")
_VERB_ATTRIBUTES = {
    **dict.fromkeys(vocabulary("hosted based located run lives live deployed runs"), "where"),
    **dict.fromkeys(vocabulary("owned led managed maintained"), "who"),
    **dict.fromkeys(vocabulary("due scheduled"), "when"),
    "written": "language",
    "called": "name",
    **dict.fromkeys(vocabulary("opens open starts start begins begin"), "start"),
    **dict.fromkeys(vocabulary("closes close ends end expires expire"), "end"),
    **dict.fromkeys(vocabulary("costs cost"), "cost"),
}
"""Of which attribute a verb before a value tells."""
NEGATION = "negation"
"""Why two statements clash of which one denies what the other says."""
_GUESSED = ("number", NEGATION)
"""Grounds that look at a sentence as a whole, and do not know what it is about."""
_SIDED = (NEGATION, "change", "ended")
"""Grounds that say that one sentence rejects what the other stands for."""
EXCEPTION = 0.4
"""How sure it can be at most that a claim ends another which is wider, or narrower, than itself."""
NAMED = ("change", "ended")
"""Grounds that name what has gone: it has, whatever holds it."""


def compare(older: str, newer: str) -> ContradictionVerdict:
    """What the newer sentence means for the older one.

    Claims that each hold in circumstances of their own ("in staging", "in production") do not clash (``scoped``); one
    that narrows the other down ("we no longer use tabs in Go", "deploys of the docs") may contradict it and does not
    end it. One that is wider ends what it names ("from Friday to Monday"), and no exception that holds something else.
    What somebody else is said to say, and what is only asked, to come or so for a while, ends nothing.
    """
    return compare_claims(_claim(older), _claim(newer))


def compare_claims(older: Claim, newer: Claim) -> ContradictionVerdict:
    """What :func:`compare` tells of two sentences that are read already."""
    verdict = _verdict_on(older, newer)
    if not verdict.clash:
        left = newer.leavers
        return LEFT if left and not older.leavers and not left.isdisjoint(older.words) else verdict
    if verdict.why in _SIDED and on_one_side(older.sides, newer.sides):
        return NONE
    # What is read in the least time comes first.
    if verdict.why == "number" and of_one_form(older.words, newer.words):
        return SCOPED
    if verdict.why in _GUESSED and of_others(older.names, newer.names):
        return SCOPED
    if apart(older.circumstances, newer.circumstances, days=verdict.why == "number"):
        return SCOPED
    if _is_about_a_part(older, newer):
        return replace(verdict, change=min(verdict.change, EXCEPTION), part=True)
    if verdict.change > EXCEPTION:
        unsure = newer.tentative or (verdict.why not in NAMED and _is_about_a_part(newer, older))
        # "We now support 20" takes 18 away from nobody.
        unsure = unsure or (verdict.why == "number" and not _MORE.isdisjoint(newer.words))
        return replace(verdict, change=EXCEPTION) if unsure else verdict
    return verdict


def settles(text: str, rival: str) -> bool:
    """Whether a claim that is said again, or confirmed, ends another one which contradicts it. Where either is about a
    part only of what the other is about, each holds for what it names, however often it is said; and what somebody
    else is said to say, what is only asked, to come or so for a while ends nothing that is said to be so."""
    return not scoped(text, rival) and (not _claim(text).tentative or _claim(rival).tentative)


@lru_cache(maxsize=2048)
def scoped(one: str, other: str) -> bool:
    """Whether either of two claims is about a part only of what the other is about. Of the few that are at odds it is
    asked again with each page that is made."""
    first, second = _claim(one), _claim(other)
    if _is_about_a_part(first, second) or _is_about_a_part(second, first):
        return True
    return compare_claims(first, second).part or compare_claims(second, first).part


def _is_about_a_part(whole: Claim, part: Claim) -> bool:
    """Whether one claim is about a part only of what the other is about, by its words or by its circumstances."""
    beyond = {group: names for group, names in part.circumstances.items() if not names <= whole.content}
    return narrowed(whole, part) or narrower(whole.circumstances, beyond)


@lru_cache(maxsize=2048)
def _claim(text: str) -> Claim:
    return Claim(text)


def _verdict_on(old: Claim, new: Claim) -> ContradictionVerdict:
    """The verdict on two sentences, whatever the circumstances."""
    if not (shared := old.content & new.content):
        # "I moved to Berlin" has no word of "I live in Ghent"; it may be no place that one moves to.
        return _lives_elsewhere(old, new)
    cover = len(shared) / min(len(old.content), len(new.content))
    if new.moves and (moved := _switch_verdict(old, new)) is not None:
        return moved
    if holds_what_has_gone(old, new):
        return ContradictionVerdict(0.75, 0.7 if goes_back(new) else 0.3, "back")
    if (swapped := _swapped(old, new)) is not None:
        return ContradictionVerdict(swapped, _change_certainty(old, new), "swapped")
    if _denies_another(old, new):
        return NONE
    if cover >= 0.6 and len(shared) >= 2 and old.affirms != new.affirms:
        part = any(not came and more_than_held(old, left, new) for left, came in new.moves)
        change = EXCEPTION if part else max(_change_certainty(old, new), 0.3)
        return ContradictionVerdict(min(0.9, 0.35 + 0.55 * cover), change, NEGATION, part)
    if _used_instead(old, new):
        return ContradictionVerdict(0.75, 0.6, "value")
    if old.settles or new.settles:
        return _lives_elsewhere(old, new)
    if valued := _certainty_of_other_value(old, new):
        change = max(_change_certainty(old, new), 0.35)
        return ContradictionVerdict(
            valued, min(change, EXCEPTION) if old.of_a_kind and new.of_a_kind else change, "value"
        )
    if old.numbers and new.numbers and old.numbers.isdisjoint(new.numbers):
        alike = _framed_alike(old, new, shared)
        if alike >= 0.6:
            return ContradictionVerdict(min(0.85, 0.3 + 0.55 * alike), max(_change_certainty(old, new), 0.3), "number")
    return NONE


def _framed_alike(old: Claim, new: Claim, shared: Stems) -> float:
    """Which share of what both are about beside their numbers they have in common."""
    # That it has changed, and how it goes on, is no part of what both are about.
    verbs = VERBS | MANNER if new.tells_of_change else frozenset[str]()
    first, second = len(old.content - old.counted - verbs), len(new.content - new.counted - verbs)
    common = len(shared - old.counted - verbs)
    return common / (first + second - common) if first and second else 0.0


def _change_certainty(old: Claim, new: Claim) -> float:
    """How sure it is that something has changed, by the words of change alone."""
    if not new.tells_of_change:
        return 0.0
    return 0.3 if old.tells_of_change and not goes_back(new) else 0.6


def _switch_verdict(old: Claim, new: Claim) -> ContradictionVerdict | None:
    """ "Switched from A to B", where A is what the older sentence holds."""
    for left, came in new.moves:
        if len(left & old.held) < 0.6 * len(left):
            continue
        gone = left - VERBS or left
        content = new.content - gone - came - VERBS
        if new.hands_over and content and not content & old.held:
            continue
        if named_after(old, gone, new) or (new.hands_over and not content):
            return ContradictionVerdict(0.65, EXCEPTION, "named", part=True)
        if more_than_held(old, gone, new) or one_of_listed(old, gone, new):
            return ContradictionVerdict(0.75, EXCEPTION, "ended" if not came else "change", part=True)
        if not came:
            # "I'm not a vegetarian any more" ends nobody else's being one.
            return ContradictionVerdict(0.8, 0.85, "ended") if not _is_about_another_person(old, gone, new) else NONE
        if not came <= old.held:
            return ContradictionVerdict(0.85, 0.9, "change")
    return None


def _is_about_another_person(old: Claim, gone: Stems, new: Claim) -> bool:
    """Whether one claim is about whoever says it, and the other about somebody else."""
    if new.of_me is old.of_me:
        return False
    other = old if new.of_me else new
    attribute = other.attribute
    # "Heron is our service" is about what has gone from "I am not on Heron any more".
    return other.of_another and (attribute is None or stem(attribute.before[0]) not in gone)


def _lives_elsewhere(old: Claim, new: Claim) -> ContradictionVerdict:
    """ "I live in Ghent", "I moved to Berlin": it may be no place that one moves to."""
    lives = _certainty_of_other_value(old, new)
    return ContradictionVerdict(lives, EXCEPTION, "value") if lives else NONE


def _denies_another(old: Claim, new: Claim) -> bool:
    """Whether one denies of a thing another number than the other one says it has: "is 8080", "is not 9090"."""
    if old.affirms is new.affirms or not old.numbers or not new.numbers or not old.numbers.isdisjoint(new.numbers):
        return False
    statement, denial = (old, new) if old.affirms else (new, old)
    held = statement.attribute
    return held is not None and bool(held.subject) and held.subject <= denial.content and any(map(counts, held.value))


def _used_instead(old: Claim, new: Claim) -> bool:
    """ "We use A for tests", "we now use B for tests"."""
    first, second = old.purpose, new.purpose
    if first is None or second is None or "now" not in new.words or not first.subject or first.value & second.value:
        return False
    return first.subject <= second.subject or second.subject <= first.subject


def _only_one_is_day(one: Attribute, other: Attribute) -> bool:
    """Whether only one of two values is a day: "on Mondays" beside "at 10" or "on AWS"."""
    days = [bool(each.value & _DAYS) for each in (one, other)]
    if days[0] is days[1]:
        return False
    no_day = other if days[0] else one
    return {one.before[-1], other.before[-1]} <= _AT or all(counts(each) or each in _HOURS for each in no_day.value)


def _verbs_differ(one: Attribute, other: Attribute) -> bool:
    """Whether two values are told by verbs that tell of different attributes: "is on Monday" beside "is called Falcon",
    "is hosted on" beside "is owned by"."""
    kinds = [
        next((_VERB_ATTRIBUTES[word] for word in reversed(each.before[-3:]) if word in _VERB_ATTRIBUTES), "")
        for each in (one, other)
    ]
    if not any(kinds):
        # "The database is Postgres", "the database is in Oslo"; "the meeting is at 10", "the meeting is in Oslo".
        counted = [any(map(counts, each.value)) for each in (one, other)]
        return one.placed is not other.placed or (one.placed and counted[0] is not counted[1])
    if all(kinds):
        return kinds[0] != kinds[1]
    # "The app is on AWS" may tell where it is hosted, and "the app is Loom" what it is called.
    bare = one if not kinds[0] else other
    return "".join(kinds) in (_NOT_BESIDE_PLACE if bare.placed else _NOT_BARE)


def _swapped(old: Claim, new: Claim) -> float | None:
    """ "A over B" against "B over A"."""
    if old.over is None or new.over is None:
        return None
    (a, b), (c, d) = old.over, new.over
    return 0.85 if b & c and a & d and not b & d else None


def _certainty_of_other_value(old: Claim, new: Claim) -> float:
    """The same attribute of the same thing with another value: how sure."""
    first, second = old.attribute, new.attribute
    if first is None or second is None:
        return 0.0
    if not first.subject or not second.subject:
        # "I live in Berlin": the subject is a pronoun, the attribute is the verb.
        if (
            first.before[:1] != second.before[:1]
            or first.before[-2:] != second.before[-2:]
            or first.before[-1] in ("is", "are", "am", "was", "were")
        ):
            return 0.0
        alike = 1.0
    else:
        alike = len(first.subject & second.subject) / len(first.subject | second.subject)
    if alike < 0.6 or not first.value or not second.value or first.value & second.value:
        return 0.0
    if (first.measured and second.named) or (first.named and second.measured):
        # "The database is Postgres", "the database is 14 GB now".
        return 0.0
    if _only_one_is_day(first, second) or _verbs_differ(first, second):
        return 0.0
    return 0.3 + 0.45 * alike


CLASH: Final = 0.6
"""How sure it must be that both cannot hold."""


CLAIMS: Final = 16384
"""Texts of which it is kept what they claim: what is new is like what was new before, all through an owner's nights."""


@lru_cache(maxsize=16384)
def compared(older: str, newer: str) -> ContradictionVerdict:
    """What the newer text means for the older one."""
    return compare_claims(_contradiction_cache_claim(older), _contradiction_cache_claim(newer))


@lru_cache(maxsize=CLAIMS)
def _contradiction_cache_claim(text: str) -> Claim:
    return Claim(text)


def clashing(one: str, other: str) -> bool:
    """Whether either of two texts contradicts the other, whichever is the newer one."""
    return compared(one, other).clash >= CLASH or compared(other, one).clash >= CLASH
