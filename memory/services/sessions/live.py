"""A session that is alive, with its ledger, as it is kept in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from memory.conversation import Message, Usage
from memory.edits import Entry, Key, Ledger
from memory.ports import NO_LEDGER, LedgerVersion
from memory.session import Session

NOTHING_REPORTED = Usage()
MOST_HELD = 2
"""Responses of a session of which it is remembered what their server holds: its client goes on from its newest, and
tries again from the one before."""


@dataclass(frozen=True)
class HeldHistory:
    """The messages that a server holds behind a response, of which a client that goes on from there sends none:
    their ``keys``, in order, and the index of the ``newest_spoken``, 0 where nobody spoke. ``usage`` is what its
    provider reported of all of it, the instructions, the tools and the response included; nothing where it did not."""

    keys: tuple[Key, ...] = ()
    newest_spoken: int = 0
    usage: Usage = NOTHING_REPORTED

    @cached_property
    def counts(self) -> Counter[bytes]:
        """How often each message stands in it."""
        return Counter(digest for digest, _ in self.keys)


NOTHING_HELD = HeldHistory()


@dataclass(slots=True)
class LiveSession:
    """A session with its ledger. ``lock`` orders the requests that decide something new.

    ``tip`` is the last link of its newest request's trail, ``unwritten`` what the ledger has and the journal does
    not have yet, ``unkept`` the messages that it takes something from and that the journal does not have either;
    ``known`` says whether the journal has the session, ``tools`` whether its turns offer tools.
    ``read_at`` is when the request came that a provider read last, None where it has no prefix of this session's;
    ``answered`` is the last link of the trail of the request that had a whole reply last;
    ``held`` is what its server holds, by the ids of its newest responses;
    ``opening`` is the trail's link at the head of the newest request, ``end`` the digests of its last messages;
    ``version`` is how far the ledger was written when this process last saw it, where several write;
    ``looked`` is how many tokens a request had when it was last looked for what could leave it, ``pinned`` the handles
    of what was to stay whole then; ``weighed`` how many bytes of its ledger were reckoned with.
    ``outgrown`` is how many tokens its history had when its client was last asked for all of it, 0 while it fits.
    """

    session: Session
    ledger: Ledger
    tip: bytes = b""
    unwritten: list[Entry] = field(default_factory=list)
    unkept: dict[bytes, Message] = field(default_factory=dict)
    known: bool = False
    tools: bool = False
    read_at: datetime | None = None
    answered: bytes = b""
    held: OrderedDict[str, HeldHistory] = field(default_factory=OrderedDict)
    opening: bytes = b""
    end: tuple[bytes, ...] = ()
    version: LedgerVersion = NO_LEDGER
    looked: int = 0
    pinned: frozenset[str] = frozenset()
    weighed: int = 0
    outgrown: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    saving: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def ahead(self) -> bool:
        """Whether the journal is behind, or may be: a write that is under way can still fail."""
        return bool(self.unwritten or self.unkept) or self.saving.locked()

    @property
    def idle(self) -> bool:
        """Whether the journal has all of its ledger, and no request decides anything about it."""
        return not self.ahead and not self.lock.locked()

    def decide(self, entries: Iterable[Entry]) -> list[Entry]:
        """Write decisions into the ledger; those that were written. Of a message's page, and of its recall, the first
        decision stands, so what another request has decided meanwhile is not decided again. Of what stands in a
        part's place the last one does."""
        written = []
        for entry in entries:
            if self.undecided(entry):
                self.ledger.write(entry)
                written.append(entry)
        self.unwritten.extend(written)
        return written

    def undecided(self, entry: Entry) -> bool:
        """Whether :meth:`decide` would write it."""
        return self.ledger.takes(entry)

    def holds(self, response: str, history: HeldHistory) -> None:
        """Its server holds these messages behind a response."""
        self.held[response] = history
        self.held.move_to_end(response)
        while len(self.held) > MOST_HELD:
            self.held.popitem(last=False)

    def renew(self, entries: Iterable[Entry], version: LedgerVersion) -> None:
        """The ledger as another process has written it, and what of our own is still to be written."""
        ledger = Ledger(entries)
        for entry in self.unwritten:
            if ledger.takes(entry):
                ledger.write(entry)
        self.ledger, self.version = ledger, version


_ALL = 2**64


def held_out(session: str, share: float) -> bool | None:
    """Whether a new session is one of the ``share`` that go without memory, by a hash of its id; None where none do."""
    if share <= 0:
        return None
    digest = hashlib.blake2b(session.encode(), digest_size=8, person=b"held out").digest()
    return int.from_bytes(digest) < share * _ALL
