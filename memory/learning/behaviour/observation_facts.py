"""What was observed, said as facts: in words that neither order anything nor repeat a tool's text.

Each observation has a ``subject``, which names it for ever: seen again it is the same fact, only surer. Its confidence
is low and grows with the sessions that bear it out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any, Final

import orjson

from memory.behaviour import Fix, KnownObservation
from memory.fact import Category, FactDraft, FactKind, Origin, Stream
from memory.language.entities import entities
from memory.learning.behaviour.corrected_actions import CorrectedAction
from memory.learning.behaviour.habits import Convention, Habits, StepSequence, Trigger
from memory.learning.behaviour.turns import SessionOutcome
from memory.learning.sensitivity import sensitivity
from memory.scope import Layer

SEQUENCES: Final = 12
TRIGGERS: Final = 8
CONVENTIONS: Final = 12
"""Habits of each sort that a project has as facts, the best supported first."""
LEAST: Final = 0.3
SUREST: Final = 0.7
"""Confidence of what was seen in one session, and the most that watching alone gives."""

_HABIT: Final = "Habit in this project: "
_THEN: Final = ", then "


@dataclass(frozen=True, slots=True)
class ObservationDraft:
    """An observation as a draft of a fact. ``sort`` says which one it is: fix, corrected, sequence, trigger, convention
    or unsolved; ``sessions`` bear it out; ``detail`` is what a list of them shows beside the words."""

    sort: str
    subject: bytes
    draft: FactDraft
    source: bytes
    sessions: int = 1
    detail: dict[str, Any] = field(default_factory=dict)


def confidence(sessions: int, least: float = LEAST) -> float:
    """How sure an observation is that so many sessions bear out."""
    return round(min(SUREST, least + 0.1 * log2(max(sessions, 1))), 3)


def fixed(fix: Fix) -> ObservationDraft:
    """A fix."""
    error = f" with {fix.label}" if fix.label else ""
    text = f"`{fix.failed}` failed{error}. "
    then = " then ".join(fix.between)
    if fix.worked != fix.failed:
        text += (f"After {then}, " if then else "") + f"this worked: `{fix.worked}`"
    else:
        text += f"It worked after {then}"
    keys = b"".join(sorted(key.hash for key in fix.failure.keys))
    subject = _subject("fix", keys.hex(), _words(fix.worked), *map(_words, fix.between))
    origin = Origin.WEB if fix.web else Origin.BEHAVIOUR
    detail = {"failed": fix.failed, "error": fix.error, "between": fix.between, "worked": fix.worked}
    return ObservationDraft("fix", subject, _draft(text, FactKind.HEURISTIC, origin, 0.45), fix.source, detail=detail)


def put_right(each: CorrectedAction) -> ObservationDraft:
    """A correction of an action; what a runtime said in the person's name is a tool's text."""
    if each.refused:
        text = f"The user did not let {each.wrong} be done" + (f": {each.right}" if each.right else "")
        origin = Origin.TOOL if each.right else Origin.BEHAVIOUR
    else:
        text, origin = f"After {each.wrong} the user objected: {each.right}", Origin.BEHAVIOUR
    draft = _draft(text, FactKind.ANTI_PATTERN, origin, 0.5, wrong=each.wrong)
    subject = _subject("corrected", each.family, _words(each.right or each.wrong))
    return ObservationDraft("corrected", subject, draft, each.source, detail={"wrong": each.wrong, "right": each.right})


def habitual(habits: Habits) -> Iterator[ObservationDraft]:
    """The habits of a project."""
    for sequel in habits.sequences[:SEQUENCES]:
        detail = {"steps": sequel.shapes, "sessions": sequel.sessions, "times": sequel.times, "kept": sequel.kept}
        detail |= {"families": sequel.families}
        draft = _draft(words_of(sequel), FactKind.PATTERN, Origin.BEHAVIOUR, confidence(sequel.sessions))
        yield ObservationDraft("sequence", subject_of(sequel), draft, sequel.last.source, sequel.sessions, detail)
    for trigger in habits.triggers[:TRIGGERS]:
        detail = {"when": trigger.when, "then": trigger.shape, "sessions": trigger.sessions}
        detail |= {"times": trigger.times, "occasions": trigger.occasions}
        draft = _draft(words_of(trigger), FactKind.PATTERN, Origin.BEHAVIOUR, confidence(trigger.sessions))
        yield ObservationDraft("trigger", subject_of(trigger), draft, trigger.last.source, trigger.sessions, detail)
    for rule in habits.conventions[:CONVENTIONS]:
        detail = {"rule": f"{rule.question} {rule.answer}", "sessions": rule.sessions}
        detail |= {"times": rule.times, "edits": rule.edits}
        draft = _draft(words_of(rule), FactKind.CONVENTION, Origin.BEHAVIOUR, confidence(rule.sessions))
        yield ObservationDraft("convention", subject_of(rule), draft, rule.last.source, rule.sessions, detail)


def words_of(habit: StepSequence | Trigger | Convention) -> str:
    """A habit as a fact's text."""
    match habit:
        case StepSequence():
            return _HABIT + _THEN.join(map(_quoted, habit.shapes))
        case Trigger():
            return f"{_HABIT}after an {habit.when}, {_quoted(habit.shape)} is run"
        case Convention():
            return f"Convention kept in this project: {habit.question} {habit.answer}"


def within(text: str) -> list[str]:
    """The shorter habits in the text of a longer one: who lets go of the whole does not want to be told its half."""
    steps = text.removeprefix(_HABIT).split(_THEN) if text.startswith(_HABIT) else []
    return [_HABIT + _THEN.join(span) for span in _proper_runs(steps)]


def marks(known: KnownObservation) -> list[str]:
    """What names an observation and the shorter habits in it, whatever words it is told in: a habit's text says how
    its steps were taken most often, and that changes."""
    detail = orjson.loads(known.detail)
    families = detail.get("families") if isinstance(detail, dict) and known.sort == "sequence" else None
    return [mark(known.subject), *(mark(sequence(span)) for span in _proper_runs(families or []))]


def mark(subject: bytes) -> str:
    """A subject as a text that can be buried."""
    return f"observed {subject.hex()}"


def subject_of(habit: StepSequence | Trigger | Convention) -> bytes:
    """What names a habit."""
    match habit:
        case StepSequence():
            return sequence(habit.families)
        case Trigger():
            return _subject("trigger", habit.when, habit.then)
        case Convention():
            return _subject("convention", habit.question, habit.answer)


def _proper_runs(steps: Sequence[str]) -> list[Sequence[str]]:
    """Every run of two or more steps that is shorter than all of them."""
    places = range(len(steps))
    spans = [(first, last) for first in places for last in places if first < last and last - first < len(steps) - 1]
    return [steps[first : last + 1] for first, last in spans]


def sequence(families: Sequence[str]) -> bytes:
    """The subject of a sequence of these steps."""
    return _subject("sequence", *families)


def left_open(ended: SessionOutcome) -> ObservationDraft | None:
    """What a session that was abandoned left unsolved."""
    if ended.unsolved is None:
        return None
    text = f"A session ended while {_quoted(ended.unsolved.shape)} failed"
    draft = _draft(text, FactKind.OBSERVATION, Origin.BEHAVIOUR, LEAST)
    subject = _subject("unsolved", ended.session, ended.unsolved.family)
    return ObservationDraft("unsolved", subject, draft, ended.unsolved.source)


def _draft(text: str, kind: FactKind, origin: Origin, sure: float, wrong: str = "") -> FactDraft:
    return FactDraft(
        text=text,
        kind=kind,
        category=Category.TECHNICAL if kind is FactKind.CONVENTION else Category.WORKFLOWS,
        stream=Stream.PROJECTS if kind in (FactKind.CONVENTION, FactKind.PATTERN) else Stream.TASKS,
        layer=Layer.USER_PROJECT,
        origin=origin,
        confidence=sure,
        importance=0.5 if kind in (FactKind.HEURISTIC, FactKind.ANTI_PATTERN) else 0.4,
        sensitivity=sensitivity(text),
        wrong=wrong,
        entities=entities(text),
    )


def _quoted(shape: str) -> str:
    return shape if shape.startswith(("edit ", "read ")) else f"`{shape}`"


def _words(text: str) -> str:
    return " ".join(re.findall(r"[\w./-]+", text.lower()))


def _subject(*parts: str) -> bytes:
    joined = "\0".join(parts).encode("utf-8", "replace")
    return hashlib.blake2b(joined, digest_size=16).digest()
