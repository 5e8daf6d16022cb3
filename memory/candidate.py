"""A candidate: what a person may approve for others, put forward by a night or by whoever watches how work is done.

Nothing that is learnt becomes a rule for others by itself. It is put forward with its evidence, and waits for the
person whose sessions bear it out: knowledge for all who work on a project or in an organisation, a skill, or that a
skill be retired.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from memory.scope import Layer

AGAIN: Final = 2.0
"""How many times the evidence that was there when it was rejected brings a candidate back."""


class CandidateKind(StrEnum):
    """What is put forward. ``text`` is a sentence of knowledge, the whole SKILL.md of a skill that is to be written or
    retired, a line of a shared file that somebody wrote, changed or deleted, or one that a project's repository has, as
    others committed it."""

    KNOWLEDGE = "knowledge"
    SKILL = "skill"
    RETIREMENT = "retirement"
    LINE = "line"
    PROPOSED = "proposed"


class CandidateState(StrEnum):
    """What has become of it. One that was deferred waits again as soon as another session bears it out."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    DEFERRED = "deferred"


class ImportOutcome(StrEnum):
    """What becomes of a candidate that comes from elsewhere. One is ``GONE`` where a fact that bore it out is not here
    (any more): it goes with what it was drawn from."""

    TAKEN = "taken"
    KNOWN = "known"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is put forward.

    ``id`` is its id where it is new. ``mark`` says what it is, so that it is the same one when it is put forward again:
    the id of the fact that says it, or a name that does not change while the evidence grows. ``what`` is the noun of
    the evidence ("correction"), of which there are ``sources`` in ``sessions`` sessions; ``evidence`` are the ids of
    the facts that bear it out: with one of them forgotten, it goes. ``layer`` is who shall have it: project or org.
    ``again`` times the evidence brings it back after it was rejected.
    """

    id: str
    kind: CandidateKind
    mark: str
    title: str
    text: str
    what: str
    sources: int
    sessions: int
    evidence: tuple[str, ...]
    layer: Layer = Layer.PROJECT
    again: float = AGAIN

    @property
    def why(self) -> str:
        """The evidence in a few words."""
        told = self.kind is CandidateKind.PROPOSED
        return self.what if told else because(self.sources, self.what, self.sessions)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What was put forward, and what has become of it.

    ``owner`` is whose sessions bear it out: only they see it, and decide, until they have submitted it.
    ``submitted_to`` is then the owner of what their organisation shares, whose maintainers decide; ``submitted_by``
    says who did, and ``submitted_at`` when. ``reason`` is what the person said when they decided, and ``decided_by``
    who that was; ``sources_then`` and ``sessions_then`` what there was for it at that time; ``fact`` is the shared fact
    that it became.
    """

    # What the others mean is said at `Proposal`.
    id: str
    owner: str
    kind: CandidateKind
    mark: str
    title: str
    text: str
    what: str
    sources: int
    sessions: int
    layer: Layer
    made_at: datetime
    evidence: tuple[str, ...] = ()
    state: CandidateState = CandidateState.WAITING
    decided_at: datetime | None = None
    reason: str = ""
    sources_then: int = 0
    sessions_then: int = 0
    fact: str = ""
    submitted_to: str = ""
    submitted_by: str = ""
    submitted_at: datetime | None = None
    decided_by: str = ""

    @property
    def why(self) -> str:
        """The evidence in a few words."""
        told = self.kind is CandidateKind.PROPOSED
        return self.what if told else because(self.sources, self.what, self.sessions)


@dataclass(frozen=True, slots=True)
class CandidateDecision:
    """A person's decision, with the candidate's title, text and layer as the person has them, and to whom it is
    submitted; ``fact`` is the shared fact that it became, ``by`` who decided."""

    candidate: Candidate
    state: CandidateState
    reason: str = ""
    fact: str = ""
    by: str = ""


_DECISION: Final = frozenset(
    {
        "state",
        "decided_at",
        "decided_by",
        "reason",
        "sources_then",
        "sessions_then",
        "fact",
        "submitted_to",
        "submitted_by",
        "submitted_at",
    }
)


def undecided(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a candidate as it is where it comes from somebody who decides nothing for others: it waits, nobody
    submitted it, and its evidence is still to be counted."""
    return {name: value for name, value in record.items() if name not in _DECISION} | {"sources": 0, "sessions": 0}


def retirement(id: str, skill: Candidate, times: int, sessions: int) -> Proposal:
    """That an approved skill be retired, which was left out so many ``times`` in so many ``sessions`` since. It is
    known by the approval: one that is approved anew may be retired anew."""
    return Proposal(
        id,
        CandidateKind.RETIREMENT,
        f"{_RETIRE}{skill.id} {skill.decided_at.isoformat() if skill.decided_at else ''}".strip(),
        skill.title,
        skill.text,
        "omission",
        times,
        sessions,
        skill.evidence,
        skill.layer,
    )


def retires(candidate: Candidate) -> str:
    """The id of the skill that a retirement is about; empty for any other candidate."""
    is_one = candidate.kind is CandidateKind.RETIREMENT and candidate.mark.startswith(_RETIRE)
    return candidate.mark.removeprefix(_RETIRE).partition(" ")[0] if is_one else ""


def line_written(id: str, value: str, text: str, layer: Layer, old: str = "", was: str = "") -> Proposal:
    """That a line ``said`` of a shared file, which somebody wrote there, be a rule, with ``text`` as what is kept of
    it; instead of the rule ``old``, whose line ``was`` other, where there was one."""
    title = f"{text} (was: {was})" if old else text
    return _line(id, f"{_WROTE}{_hash(value)}", title, text, (old,) if old else (), layer)


def line_deleted(id: str, old: str, was: str, layer: Layer) -> Proposal:
    """That the rule ``old``, whose line ``was`` deleted from a shared file by somebody, be none any more."""
    return _line(id, f"{_DELETED}{old}", f"delete: {was}", was, (old,), layer)


def proposed(id: str, stable: str, text: str, by: str, old: str = "", was: str = "") -> Proposal:
    """That a line of a project's repository be a rule, as it was committed ``by`` somebody: of the id ``stable``, which
    stays when its words change; instead of the fact ``old``, which ``was`` worded otherwise, where there is one."""
    title = f"{text} (was: {was})" if old else text
    evidence = (old,) if old else ()
    mark = f"{_PROPOSED}{stable} {_hash(text)}"
    return Proposal(id, CandidateKind.PROPOSED, mark, title, text, f"proposed by {by}", 1, 1, evidence)


def stable_of(candidate: Candidate) -> str:
    """The id that a proposed line has in its file."""
    return candidate.mark.removeprefix(_PROPOSED).partition(" ")[0]


def is_line(candidate: Candidate, text: str) -> bool:
    """Whether a candidate is about this line of a shared file."""
    return candidate.kind is CandidateKind.LINE and candidate.mark == f"{_WROTE}{_hash(text)}"


def deletes(candidate: Candidate) -> str:
    """The id of the rule that a candidate would delete, as somebody deleted its line; empty for any other."""
    is_one = candidate.kind is CandidateKind.LINE and candidate.mark.startswith(_DELETED)
    return candidate.mark.removeprefix(_DELETED) if is_one else ""


def because(sources: int, what: str, sessions: int) -> str:
    """Evidence in a few words: "14 corrections in 9 sessions"."""
    return f"{_count(sources, what)} in {_count(sessions, 'session')}"


def _line(id: str, mark: str, title: str, text: str, evidence: tuple[str, ...], layer: Layer) -> Proposal:
    return Proposal(id, CandidateKind.LINE, mark, title, text, "edit by hand", 1, 1, evidence, layer)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _count(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1]}ies" if what.endswith("y") else f"{number} {what}s"


_RETIRE: Final = "retire "
_PROPOSED: Final = "proposed "
_WROTE: Final = "line "
_DELETED: Final = "no line "
