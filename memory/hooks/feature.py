"""The hooks. A feature is a subclass that overrides those it needs; the rest do nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Protocol

from memory.behaviour import BehaviourRecord
from memory.checkout import Checkout
from memory.conversation import Conversation
from memory.fact import Fact, Passage
from memory.hooks.route_request import RouteRequest
from memory.ports import Forgotten, Guard, Index, Journaled, LanguageModel
from memory.scope import Scope
from memory.session import Arrival, Session
from memory.settings import MemorySettings, ProjectFolder


class OtherFeatures(Protocol):
    """All features together, for one whose own work is theirs too."""

    async def night(self, at: datetime) -> None:
        """A night is over."""

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        """How all of them let go."""


class Follower(Protocol):
    """A worker that follows the journal."""

    @property
    def doing(self) -> str:
        """What it does, in a few words."""

    @property
    def still(self) -> float:
        """Seconds since it has got anywhere while there is something to do."""

    def wake(self) -> None:
        """There is something new."""

    async def stop(self) -> None:
        """Follow it no longer."""


@dataclass(frozen=True, slots=True)
class Core:
    """What a feature is opened with. ``journal`` is the store, and ``journal.part`` opens a part of it that the feature
    brings; ``learner``, ``pages``, ``recall``, ``commands`` and ``sessions`` are core's services: by a Protocol of its
    own a feature says which of their methods it needs.

    ``home`` is the data folder, ``index`` gives the index that is searched now, ``guard`` counts what fails beside the
    requests, ``changed`` is told whose pages have something else to say, ``projects`` are the folders of projects by
    their owners, ``model`` is asked in the background where one is set, ``paused`` says whether memory rests,
    ``errands`` are what sub-agents were sent out for, and ``features`` are all features together."""

    settings: MemorySettings
    journal: Any
    new_id: Callable[[], str]
    now: Callable[[], datetime]
    home: Path
    index: Callable[[], Index]
    guard: Guard
    changed: Callable[[frozenset[str]], None] = lambda owners: None
    learner: Any = None
    pages: Any = None
    recall: Any = None
    commands: Any = None
    sessions: Any = None
    projects: Mapping[str, ProjectFolder] = field(default_factory=dict)
    model: LanguageModel | None = None
    paused: Callable[[], bool] = lambda: False
    errands: Any = None
    features: OtherFeatures | None = None


@dataclass(frozen=True, slots=True)
class FeatureRequest:
    """A request that is being prepared; something can be added to its newest message."""

    conversation: Conversation
    session: Session
    arrival: Arrival


@dataclass(frozen=True, slots=True)
class MemoryMark:
    """How a memory that recall has found is shown: with some ``words`` behind it, and at this part of its score; at 0
    it is left out. ``sure``: the words only say that it still holds."""

    words: str = ""
    weight: float = 1.0
    sure: bool = False


@dataclass(frozen=True, slots=True)
class FeatureQuestion:
    """What a person is asked: ``text`` says how much of what waits, without a memory's words, and ``command`` shows
    it."""

    text: str
    command: str


async def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class FeatureLesson:
    """What a feature has found in an exchange: ``facts``, of which ``known`` have only changed, and how work was done.
    They are written in one transaction with the exchange's own lesson, and that this was learnt in a ``checkout``;
    ``then`` is awaited behind it."""

    facts: tuple[Fact, ...] = ()
    known: frozenset[str] = frozenset()
    observed: BehaviourRecord | None = None
    then: Callable[[], Awaitable[None]] = _nothing
    checkout: Checkout | None = None


def _no_texts(memory: Fact | Passage) -> Iterable[str]:
    return ()


async def _keeps_nothing(gone: Forgotten) -> None:
    """Nothing is kept that could go."""


async def _in_no_file(gone: Forgotten) -> tuple[list[str], list[str]]:
    return [], []


@dataclass(frozen=True, slots=True)
class FeatureErasure:
    """How a feature forgets: the further ``texts`` that must not be learned again with a memory, beside its own;
    ``then``, which deletes what the feature itself keeps of all that went; and ``files``, which takes it out of a
    person's files, behind everything else: those files, and sentences about what could not be taken out."""

    texts: Callable[[Fact | Passage], Iterable[str]] = _no_texts
    then: Callable[[Forgotten], Awaitable[None]] = _keeps_nothing
    files: Callable[[Forgotten], Awaitable[tuple[list[str], list[str]]]] = _in_no_file


@dataclass(frozen=True, slots=True)
class FeatureRoute:
    """An endpoint below ``/palimpsest/api/``. ``answer`` takes the open feature and the question; what it returns goes
    into JSON, with the status of an :class:`~memory.hooks.route_request.Answer` where it is one. ``path`` may hold
    ``{names}``, ``fields`` are those of the body, or None where none is read, ``query`` the further texts of the query,
    ``limit`` is the default of ``?limit=``, and 0 where there is none."""

    method: str
    path: str
    answer: Callable[[Any, RouteRequest], Awaitable[Any]]
    limit: int = 10
    fields: Mapping[str, type] | None = None
    query: tuple[str, ...] = ()


class Feature:
    """One feature. ``name`` is that of its folder."""

    name: ClassVar[str] = ""
    exported: ClassVar[str] = ""
    """The ``sort`` of the records that it exports and imports; empty where there are none."""
    counted: ClassVar[str] = ""
    """What an import calls those that it has taken, in the plural."""

    def __init__(self, core: Core) -> None:
        """Open it. Nothing waits here."""

    def start(self) -> None:
        """Begin what goes on beside the requests, once memory is open."""

    async def stop(self) -> None:
        """End that, before the stores are closed."""

    def port(self, kind: type[Any]) -> Any:
        """What fills a port (a Protocol) of core that one feature at most fills; None for any other."""
        return None

    def followers(self) -> Sequence[Follower]:
        """Its workers that follow the journal: they are woken when there is something new, and watched."""
        return ()

    async def arrived(self, session: Session, arrival: Arrival) -> None:
        """A request of a session has come. It goes on meanwhile, and nobody waits for what is done here."""

    async def marks(
        self, session: Session, arrival: Arrival, memories: Sequence[Fact | Passage], seconds: float
    ) -> Mapping[str, MemoryMark]:
        """How memories that recall has found are shown, by their ids, as far as that can be told within so many
        seconds. Late or failed, they are shown as they are."""
        return {}

    async def before_request(self, request: FeatureRequest, tokens: int) -> str:
        """A text of at most so many tokens for the newest message, decided once and made again from then on: past
        tense, no orders. Empty where there is nothing to add. Late or failed, it is left out."""
        return ""

    async def after_exchange(self, exchange: Journaled) -> FeatureLesson:
        """What an exchange shows; called by the worker, once and in order, with secrets taken out. What it raises
        counts against the exchange, which is passed over after a few tries."""
        return FeatureLesson()

    async def asks(self, owners: Sequence[str]) -> Sequence[FeatureQuestion]:
        """What a person is asked about the memories of these owners. It answers at once, with what is known."""
        return ()

    async def confirmed(self, fact: Fact) -> None:
        """A person has said that a fact still holds. Late or failed, it is counted, and the fact stays confirmed."""

    async def night(self, at: datetime) -> None:
        """A night is over: put in order what the feature keeps. Late or failed, it is counted, and done the next
        night."""

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        """Something of these owners is about to be forgotten: how to let go of it. Afterwards no table, file or index
        of the feature may hold it."""
        return FeatureErasure()

    async def export(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        """An owner's records behind an id, in the order of the ids, at most so many; each has a ``sort``, an ``id`` and
        an ``owner``."""
        return []

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> str:
        """Import a record of its sort, behind the facts of the same import: ``taken``, ``known`` or ``forgotten``; with
        ``dry`` only say so.

        Raises:
            NoRecord: when it is none, or is not the scope's to own.
        """
        return "known"

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        """Its endpoints; its commands stand in the module ``commands`` of its folder."""
        return ()

    def metrics(self) -> Mapping[str, float]:
        """Numbers for ``/palimpsest/metrics``, by a name in lower case."""
        return {}

    async def health(self) -> Sequence[str]:
        """A sentence for each thing that is wrong."""
        return ()
