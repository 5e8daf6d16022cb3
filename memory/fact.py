"""A fact: one thing that memory holds to be so, with where it came from and since when.

Also the passage, a piece of a turn kept word for word beside the facts, so that what no rule extracted can
still be found.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.scope import Layer


class FactKind(StrEnum):
    """What a fact says."""

    DECISION = "decision"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    CONVENTION = "convention"
    PATTERN = "pattern"
    ANTI_PATTERN = "anti-pattern"
    OBSERVATION = "observation"
    FACT = "fact"
    HEURISTIC = "heuristic"
    TASK = "task"


class Category(StrEnum):
    """What a fact is about."""

    PERSON = "person"
    PEOPLE = "people"
    PREFERENCES = "preferences"
    PROJECTS = "projects"
    TECHNICAL = "technical"
    ENTITIES = "entities"
    WORKFLOWS = "workflows"


class Stream(StrEnum):
    """Which stream of the page a fact belongs to, the most lasting first."""

    IDENTITY = "identity"
    PROJECTS = "projects"
    TASKS = "tasks"
    FLOW = "flow"


class Origin(StrEnum):
    """Who said it; kept for ever. The order is the order of trust."""

    PERSON = "person"
    USER = "user"
    ASSISTANT = "assistant"
    BEHAVIOUR = "behaviour"
    FILE = "file"
    TOOL = "tool"
    WEB = "web"
    SUBAGENT = "sub-agent"

    @property
    def trusted(self) -> bool:
        """Whether it is the person's own word (typed in a conversation, or edited on the page)."""
        return self in (Origin.PERSON, Origin.USER)

    @property
    def hearsay(self) -> bool:
        """Whether it may be anybody's text: what files of a checkout, tools, the web and sub-agents brought."""
        return self in (Origin.FILE, Origin.TOOL, Origin.WEB, Origin.SUBAGENT)

    def counts_as(self, other: Origin) -> bool:
        """Whether its word counts at least as much as another's."""
        return _TRUST[self] <= _TRUST[other]


_TRUST = {origin: place for place, origin in enumerate(Origin)}


class MemoryTier(StrEnum):
    """How far a memory has come."""

    WORKING = "working"
    SHORT_TERM = "short-term"
    LONG_TERM = "long-term"
    SHARED = "shared"


class Sensitivity(StrEnum):
    """``restricted`` is only given when asked for by id."""

    NORMAL = "normal"
    CONFIDENTIAL = "confidential"
    RESTRICTED = "restricted"


class Stability(StrEnum):
    """How sure a memory has become."""

    DRAFT = "draft"
    VERIFIED = "verified"
    STABLE = "stable"


class State(StrEnum):
    """Whether a fact takes part in recall. A draft does not: what was read in it is uncertain, until it is said again,
    fits what is known, or a person confirms it."""

    DRAFT = "draft"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


Gaps = tuple[tuple[int, int], ...]
"""Stretches of a text, from one character to another, in order."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory. ``valid_*`` is when it held in the world, ``recorded_at``/``superseded_at`` when we held it.

    Confidence, importance and surprise lie in 0..1. ``wrong`` keeps the other side of a correction. Times are
    aware datetimes. ``access`` counts reads that were used, ``sessions`` the distinct sessions among them;
    creation counts as the first of each. ``device`` names the machine on which it was learned, where that is known;
    ``preview`` is how many characters recall shows, 0 for all. ``core`` are those of the text's own words that say what
    to do or what holds, where the rest only says why or how it came about; empty where there is no such rest.
    """

    id: str
    text: str
    owner: str
    kind: FactKind
    category: Category
    stream: Stream
    layer: Layer
    origin: Origin
    session: str
    source: bytes
    recorded_at: datetime
    valid_from: datetime
    confidence: float = 0.5
    importance: float = 0.5
    surprise: float = 0.5
    tier: MemoryTier = MemoryTier.SHORT_TERM
    sensitivity: Sensitivity = Sensitivity.NORMAL
    stability: Stability = Stability.DRAFT
    state: State = State.ACTIVE
    access: int = 1
    sessions: int = 1
    used_at: datetime | None = None
    valid_until: datetime | None = None
    superseded_at: datetime | None = None
    supersedes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    expires_at: datetime | None = None
    pinned: bool = False
    wrong: str = ""
    entities: tuple[str, ...] = ()
    device: str = ""
    preview: int = 0
    core: str = ""

    @property
    def brief(self) -> str:
        """What recall shows of it: the text, or its beginning where a night has put it in short."""
        return shortened(self.text, self.preview)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a turn, word for word, of at most about 90 tokens.

    ``turn`` is the place of its message in the session and ``piece`` its place in the message, so that neighbours can
    be found; ``preview`` is how many characters recall shows, 0 for all, and ``gaps`` are what it leaves out, (start,
    end) in characters. ``question`` marks a turn that only asks: it holds no answer and must not crowd one out.
    """

    id: str
    text: str
    owner: str
    origin: Origin
    speaker: str
    session: str
    source: bytes
    at: datetime
    turn: int
    piece: int = 0
    question: bool = False
    sensitivity: Sensitivity = Sensitivity.NORMAL
    preview: int = 0
    gaps: Gaps = ()

    @property
    def valid_from(self) -> datetime:
        """As of a fact: what was said holds since then."""
        return self.at

    @property
    def recorded_at(self) -> datetime:
        """As of a fact: it is recorded as it is said."""
        return self.at

    @property
    def brief(self) -> str:
        """What recall shows of it: the text, or its beginning where a night has put it in short."""
        return shortened(self.text, self.preview)

    @property
    def plain(self) -> str:
        """The text without what a night has found to be courtesies."""
        return without(self.text, self.gaps)


@dataclass(frozen=True, slots=True)
class FactDraft:
    """What an extractor proposes, before it is reconciled with what is known and gets an id and an owner. ``unsure``
    says that it may be of the moment only."""

    text: str
    kind: FactKind
    category: Category
    stream: Stream
    layer: Layer
    origin: Origin
    confidence: float = 0.5
    importance: float = 0.5
    sensitivity: Sensitivity = Sensitivity.NORMAL
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    wrong: str = ""
    entities: tuple[str, ...] = ()
    unsure: bool = False
    core: str = ""


def said_again(fact: Fact) -> FactDraft:
    """What a fact says as if it were said now, to be held against what is known."""
    return FactDraft(
        fact.text,
        fact.kind,
        fact.category,
        fact.stream,
        fact.layer,
        fact.origin,
        valid_from=fact.valid_from,
        pinned=fact.pinned,
        wrong=fact.wrong,
    )


def outlasts(one: Fact, other: Fact | FactDraft) -> bool:
    """Whether something holds on when something else, which is said to hold until a day, is over: then that cannot end
    it, or neither would be left."""
    return other.expires_at is not None and (one.expires_at is None or one.expires_at > other.expires_at)


def shortened(text: str, preview: int) -> str:
    """The first ``preview`` characters of a text and a mark that there is more; all of it for 0."""
    return f"{text[:preview].rstrip()} […]" if 0 < preview < len(text) else text


def without(text: str, gaps: Gaps) -> str:
    """A text with the stretches from one character to another left out."""
    pieces, at = [], 0
    for start, end in gaps:
        pieces.append(text[at:start])
        at = end
    return "".join([*pieces, text[at:]]).rstrip() if gaps else text
