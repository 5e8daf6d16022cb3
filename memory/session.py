"""A session is one run of an agent; an exchange is one request of it and the reply; a receipt says what we did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.conversation import Conversation, Message, Reply, Usage
from memory.edits import Edit, Entry
from memory.scope import ANY_PROJECT, ProjectReach, Scope


class RequestKind(StrEnum):
    """What a request is for. Only main and sub-agent turns teach something and get something new."""

    MAIN = "main"
    SUBAGENT = "sub-agent"
    SIDE = "side"
    COMPACTION = "compaction"

    @property
    def teaches(self) -> bool:
        """Whether memory learns from it and adds to it."""
        return self in (RequestKind.MAIN, RequestKind.SUBAGENT)


class Mode(StrEnum):
    """How far memory takes part: not at all, only by giving, or wholly."""

    OFF = "off"
    READ_ONLY = "read-only"
    ON = "on"


@dataclass(frozen=True, slots=True)
class Patience:
    """How full a client lets a window become before it compacts a session by itself: ``share`` of it, and with so many
    tokens ``free`` at least, the reply aside."""

    share: float = 1.0
    free: int = 0

    def most(self, window: int, reply: int) -> int:
        """The most tokens that a request should have, so that the client stays patient: of a window, of which so many
        are asked for the reply.

        A client adds what it estimates its next message to come to, so a part of what it allows is left to that.
        """
        return int(min(self.share * window, window - self.free, window - reply) * BEFORE_THAT)


BEFORE_THAT = 0.85
"""The share of what a client allows that a request may have: what is left takes a tool's result of 25,000 tokens in a
window of 200,000."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What the edge knows of a request beside its conversation.

    ``namespace`` is a keyed hash of the credential, ``whose`` one of the credential and its person; ``session_key`` and
    ``parent_key`` are the runtime's own ids where it sends any; ``extends`` says that a side or compaction request
    carries the session's own history; ``at`` is aware, in the person's time zone. ``unsure`` says that it offers no
    tools though the runtime's turns usually do: in a session whose other requests have some it is a side request.
    ``note`` says why there is no owner. ``patience`` is None where the client is not known to compact by the usage that
    is reported; ``parent`` is the key of the session that sent this one, where its client does not name it; ``size`` is
    how many bytes the request has; ``waited`` is how many seconds it stood in a queue that does not grow shorter;
    ``credential`` is a keyed hash of the credential alone, whoever it stands for; ``checkout`` is the root of the git
    worktree on this machine that is worked in; ``also`` are owners of other projects whose memories are recalled
    there, since their person shares them with this one; ``resends`` says that its client can be told now that its
    server has not got its history, and sends all of it then; ``reach`` are the projects into which they may look.
    """

    scope: Scope
    kind: RequestKind
    runtime: str
    namespace: str
    at: datetime
    session_key: str | None = None
    parent_key: str | None = None
    extends: bool = True
    unsure: bool = False
    note: str = ""
    mode: Mode = Mode.ON
    directory: str | None = None
    checkout: str | None = None
    patience: Patience | None = None
    whose: str = ""
    parent: str | None = None
    size: int = 0
    waited: float = 0.0
    credential: str = ""
    also: tuple[str, ...] = ()
    resends: bool = False
    reach: ProjectReach = ANY_PROJECT


@dataclass(frozen=True, slots=True)
class Session:
    """One run of an agent. ``segment`` counts from 0; ``credential`` is a keyed hash of the one that it came with;
    ``held_out`` says whether it goes without memory so that the two can be compared, None where nothing was measured
    when it began."""

    id: str
    key: str
    scope: Scope
    runtime: str
    started_at: datetime
    seen_at: datetime
    kind: RequestKind = RequestKind.MAIN
    parent: str | None = None
    segment: int = 0
    forked_from: str | None = None
    credential: str = ""
    held_out: bool | None = None


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """One memory that was put into a request: why (the parts of its score, each in 0..1) and how large."""

    memory: str
    text: str
    score: float
    why: Mapping[str, float]
    tokens: int


@dataclass(frozen=True, slots=True)
class Shed:
    """What was taken out of a request once, in tokens, and what it should save.

    ``step`` is ``trim``, ``fold`` or ``rotate``; ``why`` says what called for it; ``removed`` is what left,
    ``rewritten`` what the provider reads anew because it stands behind the first change; ``warm`` whether its cache
    was; ``expected`` the money (US dollars) that it should save over the session's remaining turns, by the table of
    prices, None where the model's price is not known; ``parts`` are lines, one for each thing that was shed.
    """

    step: str
    why: str
    removed: int
    rewritten: int
    warm: bool
    expected: float | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HiddenRound:
    """A round of a reply that the client did not see: which tools of memory's were called in it, and its tokens. The
    exchange's own usage is the last round's."""

    tools: tuple[str, ...]
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class WindowSources:
    """What the tokens of one request came from: what its client says to the model (``system``), the definitions of
    ``tools``, MEMORY.md and, behind a rotation, the note that stands with it (``page``), all else that memory added
    (``recall``), what tools gave (``results``), and what was said (``talk``)."""

    system: int = 0
    tools: int = 0
    page: int = 0
    recall: int = 0
    results: int = 0
    talk: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was done to one request, for ``palimpsest log``. ``steps`` are milliseconds by name of the step.

    ``tokens`` is what the request was estimated to be when it left, ``window`` what its model reads at once; ``shed``
    is set where this request began to leave something out, ``paged`` are the handles of what came back, ``hidden``
    the rounds of the reply in which the model asked memory. ``saved`` is by how many tokens all of the session's edits
    made the request shorter (below zero: longer), so that what the client sent has about ``tokens + saved``.
    ``sources`` are those tokens by what they came from, None where that was not told apart.
    """

    id: str
    at: datetime
    session: str
    kind: RequestKind
    status: str
    model: str = ""
    shown: tuple[ShownMemory, ...] = ()
    page_tokens: int = 0
    recall_tokens: int = 0
    bytes_added: int = 0
    note: str = ""
    steps: Mapping[str, float] = field(default_factory=dict)
    tokens: int = 0
    window: int = 0
    shed: Shed | None = None
    paged: tuple[str, ...] = ()
    hidden: tuple[HiddenRound, ...] = ()
    saved: int = 0
    sources: WindowSources | None = None

    @property
    def own_tokens(self) -> int:
        """About how many tokens the client's own history has, without what was added to it and with what was left
        out."""
        # What was sent is weighed by what the provider reports, what the edits changed is not: no more was added than
        # stands in it.
        added = self.sources.page + self.sources.recall if self.sources else self.tokens
        return self.tokens + max(self.saved, -added)


@dataclass(frozen=True, slots=True)
class Pending:
    """What was decided to leave a request and is written down when it has gone out: the ledger's entries, and the
    messages that they take something from and that the journal does not have."""

    entries: tuple[Entry, ...] = ()
    unkept: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ResearchAnswer:
    """A text that stands for the model's reply: the report of an earlier research (its id and its handle), whose
    question was so like this one."""

    text: str
    research: str
    handle: str
    likeness: float


@dataclass(frozen=True, slots=True)
class Prepared:
    """The answer to a request's arrival: which edits it needs, and where it belongs.

    ``session`` is None where memory takes no part, and where preparing failed before the session was known: it is
    ``unplaced`` then, and its exchange is journaled all the same, in the session that is found by then. ``changed`` is
    by how many of our tokens the edits make the request longer, or, below zero, shorter. ``tools`` are the definitions
    of memory's tools that stand behind the client's own, as its dialect spells them. ``pending`` is what the session's
    ledger does not have yet of its edits; ``answer`` is what is answered
    without asking the model. ``outgrown`` says that the history at its server, from which it goes on, is too large, and
    that its client is to send all of it, so that some can leave.
    """

    session: Session | None
    arrival: Arrival
    edits: tuple[Edit, ...]
    receipt: Receipt
    unplaced: bool = False
    changed: int | None = 0
    tools: str = ""
    pending: Pending = field(default_factory=Pending)
    answer: ResearchAnswer | None = None
    outgrown: bool = False

    @property
    def journaled(self) -> bool:
        """Whether its exchange is one for the journal."""
        return self.arrival.mode is Mode.ON and (self.session is not None or self.unplaced)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its reply, as the journal takes it. ``status`` is the upstream's HTTP status; where it is not
    ``placed``, its session could not be looked up, and one that was made up stands in its place."""

    id: str
    session: Session
    arrival: Arrival
    conversation: Conversation
    reply: Reply
    status: int
    receipt: Receipt
    placed: bool = True
