"""How work is done: a step that an agent or a person took, what failed and what then worked. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.fact import Fact


class StepKind(StrEnum):
    """What sort of step it was."""

    LOOK = "look"
    EDIT = "edit"
    RUN = "run"
    CALL = "call"
    PLAN = "plan"
    PERSON = "person"


class StepOutcome(StrEnum):
    """How a step ended. ``REFUSED``: the person did not let it be done."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"


class FeedbackSign(StrEnum):
    """What a person's message says of the work before it; the ``family`` of a person's step."""

    ASKS = "asks"
    CORRECTS = "corrects"
    ACCEPTS = "accepts"
    STOPS = "stops"


@dataclass(frozen=True, slots=True)
class WorkStep:
    """One thing that was done in a session, without its content.

    ``family`` is what two steps of one habit have in common (``go test``, ``edit *.go``), ``shape`` the same with its
    arguments' shapes (``go test ./... -run <arg>``). ``traits`` are conventions that it followed, by the question that
    each answers. ``mark`` names it with all that came before it in its conversation, so that a history which is sent
    again under another session's name is no new step. ``source`` is the digest of the message that it stood in.
    """

    deed: StepKind
    family: str
    shape: str
    session: str
    at: datetime
    mark: bytes
    source: bytes
    outcome: StepOutcome = StepOutcome.DONE
    traits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Key:
    """A line of an error in normal form, hashed. ``specific``: the line alone tells which error it is; of any other the
    command must be the same too."""

    hash: bytes
    specific: bool


@dataclass(frozen=True, slots=True)
class CommandFailure:
    """What a tool result shows to have gone wrong: the error's keys, and the family of the command that failed."""

    family: str
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """A command that failed, and what then worked.

    ``failed`` and ``worked`` are the commands, ``between`` says in a few words what changed between them. ``error``
    holds the error's own lines, for a person's eyes: they are a tool's text; ``label`` is its class or code. ``web``:
    the agent had read the web before.
    """

    failure: CommandFailure
    failed: str
    worked: str
    between: tuple[str, ...]
    error: str
    label: str
    source: bytes
    at: datetime
    web: bool = False


@dataclass(frozen=True, slots=True)
class Remedy:
    """A fact that holds a fix, found by one ``key`` of its error; ``family`` is the command's that had failed."""

    fact: Fact
    key: bytes
    family: str
    specific: bool


@dataclass(frozen=True, slots=True)
class KnownObservation:
    """Which fact (``memory``) holds an observation. ``subject`` names what was observed, ``sort`` says what it is,
    ``detail`` is JSON for a list of them."""

    owner: str
    subject: bytes
    sort: str
    memory: str
    detail: str


@dataclass(frozen=True, slots=True)
class BehaviourRecord:
    """What the worker writes of how work was done, beside the facts: an owner's steps, which facts hold which
    observations, for the facts that hold a fix the failure by which it is found, and the facts (``retired``) that hold
    nothing any more."""

    owner: str
    steps: tuple[WorkStep, ...] = ()
    known: tuple[KnownObservation, ...] = ()
    failures: Mapping[str, CommandFailure] = field(default_factory=dict)
    retired: tuple[str, ...] = ()
