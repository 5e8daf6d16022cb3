"""What memory needs of the world, and no word on which process answers.

Stores are async because they may live in another thread, process or machine. An embedder is plain: it is called
where blocking does no harm.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory.behaviour import Known, Observed, Remedy, Step
from memory.conversation import Message, Usage
from memory.edits import Entry
from memory.fact import Fact, Passage
from memory.session import Exchange, Receipt, Session

T = TypeVar("T")


class StoreError(Exception):
    """A store could not do what it was asked: locked, full, corrupt. The message says which and how to mend it."""


class NotWritten(Exception):
    """A lasting file cannot be read or written as it should be; the message says which and why. Nothing has changed."""


class LastingFiles(Protocol):
    """Files that outlive us, in folders that a person has named. ``name`` is a path below ``folder``; no link is
    followed on the way to it. Line ends are kept; None stands for no file."""

    async def read(self, folder: Path, name: str) -> str | None:
        """The text of a file.

        Raises:
            NotWritten: when it is no plain text file, or a link stands on the way to it.
        """

    async def replace(self, folder: Path, name: str, before: str | None, after: str | None) -> None:
        """Put ``after`` in the place of a file that holds ``before``, whole or not at all; its mode stays. Folders on
        the way are made; the one that a file leaves empty goes with it.

        Raises:
            NotWritten: when the file holds something else by now, or cannot be written.
        """


class Guard(Protocol):
    """Awaits something that may fail or be late without doing harm, and counts it when it does."""

    async def __call__(self, awaitable: Awaitable[T], *, otherwise: T, within: float, doing: str) -> tuple[T, str]:
        """The result and an empty string, or ``otherwise`` and why; ``within`` is in seconds."""


Vector = NDArray[np.float32]
Sparse = Mapping[int, float]
"""A sparse vector: term id (32 bit, see ``memory.language.terms.term``) → weight."""


class Embedder(Protocol):
    """Text → unit vectors."""

    name: str
    dimensions: int
    quick: bool
    """Whether a query takes far less than a millisecond: handing it to a thread would cost more than it saves."""

    def documents(self, texts: Sequence[str]) -> Vector:
        """Shape (n, dimensions), rows of length one (or zero for a text of which nothing is known)."""

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Vector:
        """Shape (dimensions,). ``idf`` weighs each word by its stem's rarity in the caller's own store."""


class NoAnswer(Exception):
    """A language model gave no answer that can be used; the message says why."""


class LanguageModel(Protocol):
    """A model that background work may be given to."""

    async def ask(self, task: str, material: str, shape: Mapping[str, Any]) -> Any:
        """The answer to a task about some material, as JSON of a shape (JSON Schema), not yet checked against it.

        Raises:
            NoAnswer: when there is none: it cannot be reached, the day's budget is spent, it talks instead.
        """


@dataclass(frozen=True, slots=True)
class Point:
    """A memory in the index. ``id`` is a UUID, ``sort`` is ``fact`` or ``turn``, ``at`` seconds since 1970."""

    id: str
    owner: str
    sort: str
    at: float
    dense: Vector
    sparse: Sparse


@dataclass(frozen=True, slots=True)
class Query:
    """A search: only points of ``owners`` are seen. ``limit`` is for each leg."""

    owners: tuple[str, ...]
    dense: Vector | None
    sparse: Sparse
    limit: int
    sort: str | None = None
    since: float | None = None
    until: float | None = None


class Found(NamedTuple):
    """A candidate with both scores: cosine, and the dot product of the sparse vectors.

    ``lexical`` is 0 for what only the dense leg brought: others share more words with the question, and to ask for
    the exact little that it shares was measured to change nothing but the time.
    """

    id: str
    cosine: float
    lexical: float


class Index(Protocol):
    """The vector index. It can be thrown away and rebuilt from the journal's database."""

    async def upsert(self, points: Sequence[Point]) -> None:
        """Add or replace points; durable against a crash of the process when it returns."""

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove points; unknown ids are ignored."""

    async def search(self, query: Query) -> list[Found]:
        """The best of the dense and of the sparse leg together; no order is promised."""

    async def count(self) -> int:
        """How many points there are."""

    async def close(self) -> None:
        """Flush and let go of the files."""


@dataclass(frozen=True, slots=True)
class Journaled:
    """An exchange as it lies in the journal, for the worker.

    ``messages`` is the whole request; ``fresh`` the indices of messages that no earlier exchange of the session
    had; ``reply`` the reply as a message, or None where it was cut or failed. Secrets are redacted in all of it.
    """

    number: int
    id: str
    session: Session
    kind: str
    at: datetime
    messages: tuple[Message, ...]
    fresh: tuple[int, ...]
    reply: Message | None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
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
class Lesson:
    """What one exchange taught, written in one transaction with the worker's cursor.

    ``uses`` come behind the facts. ``documents`` counts, for each owner, how many indexed texts were added, ``terms``
    in how many of them each term occurs; ``observed`` is how the work in it was done.
    """

    number: int
    facts: tuple[Fact, ...] = ()
    passages: tuple[Passage, ...] = ()
    documents: Mapping[str, int] = field(default_factory=dict)
    terms: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    uses: tuple[Use, ...] = ()
    observed: Observed | None = None


@dataclass(frozen=True, slots=True)
class Rarity:
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
class Shelved:
    """A message that the journal has, with the overviews of its parts. ``redacted``: it cannot be given back word for
    word, since a secret was taken out of it or a person has had it forgotten."""

    redacted: bool
    overviews: Mapping[int, Overview] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """A message as the journal can give it back; ``redacted`` and ``forgotten`` say why that is not word for word."""

    message: Message
    redacted: bool = False
    forgotten: bool = False
    overviews: Mapping[int, Overview] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """The newest turn of a session as the journal can give it back: the request's messages as the client sent them,
    without secrets, and the reply, None where nothing was answered."""

    session: Session
    dialect: str
    model: str
    at: datetime
    messages: tuple[Kept, ...]
    reply: Kept | None = None


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
class Forgotten:
    """What a person's ``forget`` took away.

    ``facts`` and ``passages`` are whole, as they were, so that tombstones can be made of them; they are to be
    dropped soon. ``sessions`` are those whose ledger changed; ``scrubbed`` is False where an open reader kept the
    old pages of the journal's log alive (they go with the next idle moment). ``files`` are lasting files of which a
    line was taken out, ``faults`` says in sentences of which it could not be.
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

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories that are gone, as :meth:`Index.delete` takes them."""
        return (*(fact.id for fact in self.facts), *(passage.id for passage in self.passages))


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


class Journal(Protocol):
    """The durable truth: exchanges, sessions, ledger, facts, passages, receipts."""

    async def session_by_key(self, key: str) -> Session | None:
        """The session that a runtime's own id names (already put in the credential's namespace)."""

    async def session_by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[Session, int, bool] | None:
        """The session whose requests went furthest along this trail: session, how many messages are shared, and
        whether that is where the session's newest request ended (its tip)."""

    async def ledger(self, session: str) -> tuple[Entry, ...]:
        """A session's ledger in the order it was written."""

    async def given(self, session: str) -> list[tuple[bytes, tuple[str, ...]]]:
        """The memories that were added to a session's messages, by the message's digest, in order."""

    async def enter(self, session: Session, entries: Sequence[Entry], messages: Sequence[Message] = ()) -> None:
        """Write the session (insert or update) and new entries, with the messages that these take something from and
        that no exchange has brought yet. One transaction."""

    async def commit(self, exchange: Exchange) -> None:
        """Append an exchange: new messages, redacted; the hashes; session, trail, receipt. One transaction."""

    async def unlearned(self, limit: int) -> list[Journaled]:
        """Exchanges behind the worker's cursor, oldest first."""

    async def learn(self, lesson: Lesson) -> None:
        """Write what an exchange taught and move the cursor, in one transaction."""

    async def untiered(self, limit: int) -> list[Journaled]:
        """Exchanges of which no overviews were made yet, oldest first: of each request the messages from a little
        before the first fresh one (``fresh`` counts from there), and the reply also where it was cut."""

    async def write_overviews(self, number: int, owner: str, overviews: Mapping[tuple[bytes, int], Overview]) -> None:
        """Write overviews by subject and part (for a message: its person, its digest), and in the same transaction
        move the cursor to the exchange ``number``; 0 moves nothing. Nothing is written of what was forgotten."""

    async def shelved(self, session: str, digests: Sequence[bytes]) -> dict[bytes, Shelved]:
        """Of these messages those that the journal has of the session's person, with their overviews."""

    async def kept(self, person: str, prefix: str, limit: int = 2) -> list[Kept]:
        """A person's messages (the owner of the layer *user*) whose digest begins with these hexadecimal digits."""

    async def latest(self, limit: int, runtime: str = "") -> list[tuple[Session, Receipt]]:
        """The sessions seen last, of one runtime or of any, each with the receipt of its newest turn."""

    async def turns(self, person: str, name: str, limit: int = 2) -> list[Turn]:
        """The newest turns of a person's sessions whose id begins with ``name``, or whose runtime calls them so."""

    async def pin_part(self, person: str, digest: bytes, part: int, at: datetime | None) -> None:
        """A person wants a part whole since ``at``, or, with None, no longer."""

    async def pinned(self, session: str) -> frozenset[str]:
        """The handles of what the session's person wants whole."""

    async def usages(self, receipt: str) -> tuple[Usage | None, Usage | None]:
        """What the provider reported for the exchange of a receipt (its whole id), and for the session's next turn."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id, in the order of the ids; unknown ids are left out, and those of other owners too."""

    async def facts_of(self, owners: Sequence[str], limit: int = 1000) -> list[Fact]:
        """The active facts of some owners, newest first."""

    async def page_facts(self, owners: Sequence[str], limit: int) -> list[Fact]:
        """The active facts of some owners that a page may hold: pinned, approved, or a person's own word; those
        first that are pinned or borne out by a second session, then the surest and weightiest."""

    async def find_facts(self, owners: Sequence[str], text: str, limit: int = 100) -> list[Fact]:
        """Facts of some owners, in any state, whose id begins with ``text`` or that hold it; newest first."""

    async def find_passages(self, owners: Sequence[str], text: str, limit: int = 100) -> list[Passage]:
        """Passages of some owners that hold ``text``; newest first."""

    async def begins(self, prefix: str, owners: Sequence[str], limit: int = 10) -> list[str]:
        """The ids of facts and passages of some owners that begin with ``prefix``."""

    async def owners(self) -> list[str]:
        """Every owner that has, or had, memories, in order."""

    async def update(self, fact: Fact) -> bool:
        """Write a known fact anew; False where it is not known."""

    async def pin(self, id: str, pinned: bool) -> bool:
        """Pin a fact or let go of it; False where it is not known."""

    async def supersede(self, id: str, by: str, at: datetime) -> bool:
        """A fact was followed by another, which then names it; False where it is not known."""

    async def reinforce(self, ids: Sequence[str], session: str, at: datetime, used: bool) -> None:
        """Memories were shown in a session. Only use strengthens: access, last use, distinct sessions."""

    async def passages(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Passage]:
        """Passages by id, in the order of the ids; unknown ids are left out, and those of other owners too."""

    async def memories(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact | Passage]:
        """Facts and passages by id, as far as they belong to these owners; no order is promised."""

    async def drawn_from(self, sources: Sequence[bytes], owners: Sequence[str]) -> list[Fact]:
        """The active facts of some owners that came from these messages."""

    async def between(
        self, owners: Sequence[str], since: datetime, until: datetime, limit: int
    ) -> tuple[list[Fact], list[Passage]]:
        """What was learnt, and what was said, from one moment to another; each at most ``limit``, in order of time."""

    async def taught(self, owner: str, sources: Sequence[bytes]) -> frozenset[bytes]:
        """Which of these messages an owner has passages of already."""

    async def neighbours(
        self, session: str, turn: int, reach: int, owners: Sequence[str] | None = None
    ) -> list[Passage]:
        """The passages of a session from ``turn - reach`` to ``turn + reach``, in order."""

    async def rarity(self, owners: Sequence[str], terms: Sequence[int]) -> Rarity:
        """Document frequencies of terms among the texts of some owners."""

    async def remedies(self, owners: Sequence[str], keys: Sequence[bytes]) -> list[Remedy]:
        """The active facts of some owners that hold a fix for an error with one of these keys."""

    async def steps(self, owner: str, limit: int) -> list[Step]:
        """An owner's newest steps, in the order in which they were taken."""

    async def known_steps(self, owner: str, marks: Sequence[bytes]) -> frozenset[bytes]:
        """Which of these marks are those of steps of an owner that are known."""

    async def observations(self, owner: str, subjects: Sequence[bytes] | None = None) -> list[Known]:
        """Which facts hold these observations of an owner's; all that there are where none are named."""

    async def graph_due(self, limit: int) -> list[Fact | Passage]:
        """Memories that the entity graph has still to take in."""

    async def file_names(self, names: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        """Take memories into the entity graph: by id the owner, and the names that stand in it. One that is not there
        any more, or has another owner by now, is left."""

    async def graph(self, owners: Sequence[str], names: Sequence[str], memories: Sequence[str]) -> Graph:
        """The entity graph around some names of some owners and some memories of theirs: a small part, bounded."""

    async def tallies(self, owner: str) -> dict[str, Tally]:
        """How each leg of recall has done for an owner."""

    async def tally(self, owner: str, tallies: Mapping[str, Tally]) -> None:
        """Write how the legs have done."""

    async def receipt(self, id: str) -> Receipt | None:
        """A receipt by id (or a prefix of it that names one only)."""

    async def receipts(self, limit: int) -> list[Receipt]:
        """The newest receipts."""

    async def forget(
        self, ids: Sequence[str], at: datetime, owners: Sequence[str] | None = None, tombstones: Sequence[bytes] = ()
    ) -> Forgotten:
        """Delete facts and passages, what was derived from them and the messages they came from, everywhere in
        the journal, and bury ``tombstones`` (keyed hashes); ids of other owners are left alone."""

    async def tombstone(self, hashes: Sequence[bytes], at: datetime) -> None:
        """Remember keyed hashes of what must not be learned again."""

    async def is_forgotten(self, hashes: Sequence[bytes]) -> frozenset[bytes]:
        """Which of these hashes have a tombstone."""

    async def generations(self) -> list[Generation]:
        """The indexes that are kept up to date."""

    async def begin_generation(self, embedder: str, dimensions: int) -> Generation:
        """A new index, empty, with everything there is still to take in."""

    async def switch_generation(self, number: int) -> None:
        """Make an index the current one."""

    async def drop_generation(self, number: int) -> None:
        """Give up an index."""

    async def unindexed(self, limit: int, generation: int | None = None) -> Lag:
        """What an index (the current one) has still to take in."""

    async def mark_indexed(self, ids: Sequence[str], generation: int | None = None) -> None:
        """An index (the current one) has taken these in, or let them go; to be called after it is durable."""

    async def waiting(self, generation: int | None = None) -> int:
        """How many memories an index (the current one) has still to take in or let go."""

    async def meta(self, name: str) -> bytes | None:
        """A single named value."""

    async def set_meta(self, name: str, value: bytes) -> None:
        """Write a single named value."""

    def key(self) -> bytes:
        """32 random bytes, made once for this database: the key of all its keyed hashes."""

    async def counts(self) -> Counts:
        """How much is stored, and how many exchanges the worker is behind."""

    async def close(self) -> None:
        """Finish what is queued and let go of the file."""
