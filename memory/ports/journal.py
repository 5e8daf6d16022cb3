"""The durable truth, as everything else asks it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from memory.behaviour import KnownObservation, Remedy, WorkStep
from memory.checkout import LearnedAt
from memory.conversation import Message, Usage
from memory.edits import Entry
from memory.fact import Fact, FactKind, Origin, Passage, State
from memory.member import Membership
from memory.ports.records import (
    AgreedLedger,
    Counts,
    Forgotten,
    Generation,
    Graph,
    Journaled,
    JournaledMessage,
    JournaledTurn,
    Lag,
    LedgerVersion,
    Lesson,
    Measured,
    ModelTotals,
    Overview,
    SetAsideErasure,
    StoredMessage,
    StoredSession,
    Tally,
    TermRarity,
)
from memory.scope import Scope
from memory.session import Exchange, Receipt, Session

FACT_DECISIONS: Final = "fact_decisions "
"""Behind this, by the owner of the fact, the journal keeps under a name what was decided of facts: a JSON list, of
which goes what names a fact that is forgotten."""


class StoreError(Exception):
    """A store could not do what it was asked: locked, full, corrupt. The message says which and how to mend it."""

    may_be_done = False
    """Whether what it was asked may have been done nonetheless."""


class SessionPort(Protocol):
    """Sessions and their ledgers."""

    async def session_by_key(self, key: str) -> Session | None:
        """The session that a runtime's own id names (already put in the credential's namespace)."""

    async def session_by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[Session, int, bool] | None:
        """The session whose requests went furthest along this trail: session, how many messages are shared, and
        whether that is where the session's newest request ended (its tip)."""

    async def session_by_messages(
        self, namespace: str, messages: Sequence[bytes], end: int
    ) -> tuple[Session, int, tuple[bytes, ...]] | None:
        """Of the sessions that no id of a runtime's names and that were seen last, the one in whose requests most of
        these messages stood: session, how many of them, and the digests of the last ``end`` messages of its newest
        request."""

    async def stored_session(
        self, key: str | None, namespace: str, trail: Sequence[bytes], known: tuple[str, LedgerVersion] | None = None
    ) -> StoredSession | None:
        """The session of a request by its ``key``, or else the one that went furthest along its trail, as it is at this
        moment, whoever wrote it; what others have changed meanwhile has been heard then. ``known`` is the session that
        it likely is, and which version of its ledger is at hand."""

    async def agree(
        self,
        session: Session,
        opening: tuple[str, bytes] | None,
        version: LedgerVersion | None,
        entries: Sequence[Entry],
        messages: Sequence[Message] = (),
    ) -> AgreedLedger:
        """As :meth:`enter` where other processes write, too: what another one has decided first stands, and of a new
        session that has been begun elsewhere nothing is written. ``opening`` is the namespace and the last link of a
        request that no key names; ``version`` is how far the ledger was known to be written, None where the session
        is new."""

    async def ledger(self, session: str) -> tuple[Entry, ...]:
        """A session's ledger in the order it was written."""

    async def given(self, session: str) -> list[tuple[bytes, tuple[str, ...]]]:
        """The memories that were added to a session's messages, by the message's digest, in order."""

    async def enter(self, session: Session, entries: Sequence[Entry], messages: Sequence[Message] = ()) -> None:
        """Write the session (insert or update) and new entries, with the messages that these take something from and
        that no exchange has brought yet. One transaction."""

    async def withdraw(self, session: Session, entries: Sequence[Entry]) -> None:
        """Write the session as it is without entries that were entered and then not decided. One transaction."""

    async def latest(self, limit: int, runtime: str = "", of: Scope | None = None) -> list[tuple[Session, Receipt]]:
        """The sessions seen last, of one runtime or of any, each with the receipt of its newest turn; one person's
        where a scope is given."""


class ExchangePort(Protocol):
    """Exchanges: appended, set aside while the journal cannot take them, read again by the worker that learns."""

    async def commit(self, exchange: Exchange, entries: Sequence[Entry] = (), messages: Sequence[Message] = ()) -> None:
        """Append an exchange: new messages, redacted; the hashes; session, trail, receipt; and what its session's
        ledger has beside, as :meth:`enter` writes it. One transaction."""

    async def set_aside(self, exchange: Exchange, entries: Sequence[Entry] = ()) -> None:
        """Have an exchange, and entries of its session's ledger, outlive this process though the journal does not take
        them yet; without secrets. When it is committed it is not aside any more.

        Raises:
            StoreError: when it cannot be written, or too much is aside already.
        """

    async def take_back(self, but: Collection[str] = ()) -> int:
        """Append what is aside and not being committed, ``but`` for these, this process's or an earlier one's, oldest
        first; how many are in the journal now that were not before. What is not placed is given the session that its
        request turns out to be of. What cannot be read or written is :attr:`broken` from now on, and not
        tried again by this process.

        Raises:
            StoreError: when the journal cannot take it; what is left stays aside.
        """

    @property
    def aside(self) -> int:
        """How many exchanges are aside and not being committed."""

    @property
    def broken(self) -> int:
        """How many exchanges that were aside this process could not take back; their files stay."""

    async def forget_aside(self) -> SetAsideErasure:
        """With a ``forget``: delete what was aside and is damaged, since nobody can tell what it holds. It stays where
        the journal is several people's, for then nobody can tell whose it is, either.

        Raises:
            StoreError: when it cannot be told what there is.
        """

    async def newest_exchange(self) -> int:
        """The number of the newest exchange; 0 where there is none."""

    async def recent_replies(self, person: str, limit: int) -> list[tuple[Session, datetime, Message]]:
        """The newest whole replies in a person's sessions, the newest first: of each its session, and when it was asked
        for."""

    async def turns(self, person: str, name: str, limit: int = 2) -> list[JournaledTurn]:
        """The newest turns of a person's sessions whose id begins with ``name``, which then has four letters at
        least, or whose runtime calls them so."""

    async def unlearned(self, limit: int) -> list[Journaled]:
        """Exchanges behind the worker's cursor, oldest first."""

    async def learn(self, lesson: Lesson) -> None:
        """Write what an exchange taught and move the cursor, in one transaction."""


class ContentPort(Protocol):
    """Messages by digest, their overviews, and which of them a person wants whole."""

    async def untiered(self, limit: int) -> list[Journaled]:
        """Exchanges of which no overviews were made yet, oldest first: of each request the messages from a little
        before the first fresh one (``fresh`` counts from there), and the reply also where it was cut."""

    async def write_overviews(self, number: int, owner: str, overviews: Mapping[tuple[bytes, int], Overview]) -> None:
        """Write overviews by subject and part (for a message: its person, its digest), and in the same transaction
        move the cursor to the exchange ``number``; 0 moves nothing. Nothing is written of what was forgotten."""

    async def shelved(self, session: str, digests: Sequence[bytes]) -> dict[bytes, StoredMessage]:
        """Of these messages those that the journal has of the session's person, with their overviews."""

    async def without_overviews(self, session: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        """Of these messages those of the session's person that have no overview yet, and hold nothing that was taken
        out of them."""

    async def messages_by_digest(self, person: str, prefix: str, limit: int = 2) -> list[JournaledMessage]:
        """A person's messages (the owner of the layer *user*) whose digest begins with these hexadecimal digits."""

    async def projects_of_message(self, person: str, digest: bytes) -> frozenset[str | None]:
        """The projects of a person's sessions in which a message stands; None for one of which no project is known."""

    async def pin_part(self, person: str, digest: bytes, part: int, at: datetime | None) -> None:
        """A person wants a part whole since ``at``, or, with None, no longer."""

    async def pinned(self, session: str) -> frozenset[str]:
        """The handles of what the session's person wants whole."""


class ReceiptPort(Protocol):
    """What was done to requests, and what that cost."""

    async def receipt(self, id: str, of: Scope | None = None) -> Receipt | None:
        """A receipt by id (or a prefix of it that names one only)."""

    async def receipts(self, limit: int, of: Scope | None = None) -> list[Receipt]:
        """The newest receipts; of one person's requests where a scope is given."""

    async def sums(self, since: datetime, of: Scope | None = None) -> list[ModelTotals]:
        """What was done to everybody's turns, or one person's, since a time, by day, project and model."""

    async def pages_given(self, of: Scope, limit: int) -> list[tuple[datetime, str]]:
        """The pages with which the sessions of a person's project began, and when, the newest first."""

    async def measured(self, since: datetime, of: Scope) -> list[Measured]:
        """A person's sessions that began since a time while memory was measured."""

    async def usages(self, receipt: str) -> tuple[Usage | None, Usage | None]:
        """What the provider reported for the exchange of a receipt (its whole id), and for the session's next turn."""

    async def newest_usage(self, session: str, model: str) -> tuple[Usage, int, bytes] | None:
        """What the provider reported for the newest turn of a session, with how many messages its request had and the
        digest of the last of them; None where that was for another model, whose tokens are others."""


class MemoryPort(Protocol):
    """Facts and passages: read, searched by their text, changed."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id, in the order of the ids; unknown ids are left out, and those of other owners too."""

    async def put_away(self, owner: str, below: float, limit: int = 10_000) -> list[Fact]:
        """Archived facts of an owner that were seen once and are less sure than ``below``, newest first; not those that
        a night has archived."""

    async def facts_of(self, owners: Sequence[str], limit: int = 1000) -> list[Fact]:
        """The active facts of some owners, newest first."""

    async def page_facts(self, owners: Sequence[str], limit: int) -> list[Fact]:
        """The active facts of some owners that a page may hold: pinned, approved, or a person's own word; those
        first that are pinned or borne out by a second session, then the surest and weightiest."""

    async def find_facts(self, owners: Sequence[str], text: str, limit: int = 100) -> list[Fact]:
        """Facts of some owners, in any state, whose id begins with ``text`` or that hold it; newest first."""

    async def listed(
        self,
        owners: Sequence[str],
        states: Collection[State],
        kinds: Collection[FactKind] = frozenset(FactKind),
        origins: Collection[Origin] = frozenset(Origin),
        *,
        limit: int = 100,
    ) -> list[Fact]:
        """Facts of some owners in some states, of some kinds and origins, the newest first."""

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
        self, places: Sequence[tuple[str, int]], reach: int, owners: Sequence[str] | None = None
    ) -> list[Passage]:
        """For each of these places (a session and a turn of it) the passages of the session that stand at most so many
        turns from it, in order."""

    async def rarity(self, owners: Sequence[str], terms: Sequence[int]) -> TermRarity:
        """Document frequencies of terms among the texts of some owners."""

    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]:
        """Where memories were learnt, by their ids, as far as that is known."""


class BehaviourPort(Protocol):
    """How work is done: steps, and the facts that hold what was observed."""

    async def remedies(self, owners: Sequence[str], keys: Sequence[bytes]) -> list[Remedy]:
        """The active facts of some owners that hold a fix for an error with one of these keys."""

    async def steps(self, owner: str, limit: int) -> list[WorkStep]:
        """An owner's newest steps, in the order in which they were taken."""

    async def known_steps(self, owner: str, marks: Sequence[bytes]) -> frozenset[bytes]:
        """Which of these marks are those of steps of an owner that are known."""

    async def observations(self, owner: str, subjects: Sequence[bytes] | None = None) -> list[KnownObservation]:
        """Which facts hold these observations of an owner's; all that there are where none are named."""


class GraphPort(Protocol):
    """The entity graph, and how the legs of recall have done."""

    async def graph_due(self, limit: int) -> list[Fact | Passage]:
        """Memories that the entity graph has still to take in."""

    async def file_names(self, names: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        """Take memories into the entity graph: by id the owner, and the names that stand in it. One that is not there
        any more, or has another owner by now, is left."""

    async def graph(self, owners: Sequence[str], names: Sequence[str], memories: Sequence[str]) -> Graph:
        """The entity graph around some names of some owners and some memories of theirs: a small part, bounded."""

    async def names_beside(self, owners: Sequence[str], name: str, limit: int) -> dict[str, tuple[str, ...]]:
        """By id the names of memories of some owners in which a name stands, alone or with more behind it."""

    async def names_most(self, owners: Sequence[str], limit: int) -> dict[str, int]:
        """The names that stand in most memories of some owners, and in how many."""

    async def tallies(self, owner: str) -> dict[str, Tally]:
        """How each leg of recall has done for an owner."""

    async def tally(self, owner: str, tallies: Mapping[str, Tally]) -> None:
        """Write how the legs have done."""


class ErasurePort(Protocol):
    """What a person has forgotten, and what must not be learned again."""

    async def forget(
        self, ids: Sequence[str], at: datetime, owners: Sequence[str] | None = None, tombstones: Sequence[bytes] = ()
    ) -> Forgotten:
        """Delete facts and passages, what was derived from them and the messages they came from, everywhere in
        the journal, and bury ``tombstones`` (keyed hashes); ids of other owners are left alone."""

    async def tombstone(self, hashes: Sequence[bytes], at: datetime) -> None:
        """Remember keyed hashes of what must not be learned again."""

    async def lift_tombstone(self, hash: bytes) -> None:
        """What a keyed hash was made of may be learned again: it was dismissed, and that was taken back."""

    async def is_forgotten(self, hashes: Sequence[bytes]) -> frozenset[bytes]:
        """Which of these hashes have a tombstone."""


class IndexPort(Protocol):
    """What each index has still to take in."""

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


class Journal(
    SessionPort,
    ExchangePort,
    ContentPort,
    ReceiptPort,
    MemoryPort,
    BehaviourPort,
    GraphPort,
    ErasurePort,
    IndexPort,
    Protocol,
):
    """The durable truth: all of the above in one store."""

    @property
    def works(self) -> bool:
        """Whether this process does what one alone must do."""

    async def meta(self, name: str) -> bytes | None:
        """A single named value."""

    async def set_meta(self, name: str, value: bytes) -> None:
        """Write a single named value."""

    def key(self) -> bytes:
        """32 random bytes, made once for this database: the key of all its keyed hashes."""

    async def membership(self, org: str, user: str) -> Membership:
        """What somebody is in an organisation."""

    async def counts(self) -> Counts:
        """How much is stored, and how many exchanges the worker is behind."""

    async def close(self) -> None:
        """Finish what is queued and let go of the file."""
