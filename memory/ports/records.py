"""What the journal hands over, and what it is handed: plain values, none of which knows how it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from memory.behaviour import BehaviourRecord
from memory.checkout import Checkout
from memory.conversation import Message
from memory.edits import ContentTier, Entry
from memory.fact import Fact, Origin, Passage
from memory.session import Session, ShownMemory


class LedgerVersion(NamedTuple):
    """How far a session's ledger is written: its last number, and how many entries it has."""

    last: int
    size: int


NO_LEDGER = LedgerVersion(0, 0)
"""Of a session that has none."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as the journal knows it at this moment, with its ledger's version: how many messages of a request's
    trail it shares (of one found by its key all), whether its newest turn ended there, and whether its turns offer
    tools. ``since`` is what came into the ledger behind the version that was known, where all the rest is as it was.
    One that was not found ``by_key`` went furthest along the trail."""

    session: Session
    version: LedgerVersion
    shared: int
    at_tip: bool
    tools: bool
    since: tuple[Entry, ...] | None = None
    by_key: bool = True


@dataclass(frozen=True, slots=True)
class AgreedLedger:
    """What came of entering decisions that another process may have taken meanwhile: the session that stands, which is
    another one where the request's had been begun already, and its ledger's version; all its ``entries`` where others
    than ours came into it, else None."""

    session: Session
    version: LedgerVersion
    entries: tuple[Entry, ...] | None = None


@dataclass(frozen=True, slots=True)
class Journaled:
    """An exchange as it lies in the journal, for the worker.

    ``messages`` is the request; ``fresh`` the indices of messages that no earlier exchange of the session
    had; ``reply`` the reply as a message, or None where it was cut or failed. Secrets are redacted in all of it.

    Of a request without end the messages stand there with which it opens, ``opening`` of them, and those before what
    is fresh; ``between`` are the digests of those that are left out, and ``taint`` is the lowest trust of what had been
    read behind them since a person last spoke. ``tools`` says that the request offered its model some. ``recalled`` is
    what its receipt says of the memories that were ``shown``, None where the receipt has to be asked.
    """

    number: int
    id: str
    session: Session
    kind: str
    at: datetime
    messages: Sequence[Message]
    fresh: tuple[int, ...]
    reply: Message | None
    shown: tuple[str, ...] = ()
    opening: int = 0
    between: tuple[bytes, ...] = ()
    taint: Origin | None = None
    tools: bool = False
    recalled: tuple[ShownMemory, ...] | None = field(default=None, compare=False)

    def turn(self, index: int) -> int:
        """Where a message stands in the whole request."""
        return index if index < self.opening else index + len(self.between)


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What became of a memory in a session: it was ``shown`` anew, it was ``used`` in an answer, or it was ``said``
    again by somebody whose word counts as much as its own. Only the latter two strengthen it by themselves; to have
    been shown in several sessions does so a little."""

    memory: str
    session: str
    at: datetime
    shown: bool = False
    used: bool = False
    said: bool = False


@dataclass(frozen=True, slots=True)
class SaidIn:
    """A session in which a memory was said, and how many times; ``at`` is when the session began."""

    memory: str
    session: str
    at: datetime
    times: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one exchange taught, written in one transaction with the worker's cursor.

    ``uses`` come behind the facts. ``documents`` counts, for each owner, how many indexed texts were added, ``terms``
    in how many of them each term occurs; ``observed`` is how the work in it was done. ``checkout`` is where it was
    taught, and ``learnt`` says of what is new in it whether it holds on that branch only. ``names`` are those that
    stand in memories, for the entity graph; what is not in it is taken in later.
    """

    number: int
    facts: tuple[Fact, ...] = ()
    passages: tuple[Passage, ...] = ()
    documents: Mapping[str, int] = field(default_factory=dict)
    terms: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    uses: tuple[MemoryUse, ...] = ()
    observed: BehaviourRecord | None = None
    checkout: Checkout | None = None
    learnt: Mapping[str, bool] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TermRarity:
    """How often terms occur among the texts of some owners: ``documents`` texts in all, ``frequency`` by term."""

    documents: int
    frequency: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Graph:
    """A part of the entity graph: which names (in lower case) each memory has, by its id, and in how many memories each
    name stands in all."""

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    degrees: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tally:
    """How often what a leg of recall brought was used, and how often not; both fade."""

    used: float = 0.0
    unused: float = 0.0


@dataclass(frozen=True, slots=True)
class Overview:
    """The lower tiers of a part of ``tokens``: ``line`` is L0, ``text`` L1, empty where it is not worth its place."""

    tokens: int
    line: str
    text: str
    text_tokens: int


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message that the journal has, with the overviews of its parts. ``redacted``: it cannot be given back word for
    word, since a secret was taken out of it or a person has had it forgotten."""

    redacted: bool
    overviews: Mapping[int, Overview] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JournaledMessage:
    """A message as the journal can give it back; ``redacted`` and ``forgotten`` say why that is not word for word."""

    message: Message
    redacted: bool = False
    forgotten: bool = False
    overviews: Mapping[int, Overview] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JournaledTurn:
    """The newest turn of a session as the journal can give it back: the request's messages as the client sent them,
    without secrets, and the reply, None where nothing was answered."""

    session: Session
    dialect: str
    model: str
    at: datetime
    messages: tuple[JournaledMessage, ...]
    reply: JournaledMessage | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """One index that is kept up to date: the one that is searched (``current``), or one that is being filled."""

    number: int
    embedder: str
    dimensions: int
    current: bool = False


@dataclass(frozen=True, slots=True)
class Lag:
    """What an index has still to take in, and the ids of what it has to let go."""

    facts: tuple[Fact, ...] = ()
    passages: tuple[Passage, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All of it, as :meth:`Journal.mark_indexed` takes it."""
        return (*(fact.id for fact in self.facts), *(passage.id for passage in self.passages), *self.gone)


@dataclass(frozen=True, slots=True)
class SetAsideErasure:
    """What a ``forget`` made of what is aside: how many damaged exchanges have ``gone``, how many could not be taken
    away or may be another's (``stay``), and how many are whole and are taken back later, without what was forgotten
    (``wait``). ``pages`` counts the files from before a journal was lost or a backup put back."""

    gone: int = 0
    stay: int = 0
    wait: int = 0
    pages: int = 0

    def sentences(self) -> tuple[str, ...]:
        """What is left, in sentences."""
        waiting = f"{_exchanges(self.wait)} not in the journal yet, and will be without what was forgotten"
        damaged = (
            f"{_exchanges(self.stay)} damaged and left in the data folder (aside/*.broken): nobody can tell what is in "
            "them, or whose they are; whoever runs the server can delete them"
        )
        lost = (
            f"{self.pages} file{' is' if self.pages == 1 else 's are'} left in the data folder from before the journal "
            "was lost or a backup put back (lost-journal-*, replaced-*) and may hold it still: who runs the server can "
            "delete it"
        )
        each = ((self.wait, waiting), (self.stay, damaged), (self.pages, lost))
        return tuple(sentence for count, sentence in each if count)


def _exchanges(count: int) -> str:
    return f"{count} exchange{' is' if count == 1 else 's are'}"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a person's ``forget`` took away.

    ``facts`` and ``passages`` are whole, as they were, so that tombstones can be made of them; they are to be
    dropped soon. ``sessions`` are those whose ledger changed; ``scrubbed`` is False where an open reader kept the
    old pages of the journal's log alive (they go with the next idle moment). ``files`` are lasting files of which a
    line was taken out, ``faults`` says in sentences of which it could not be. ``damaged`` exchanges that were set aside
    went too, since nobody could read what they held. ``research`` are the ids of what went of sub-agents' findings.
    ``behind`` exchanges were still to be learned from: what these say of it in other words is remembered yet.
    """

    facts: tuple[Fact, ...] = ()
    passages: tuple[Passage, ...] = ()
    messages: int = 0
    entries: int = 0
    receipts: int = 0
    sessions: tuple[str, ...] = ()
    scrubbed: bool = True
    files: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    damaged: int = 0
    research: tuple[str, ...] = ()
    behind: int = 0

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories that are gone, as :meth:`Index.delete` takes them."""
        return (*(fact.id for fact in self.facts), *(passage.id for passage in self.passages), *self.research)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is stored."""

    sessions: int
    exchanges: int
    messages: int
    facts: int
    passages: int
    behind: int
    candidates: int = 0
    """Candidates that wait for a person."""
    drafts: int = 0
    """Facts that were read with doubt and wait to be said again, or for a person."""


@dataclass(frozen=True, slots=True)
class ModelTotals:
    """What was done to requests of one day, project and model. ``reported`` says whether the provider told their
    tokens, ``warm`` whether it read some of them from its cache.

    In tokens: ``added`` is what memory put in, counted once, ``shown`` how many memories that were; ``shorter`` and
    ``longer`` are by how much all requests together were so because of every edit that stood in them; ``input`` and
    ``cached`` are the provider's own; ``anew`` is what it read anew after a shed in a warm cache.
    """

    model: str
    reported: bool
    warm: bool
    requests: int
    degraded: int
    added: int
    shown: int
    shorter: int
    longer: int
    input: int
    cached: int
    sheds: int
    anew: int
    day: str = ""
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What was done in a session that began while memory was measured, and in those that it sent: how many ``turns``
    (calls of the model), the provider's ``tokens`` (None where it did not tell all of them), how often the person
    corrected the agent and said again what memory knew, and how many tokens memory ``added``."""

    session: str
    held_out: bool
    turns: int
    tokens: int | None
    corrections: int
    repeats: int
    added: int


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A line of a day's summary, made of one memory (a fact or a passage). L1 is the day, L0 the day in short."""

    day: date
    tier: ContentTier
    session: str
    text: str
    memory: str
    weight: float = 0.0
