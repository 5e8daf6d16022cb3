"""Do two sentences say things that cannot both be so, and does the newer one say that something changed?

Heuristics on stems: opposite polarity about the same thing, other numbers in the same frame, another value for the
same attribute, sides swapped, and the words of change ("no longer", "switched from … to"). It knows no world: what
it cannot see in the words, it does not see, and its verdict carries how sure it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from memory.language.scopes import TEXTS, apart, counts, narrower, of_one_form, of_others
from memory.language.sides import on_one_side
from memory.language.vocabulary import vocabulary
from memory.language.words import STOP, stem, words


@dataclass(frozen=True, slots=True)
class Verdict:
    """``clash``: how sure that both cannot hold; ``change``: how sure that the newer one says the older has ended.
    Both in 0..1. ``why`` names the ground in a word, empty where there is none."""

    clash: float = 0.0
    change: float = 0.0
    why: str = ""


NONE = Verdict()
SCOPED = Verdict(why="scoped")
_GUESSED = ("number", "negation")
"""Grounds that look at a sentence as a whole, and do not know what it is about."""
_SIDED = ("negation", "change", "ended")
"""Grounds that say that one sentence rejects what the other stands for."""
EXCEPTION = 0.4
"""How sure it can be at most that what only narrows a claim down ends it."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|"
    r"shouldn't|mustn't|wouldn't|hardly|stop(?:ped)?|avoid(?:s|ing)?|against|nicht|kein\w{0,2}|nie)\b"
)
# "Use tabs, not spaces" says what it says of tabs.
_CONTRAST = re.compile(r",\s*(?:and |but )?not [^,.;:]{1,60}(?=[,.;:!]|$)")
_DISLIKE = re.compile(
    r"\b(?:hate|dislike|loathe|detest|despise|can't stand|cannot stand|refuse|oppose|reject|ban(?:ned)?|"
    r"forbid(?:den)?|disable[ds]?)\w{0,2}\b"
)
_LIKE = re.compile(r"\b(?:like|love|enjoy|prefer|adore|favou?r|want|support|allow|enable)\w{0,2}\b")
_CHANGE = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|instead of|instead|rather than|from now on|as of|switched|moved|"
    r"migrated|changed|replaced|renamed|upgraded|downgraded|dropped|stopped|quit|used to|now|new|turned out|"
    r"actually|correction|scrap that|changed my mind|going forward|deprecated|removed|nicht mehr|ab jetzt|statt)\b"
)
_FROM_TO = re.compile(
    r"\b(?:switched|switching|moved|moving|migrated|migrating|changed|changing|went|renamed|upgraded|downgraded|"
    r"converted) (?:\S{1,40} ){0,4}?from (?P<old>[^,.;]{1,80}?) to (?P<new>[^,.;]{1,80})|"
    r"\b(?P<new2>[^,.;]{1,80}?) (?:instead of|rather than) (?P<old2>[^,.;]{1,80})|"
    r"\breplaced (?P<old3>[^,.;]{1,60}?) (?:with|by) (?P<new3>[^,.;]{1,60})|"
    r"\bno longer (?:\w{1,15} ){0,2}?(?P<old4>[^,.;]{1,80})"
)
_NUMBER = re.compile(r"(?<![\w.])[$€£]?\d{1,20}(?:[.,:/-]\d{1,20}){0,6}%?(?![\w])")
_OVER = re.compile(r"(?P<a>[^,.;]{1,80}?) (?:over|instead of|rather than) (?P<b>[^,.;]{1,80})")
# One of these stands in whatever the patterns match; to look for them is much cheaper.
_BESIDE_OLD = ("from ", "instead of ", "rather than ", "replaced ", "no longer ")
_BETWEEN = (" over ", " instead of ", " rather than ")
# Attributes of which a thing has one at a time.
_COPULA = re.compile(
    r"^(?P<subject>.{2,100}?)\b(?:is|are|was|were|=|lives? (?:in|at|on)|runs? on|works? (?:at|for|as)|is called|"
    r"listens? on|costs?|starts? (?:at|on)|ends? (?:at|on)|defaults? to|should be|must be|will be|heiße|heißt|"
    r"ist)\b(?P<value>.{1,160})$"
)
_NUMBER_WORDS = vocabulary(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand"
)
_SWEEPING = vocabulary("currently now actually always usually really also just still only very")


def compare(older: str, newer: str) -> Verdict:
    """What the newer sentence means for the older one.

    Claims that each hold in circumstances of their own ("in staging", "in production") do not clash (``scoped``); one
    that narrows the other down ("we no longer use tabs in Go") may contradict it and does not end it.
    """
    verdict = _compared(older[:600], newer[:600])
    if not verdict.clash:
        return verdict
    if verdict.why in _SIDED and on_one_side(older[:600], newer[:600]):
        return NONE
    if apart(older[:600], newer[:600]) or (verdict.why in _GUESSED and of_others(older[:600], newer[:600])):
        return SCOPED
    if verdict.why == "number" and of_one_form(older[:600], newer[:600]):
        return SCOPED
    if verdict.change > EXCEPTION and narrower(older[:600], newer[:600]):
        return replace(verdict, change=EXCEPTION)
    return verdict


def _compared(older: str, newer: str) -> Verdict:
    """The verdict on two sentences, whatever the circumstances."""
    old, new = older.lower().replace("’", "'"), newer.lower().replace("’", "'")
    old_stems, new_stems = _content(old), _content(new)
    if not old_stems or not new_stems:
        return NONE
    shared = old_stems & new_stems
    if not shared:
        return NONE
    cover = len(shared) / min(len(old_stems), len(new_stems))
    change = (0.3 if _tells_of_change(old) else 0.6) if _tells_of_change(new) else 0.0

    if (moved := _moved(old_stems, new)) is not None:
        return moved
    if (swapped := _swapped(old, new)) is not None:
        return Verdict(swapped, change, "swapped")
    if cover >= 0.6 and len(shared) >= 2 and _polarity(old) != _polarity(new):
        return Verdict(min(0.9, 0.35 + 0.55 * cover), max(change, 0.3), "negation")
    valued = _valued(old, new)
    if valued:
        return Verdict(valued, max(change, 0.35), "value")
    numbers_old, numbers_new = _numbers(old), _numbers(new)
    if numbers_old and numbers_new and numbers_old.isdisjoint(numbers_new):
        frame_old, frame_new = _frame(old), _frame(new)
        if frame_old and frame_new:
            alike = len(frame_old & frame_new) / len(frame_old | frame_new)
            if alike >= 0.6:
                return Verdict(min(0.85, 0.3 + 0.55 * alike), max(change, 0.3), "number")
    return NONE


@lru_cache(maxsize=TEXTS)
def _tells_of_change(text: str) -> bool:
    return _CHANGE.search(text) is not None


@lru_cache(maxsize=TEXTS)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


@lru_cache(maxsize=TEXTS)
def _claim(text: str) -> re.Match[str] | None:
    """A claim that an attribute of something has a value."""
    return _COPULA.match(text.strip(" .!"))


@lru_cache(maxsize=TEXTS)
def _holds(text: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in text for phrase in phrases)


@lru_cache(maxsize=TEXTS)
def _content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP and word not in _SWEEPING)


@lru_cache(maxsize=TEXTS)
def _frame(text: str) -> frozenset[str]:
    """The content without its numbers."""
    return frozenset(each for each in _content(text) if not counts(each) and each not in _NUMBER_WORDS)


@lru_cache(maxsize=TEXTS)
def _polarity(text: str) -> bool:
    """Whether the sentence affirms; two negations affirm."""
    text = _CONTRAST.sub("", text)
    negative = len(_NEGATION.findall(text)) % 2 == 1
    averse = bool(_DISLIKE.search(text)) and not _LIKE.search(_NEGATION.sub("", _DISLIKE.sub("", text)))
    return negative == averse


def _moved(old_stems: frozenset[str], new: str) -> Verdict | None:
    """ "Switched from A to B", where A is what the older sentence holds."""
    if not _holds(new, _BESIDE_OLD):
        return None
    for found in _FROM_TO.finditer(new):
        came = _content(found["new"] or found["new2"] or found["new3"] or "")
        gone = _content(found["old"] or found["old2"] or found["old3"] or found["old4"]) - came
        if not gone or len(gone & old_stems) < 0.6 * len(gone):
            continue
        if not came:
            return Verdict(0.8, 0.85, "ended")
        if not came <= old_stems:
            return Verdict(0.85, 0.9, "change")
    return None


def _swapped(old: str, new: str) -> float | None:
    """ "A over B" against "B over A"."""
    if not (_holds(old, _BETWEEN) and _holds(new, _BETWEEN)):
        return None
    first, second = _OVER.search(old), _OVER.search(new)
    if not first or not second:
        return None
    a, b, c, d = (_content(side) for side in (first["a"], first["b"], second["a"], second["b"]))
    return 0.85 if b & c and a & d and not b & d else None


def _valued(old: str, new: str) -> float:
    """The same attribute of the same thing with another value: how sure."""
    first, second = _claim(old), _claim(new)
    if not first or not second:
        return 0.0
    subject_old, subject_new = _content(first["subject"]), _content(second["subject"])
    if not subject_old or not subject_new:
        # "I live in Berlin": the subject is a pronoun, the attribute is the verb.
        verb_old, verb_new = old[: first.start("value")].split(), new[: second.start("value")].split()
        if (
            verb_old[:1] != verb_new[:1]
            or verb_old[-2:] != verb_new[-2:]
            or verb_old[-1] in ("is", "are", "am", "was", "were")
        ):
            return 0.0
        alike = 1.0
    else:
        alike = len(subject_old & subject_new) / len(subject_old | subject_new)
    value_old, value_new = _content(first["value"]), _content(second["value"])
    if alike < 0.6 or not value_old or not value_new or value_old & value_new:
        return 0.0
    return 0.3 + 0.45 * alike
