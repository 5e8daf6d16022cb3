"""What the shells of research need of the journal beside :class:`memory.ports.Journal`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory.conversation import Message
from memory.fact import Passage
from memory.learning.research import ObservedExchange
from memory.ports import Forgotten, Journal
from memory.research import Research, ResearchUse, Spawn
from memory.session import Session


class ResearchJournal(Journal, Protocol):
    """The durable truth, research included."""

    async def unobserved(self, limit: int) -> list[ObservedExchange]:
        """Exchanges that were not looked at for research, oldest first, with the end of their requests."""

    async def write_research(
        self, research: Sequence[Research], number: int = 0, spawns: Sequence[Spawn] = (), person: str = ""
    ) -> None:
        """Write research and errands of a person's, and move the cursor with them (0 moves nothing)."""

    async def research(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Research]:
        """Research by id, in the order of the ids, as far as it belongs to these owners."""

    async def research_named(self, beginning: str, owners: Sequence[str]) -> list[str]:
        """The ids of research of some owners that begin with these hexadecimal digits, dashes left out."""

    async def research_of_session(self, session: str) -> Research | None:
        """The research of a sub-agent's session."""

    async def research_of_parent(self, session: str) -> list[Research]:
        """The research that a session sent out, the oldest first."""

    async def newest_research(self, owners: Sequence[str], limit: int) -> list[Research]:
        """The research of some owners, the newest first."""

    async def research_after(self, owner: str, after: str, limit: int) -> list[Research]:
        """An owner's research whose ids come behind ``after``, in order."""

    async def research_owners(self) -> list[str]:
        """Every owner that has research."""

    async def projects_with_research(self, org: str) -> list[str]:
        """The owners of those projects of an organisation in which there is research that can be found."""

    async def idle_research(self, before: datetime) -> list[Research]:
        """Research that is still running and has gone no further since ``before``."""

    async def trail(self, research: Research) -> list[Message]:
        """The messages of a research's trail, in order, free of secrets."""

    async def store_messages(self, person: str, messages: Sequence[Message]) -> None:
        """Store messages of a person's that no exchange brought, free of secrets; what is known stays as it is."""

    async def research_pieces(self, id: str) -> list[Passage]:
        """The passages by which a research is found."""

    async def spawns_of(self, session: str) -> list[Spawn]:
        """The errands that a session gave, in order."""

    async def spawns_waiting(self, person: str, since: datetime) -> list[Spawn]:
        """The errands of a person's that no session has taken yet, given since a moment."""

    async def learn_spawner(self, person: str, tool: str) -> None:
        """A tool of a person's was seen to send a sub-agent out."""

    async def spawners(self, person: str) -> frozenset[str]:
        """The names of tools that were seen to."""

    async def tie(self, session: str, parent: str) -> None:
        """A session is the sub-agent of another, which has this key."""

    async def session_in_namespace(self, key: str) -> Session | None:
        """The session that a key names in its namespace, whichever runtime it is of."""

    async def session(self, id: str) -> Session | None:
        """A session by its id."""

    async def sessions_by_id(self, ids: Sequence[str]) -> dict[str, Session]:
        """Those of some sessions that there are, by their ids."""

    async def use_research(self, ids: Sequence[str], session: str, how: str, at: datetime, tokens: int) -> None:
        """Research was used again in a session; the same use counts once."""

    async def uses_of_research(self, ids: Sequence[str]) -> list[ResearchUse]:
        """How research was used again."""

    async def same_question(self, research: Research) -> list[Research]:
        """Other research of the same person's that was asked the very same."""

    async def forget_research(self, every: Sequence[Research], at: datetime, tombstones: Sequence[bytes]) -> Forgotten:
        """Delete research of one person's everywhere in the journal, with the messages of its trails, and with the
        question and the report where they stand in the talk that sent it out."""

    async def forget_pieces(self, ids: Sequence[str], at: datetime) -> None:
        """Let go of passages by which a research is found, which is written anew."""
