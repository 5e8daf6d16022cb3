"""Which new session is a sub-agent: by the ids that its client sends, else by the errand that was just given.

A parent's reply is heard before its client sees the end of it, so that the errand is known when the child's first
request comes, however soon that is. What is kept here is a shortcut of the last minutes; what was missed (a restart
lay between) is tied by the worker, out of the journal. So are errands that were given through another replica: a
sub-agent's first request may come to any of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memory.conversation import Conversation, Message, Reply, Role, ToolCall
from memory.learning.spawning import candidates, errands, is_spawner, normal, opening, taken
from memory.lru import LruDict
from memory.ports import Journal
from memory.research import Errand, Spawn, may_send
from memory.scope import Layer
from memory.services.sessions.namespaces import session_key
from memory.session import Arrival, Prepared, RequestKind, Session

WITHIN = timedelta(minutes=10)
"""How long after an errand was given a session may begin that takes it."""

ABOUT = timedelta(hours=1)
"""How long after a sub-agent was last heard of there may be more to hear of it."""

NEWEST = 8
"""Messages of a request that are looked at for a report that is handed back."""

MAX_REPLIES_PER_FAMILY = 64
"""Replies with tool calls that are kept of each family."""

FAMILIES = 256
MOST_SESSIONS = FAMILIES * MAX_REPLIES_PER_FAMILY


@dataclass(slots=True)
class _SpawningCalls:
    """The calls of one reply; ``known`` are the errands of spawning tools, ``others`` any other texts by their normal
    form, both read only when they are asked for. ``takers`` are the sessions that took one, by its place."""

    session: Session
    calls: tuple[ToolCall, ...]
    at: datetime
    known: list[Errand] | None = None
    others: dict[str, tuple[int, Errand]] = field(default_factory=dict)
    takers: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TakenErrand:
    """A session took an errand that another gave. ``learnt`` says that the tool was not known to send sub-agents."""

    parent: Session
    errand: Errand
    learnt: bool
    _heard: _SpawningCalls
    _place: int

    def by(self, session: str) -> None:
        """The session that took it."""
        self._heard.takers.setdefault(self._place, session)


class RecentErrands:
    """The errands that were given a moment ago, by family: the callers of one credential, organisation and user."""

    def __init__(self) -> None:
        self._families: LruDict[str, deque[_SpawningCalls]] = LruDict(FAMILIES)
        self._sessions: LruDict[tuple[str, str], Session] = LruDict(MOST_SESSIONS)
        self._taken: LruDict[str, TakenErrand] = LruDict(MOST_SESSIONS)
        self._directories: LruDict[str, str] = LruDict(MOST_SESSIONS)
        self._learnt: dict[str, set[str]] = {}
        self._about: datetime | None = None

    def about(self, now: datetime) -> bool:
        """Whether sub-agents are at work, or may be: one was sent out, or a request of one came, not long ago."""
        return self._about is not None and now - self._about < ABOUT

    def note_calls(self, prepared: Prepared, reply: Reply) -> None:
        """A reply has come to its end; nothing is read of it yet."""
        calls = tuple(part for part in reply.parts if isinstance(part, ToolCall))
        if not calls or prepared.session is None:
            return
        if any(is_spawner(call.name) for call in calls):
            self._about = prepared.arrival.at
        family = self._families.use(prepared.arrival.whose, deque(maxlen=MAX_REPLIES_PER_FAMILY))
        family.append(_SpawningCalls(prepared.session, calls, prepared.arrival.at))

    def heard_elsewhere(self, whose: str, replies: Iterable[tuple[Session, datetime, Message]]) -> None:
        """Replies that other processes have heard, too."""
        family = self._families.get(whose, deque(maxlen=MAX_REPLIES_PER_FAMILY))
        known = {(heard.session.id, heard.at) for heard in family}
        more = [
            _SpawningCalls(session, calls, at)
            for session, at, message in replies
            if (session.id, at) not in known
            and (calls := tuple(part for part in message.parts if isinstance(part, ToolCall)))
        ]
        if more:
            every = sorted((*family, *more), key=lambda heard: heard.at)
            self._families.put(whose, deque(every, maxlen=MAX_REPLIES_PER_FAMILY))

    def knows_parent(self, arrival: Arrival) -> bool:
        """Whether the session is known that a request names as its parent; also where it names none."""
        return arrival.parent_key is None or self._parent(arrival) is not None

    def parent_found(self, arrival: Arrival, parent: Session) -> None:
        """The session that a request names as its parent."""
        if arrival.parent_key is not None:
            self._sessions.put((arrival.whose, arrival.parent_key), parent)

    def recognised(self, conversation: Conversation, arrival: Arrival) -> tuple[Arrival, TakenErrand | None]:
        """The arrival of a request that opens a session, as that of a sub-agent if it is one, and the errand that it
        took, as far as that is known."""
        if not arrival.kind.teaches or any(message.role is Role.ASSISTANT for message in conversation.messages):
            return arrival, None
        found, parent = self._best_fitting_errand(conversation, arrival), self._parent(arrival)
        if parent is not None:
            # It says whose it is: what another session asked for in the same words is not its errand.
            ours = found if found is not None and found.parent.id == parent.id else None
            return replace(arrival, kind=RequestKind.SUBAGENT, parent=parent.key), ours
        if found is None:
            return arrival, None
        return replace(arrival, kind=RequestKind.SUBAGENT, parent=found.parent.key), found

    def arrived(
        self, arrival: Arrival, session: Session, found: TakenErrand | None, conversation: Conversation
    ) -> None:
        """A request's session is known."""
        if arrival.directory is not None:
            self._directories.put(session.id, arrival.directory)
        ours = arrival.kind is RequestKind.SUBAGENT or session.kind is RequestKind.SUBAGENT or found is not None
        if ours or _brings_report(conversation):
            self._about = arrival.at
        if arrival.session_key is not None:
            self._sessions.put((arrival.whose, arrival.session_key), session)
        if found is not None and found.parent.id != session.id:
            found.by(session.id)
            self._taken.use(session.id, found)
            if found.learnt:
                self._learnt.setdefault(arrival.whose, set()).add(found.errand.tool)

    def spawn(self, session: str) -> Spawn | None:
        """The errand that a session took, as it is written down; None where none is known."""
        found = self._taken.get(session)
        return Spawn(found.parent.id, found.errand, found._heard.at, session) if found else None

    def directory(self, session: str) -> str:
        """Where a session works on its machine, as its client said it last; empty where that is not known."""
        return self._directories.get(session, "")

    def parent(self, session: str) -> Session | None:
        """The session that gave the errand which a session took."""
        found = self._taken.get(session)
        return found.parent if found else None

    def learnt(self, session: str) -> str:
        """The name of the tool that sent a session, where it was not known to send any; empty otherwise."""
        found = self._taken.get(session)
        return found.errand.tool if found is not None and found.learnt else ""

    def _parent(self, arrival: Arrival) -> Session | None:
        key = arrival.parent_key
        return self._sessions.get((arrival.whose, key)) if key is not None else None

    def _best_fitting_errand(self, conversation: Conversation, arrival: Arrival) -> TakenErrand | None:
        """The errand that fits the session's opening best; of several, one that nobody has taken, then the newest."""
        family = self._families.get(arrival.whose)
        recent = [
            heard
            for heard in family or ()
            if arrival.at - heard.at < WITHIN and may_send(heard.session.scope, arrival.scope)
        ]
        if not recent:
            return None
        texts = opening(conversation.messages)
        if not texts:
            return None
        learnt = frozenset(self._learnt.get(arrival.whose, ()))
        best: tuple[tuple[int, bool, int], TakenErrand] | None = None
        for order, heard in enumerate(recent):
            for place, errand, fits in _fitting(heard, texts, learnt):
                key = (fits, place not in heard.takers, order)
                if best is None or key > best[0]:
                    best = key, TakenErrand(heard.session, errand, place < 0, heard, place)
        return best[1] if best else None


def _fitting(heard: _SpawningCalls, texts: Sequence[str], learnt: frozenset[str]) -> Iterator[tuple[int, Errand, int]]:
    """The errands of a reply that fit an opening, each with its place (below zero: of a tool that is not known to send
    any) and how well it fits."""
    if heard.known is None:
        heard.known = errands(heard.calls)
        others = candidates(call for call in heard.calls if not is_spawner(call.name))
        heard.others = {normal(errand.prompt): (-1 - place, errand) for place, errand in enumerate(others)}
    for place, errand in enumerate(heard.known):
        if fits := taken(errand, texts, True):
            yield place, errand, fits
    for text in texts:
        if text in heard.others:
            place, errand = heard.others[text]
            yield place, errand, taken(errand, texts, False)
    if learnt:
        for place, errand in heard.others.values():
            if errand.tool in learnt and (fits := taken(errand, texts, True)):
                yield place, errand, fits


def _brings_report(conversation: Conversation) -> bool:
    """Whether a request brings what a sub-agent reported: one of the newest calls is a spawning tool's."""
    return any(
        isinstance(part, ToolCall) and is_spawner(part.name)
        for message in conversation.messages[-NEWEST:]
        for part in message.parts
    )


class SharedErrands:
    """Reads in the journal what other replicas have heard: a reply is there before its client sees the end of it."""

    def __init__(self, journal: Journal, errands: RecentErrands) -> None:
        self._journal = journal
        self._errands = errands

    async def hear(self, conversation: Conversation, arrival: Arrival) -> None:
        """Before it is asked whether a request that opens a session is a sub-agent's.

        Raises:
            StoreError: when the journal cannot be read.
        """
        person = arrival.scope.owner(Layer.USER)
        if person is None or not arrival.kind.teaches:
            return
        if any(message.role is Role.ASSISTANT for message in conversation.messages):
            return
        replies = await self._journal.recent_replies(person, MAX_REPLIES_PER_FAMILY)
        self._errands.heard_elsewhere(arrival.whose, replies)
        if not self._errands.knows_parent(arrival):
            key = session_key(arrival, arrival.parent_key)
            parent = await self._journal.session_by_key(key) if key is not None else None
            if parent is not None:
                self._errands.parent_found(arrival, parent)
