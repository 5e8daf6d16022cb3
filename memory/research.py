"""Research: what a sub-agent was asked, what it did to find out, and what it reported.

A sub-agent works in a window of its own and hands back a paragraph. All of it is kept: the trail by reference to the
journaled messages, the question and the report as texts. It belongs to the project for which it was done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.scope import OWN_PROJECT, Layer, Scope


class ResearchOutcome(StrEnum):
    """How far a sub-agent came. ``UNSEEN`` did not pass through the proxy: its report, as its parent got it, is all."""

    RUNNING = "running"
    FINISHED = "finished"
    CUT = "cut"
    ABANDONED = "abandoned"
    UNSEEN = "unseen"


class Delivery(StrEnum):
    """How its report came back to the parent, as far as that was seen."""

    NOT = "not seen"
    WHOLE = "whole"
    SHORTENED = "shortened"


class SourceKind(StrEnum):
    """What a source is."""

    URL = "url"
    FILE = "file"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class ResearchSource:
    """Something that a sub-agent looked at. ``mark`` is a hash of a file's content at that time, where it lies in a
    folder in which the proxy may look; empty otherwise."""

    kind: SourceKind
    name: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Errand:
    """One prompt in a tool call that sends a sub-agent out. ``call`` is the call's id, ``description`` the short words
    that stand beside the prompt, ``agent`` the kind of sub-agent that was asked for."""

    call: str
    tool: str
    prompt: str
    description: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Spawn:
    """An errand in the session that gave it; ``child`` is the id of the session that took it, once that is known."""

    session: str
    errand: Errand
    at: datetime
    child: str = ""


@dataclass(frozen=True, slots=True)
class Research:
    """One sub-agent's work.

    ``owner`` is the project's (or, without one, the person's), ``person`` whose messages the trail is made of.
    ``session`` is the sub-agent's session, empty where it never passed; ``parent`` the one that sent it, empty where
    that is not known; ``claimed`` a parent that it named and that is none of its caller's. ``trail`` are the digests of
    its messages in order, every tool's result at full length among them. ``reports`` are its final replies: one for
    each time that it was sent (or sent again). ``line`` and ``overview`` are L0 and L1 of the report. ``tokens`` is
    what its requests had together as input, ``written`` what its replies had. ``returned`` is the digest of the
    parent's message in which the report came back.
    """

    id: str
    owner: str
    person: str
    question: str
    began: datetime
    ended: datetime
    session: str = ""
    parent: str = ""
    claimed: str = ""
    call: str = ""
    tool: str = ""
    agent: str = ""
    description: str = ""
    runtime: str = ""
    model: str = ""
    directory: str = ""
    commit: str = ""
    reports: tuple[str, ...] = ()
    line: str = ""
    overview: str = ""
    sources: tuple[ResearchSource, ...] = ()
    trail: tuple[bytes, ...] = ()
    requests: int = 0
    tokens: int = 0
    written: int = 0
    outcome: ResearchOutcome = ResearchOutcome.RUNNING
    delivery: Delivery = Delivery.NOT
    returned: bytes = b""

    @property
    def report(self) -> str:
        return "\n\n".join(self.reports)

    @property
    def title(self) -> str:
        """What it was about, in a line: the short words of the call, else the beginning of the question."""
        first = next((line.strip() for line in self.question.splitlines() if line.strip()), "")
        return self.description or (first if len(first) <= MAX_TITLE_CHARS else first[: MAX_TITLE_CHARS - 1] + "…")

    @property
    def handle(self) -> str:
        """The name by which the whole can be had."""
        return f"{PREFIX}{self.id.replace('-', '')[:12]}"

    @property
    def seconds(self) -> float:
        """How long it took."""
        return max((self.ended - self.began).total_seconds(), 0.0)


@dataclass(frozen=True, slots=True)
class ResearchUse:
    """A research was used again in a session, with so many tokens: ``given`` to another sub-agent, ``answered`` in its
    place, or ``recalled`` in a talk. ``session`` is empty where that is another project's, of somebody else."""

    research: str
    session: str
    how: str
    at: datetime
    tokens: int


MAX_TITLE_CHARS = 120
PREFIX = "r:"

QUESTIONS, TRAILS = "research/", "trail/"
"""What stands before an owner in the index: the questions and reports of its research, and the passages of their
trails, are searched apart from its memories."""


def owner_of(scope: Scope) -> str | None:
    """Whose the research of a place is: the project's, so that it serves all who work there; else the person's."""
    return scope.owner(Layer.PROJECT) or scope.owner(Layer.USER)


def worked_in(scope: Scope, parent: Scope | None) -> Scope:
    """Where a sub-agent works: in its own project where it says one, else in that of the session that sent it."""
    return parent if parent is not None and _has_no_stated_project(scope) else scope


def may_send(parent: Scope, scope: Scope) -> bool:
    """Whether a session of one place may have sent one of another: not out of another project, where both say one, for
    two people may use the same words."""
    same_person = (parent.org, parent.user) == (scope.org, scope.user)
    return same_person and (
        parent.project == scope.project or _has_no_stated_project(parent) or _has_no_stated_project(scope)
    )


def _has_no_stated_project(scope: Scope) -> bool:
    """Whether nobody has said in which project a session works, so that it is one of its own."""
    return scope.project is None or scope.project.startswith(OWN_PROJECT)


def owners_of(scope: Scope) -> tuple[str, ...]:
    """Every owner whose research may be seen from a place."""
    return tuple(owner for layer in (Layer.PROJECT, Layer.USER) if (owner := scope.owner(layer)))


def index_owners(owners: Iterable[str], collection: str) -> tuple[str, ...]:
    """The owners as they are named in the index."""
    return tuple(collection + owner for owner in owners)


@dataclass(frozen=True, slots=True)
class Named:
    """What a handle of research names: the beginning of its id (hexadecimal, without dashes), and, of its trail, a
    message and a part of it."""

    beginning: str
    turn: int | None = None
    part: int = 0


def named(handle: str) -> Named | None:
    """What a handle names, ``r:1a2b3c4d5e6f`` or ``r:1a2b3c4d5e6f.7.0``; None where it is none of research."""
    found = _HANDLE.fullmatch(handle.strip().strip("#[]").lower())
    if found is None:
        return None
    turn = found["turn"]
    return Named(found["id"].replace("-", ""), int(turn) if turn else None, int(found["part"] or 0))


_HANDLE = re.compile(r"r:(?P<id>[0-9a-f][0-9a-f-]{3,35})(?:\.(?P<turn>\d{1,6})(?:\.(?P<part>\d{1,4}))?)?")
