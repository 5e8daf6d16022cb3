"""Fit a request into its model's window: what leaves it, what comes back to it, and how large it is then.

The shell around :mod:`memory.day.window.shedding` and :mod:`memory.day.window.paging`. What was decided is written into
the session's ledger, so that it is made again in every later request: at once where the request goes out with it for
sure, else when it has gone out. A session's lock is held by the caller.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memory.context.shed import Cut
from memory.conversation import Conversation, Form, Message, Usage
from memory.day.deadline import Deadline
from memory.day.given import FrozenPage
from memory.day.sessions.live import LiveSession
from memory.day.window.paging import Paging, Returned
from memory.day.window.reported import Reported
from memory.day.window.shedding import Decision, Load, Shedding
from memory.edits import PAGED, Act, Drop, Edit, Entry, Key, Ledger
from memory.learning.redact import redact
from memory.ports import Guard
from memory.scope import Scope
from memory.session import Arrival, Shed

SHED_SECONDS = 1.0
"""How long deciding what leaves may take. It happens once in many requests, and what must leave must."""

OVER = 0.9
"""What a window is taken for, as a share of the request that a provider refused without saying how much it reads."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a request stands with its edits. ``tokens`` is what the provider will report, ``changed`` what the edits
    made of it in our own tokens, ``paged`` the handles of what came back; ``note`` says what went wrong. ``entries``
    are what was decided to leave, ``unkept`` the messages that it leaves and that the journal does not have. ``late``
    says that nothing could be decided in time."""

    tokens: int = 0
    window: int = 0
    changed: int = 0
    shed: Shed | None = None
    paged: tuple[str, ...] = ()
    note: str = ""
    entries: tuple[Entry, ...] = ()
    unkept: tuple[Message, ...] = ()
    late: bool = False


class Fitting:
    """Keeps sessions below their windows."""

    def __init__(
        self,
        shedding: Shedding,
        paging: Paging,
        reported: Reported,
        page: Callable[[Scope], Awaitable[FrozenPage]],
        guard: Guard,
    ) -> None:
        self._shedding = shedding
        self._paging = paging
        self._reported = reported
        self._page = page
        self._guard = guard

    async def shed(
        self, conversation: Conversation, keys: Sequence[Key], live: LiveSession, arrival: Arrival, deadline: Deadline
    ) -> Fit:
        """Decide what leaves, and write it into the ledger."""
        standing = live.ledger.standing(keys, conversation.head)
        load = self._shedding.load(conversation, live, standing.edits)
        fit = await self._decided(conversation, keys, live, arrival, load, deadline)
        write(live, fit.entries, fit.unkept)
        return fit

    def hasten(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        load: Load,
        late: bool = True,
    ) -> Fit:
        """Have leave at once what has to, where a request of a session that has been shed would go out too large: where
        its plan is ``late``, at the expense of the reply; else larger than the window. Never waits. What was decided is
        for the caller to write."""
        decision = self._shedding.hasty(conversation, keys, live, arrival, load, late)
        entries = list(decision.entries)
        if decision.cut is not None:
            # The note of before goes on, and the page in it.
            before = (entry for _, entry in live.ledger.standing(keys, conversation.head).entries)
            memories = next((entry.memories for entry in before if entry.act is Act.CUT), ())
            entries.append(_cut_with(conversation, keys, decision.cut, FrozenPage("", memories)))
        return Fit(shed=decision.shed, note=decision.warning, entries=tuple(entries), unkept=decision.unkept)

    async def refused(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        sent: Sequence[Edit],
        deadline: Deadline,
    ) -> Fit:
        """Decide what leaves a request that its provider would not take with the edits that it was ``sent`` with; of
        that nothing is written yet. Where the session's own edits make it small enough already, nothing."""
        most = int(self.load(conversation, live, sent).expected * OVER)
        load = self.load(conversation, live, live.ledger.standing(keys, conversation.head).edits)
        load = replace(load, window=min(load.window, most))
        return await self._decided(conversation, keys, live, arrival, load, deadline, load.expected > load.window)

    async def _decided(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        load: Load,
        deadline: Deadline,
        must: bool = False,
    ) -> Fit:
        fit, late = await self._step(conversation, keys, live, arrival, load, deadline, must)
        if not late:
            return fit
        # What was decided too late for the request before need not be enough for this one.
        ledger = Ledger([*live.ledger, *fit.entries])
        now = self._shedding.load(conversation, live, ledger.standing(keys, conversation.head).edits)
        now = replace(now, window=load.window)
        must = must and now.expected > now.window
        more, _ = await self._step(conversation, keys, live, arrival, now, deadline, must, fit.entries)
        return replace(
            more,
            shed=more.shed or fit.shed,
            note="; ".join(filter(None, (fit.note, more.note))),
            entries=(*fit.entries, *more.entries),
            unkept=(*fit.unkept, *more.unkept),
        )

    async def _step(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        load: Load,
        deadline: Deadline,
        must: bool,
        before: Sequence[Entry] = (),
    ) -> tuple[Fit, bool]:
        """One decision, on top of those ``before``; whether it was made for the request before."""
        ledger = Ledger([*live.ledger, *before]) if before else live.ledger
        standing = ledger.standing(keys, conversation.head)
        decision, why = await self._guard(
            self._shedding.decide(conversation, keys, live, arrival, standing, load, must),
            otherwise=Decision(),
            within=deadline.left,
            doing="shedding",
        )
        entries = list(decision.entries)
        if decision.cut is not None:
            entries.append(await self._cut(conversation, keys, live, decision, deadline))
        note = why or decision.warning
        made = Fit(shed=decision.shed, note=note, entries=tuple(entries), unkept=decision.unkept, late=bool(why))
        return made, decision.late

    async def page_in(
        self, conversation: Conversation, keys: Sequence[Key], live: LiveSession, deadline: Deadline
    ) -> tuple[str, ...]:
        """Bring back what the newest message turns to, once; that nothing came back is a decision too."""
        standing = live.ledger.standing(keys, conversation.head)
        last = len(keys) - 1
        if not (standing.replaced or standing.dropped) or any(
            index == last and entry.about == PAGED for index, entry in standing.entries
        ):
            return ()
        window = self._shedding.window(conversation)
        seen = self._shedding.sight(conversation, keys, standing, self.load(conversation, live, standing.edits))
        found, why = await self._guard(
            self._paging.page_in(live.session.id, seen.conversation, seen.standing, window),
            otherwise=Returned(),
            within=deadline.left,
            doing="paging in",
        )
        form = conversation.messages[last].takes or Form.SUFFIX
        # What a client sent may hold a secret, and a ledger must not.
        text = redact(found.text).text if found.text else ""
        written = live.decide([Entry(*keys[last], text, form, f"{PAGED} {why}".strip())])
        return found.handles if written else ()

    def measured(self, load: Load, fit: Fit) -> Fit:
        """How large the request is with all of its edits."""
        return replace(fit, tokens=load.expected, window=load.window, changed=load.changed)

    def load(self, conversation: Conversation, live: LiveSession, edits: Sequence[Edit]) -> Load:
        """How large a request of a session is with some edits."""
        return self._shedding.load(conversation, live, edits)

    def window(self, conversation: Conversation) -> int:
        """Tokens that a request's model reads at once."""
        return self._shedding.window(conversation)

    def offered(self, conversation: Conversation, live: LiveSession) -> int:
        """Tokens of the tools that a session offers beside the client's."""
        return self._shedding.offered(live, conversation)

    def told(self, model: str, window: int) -> None:
        """A provider said how many tokens a model reads at once."""
        self._reported.told(model, window)

    async def heard(
        self, live: LiveSession, conversation: Conversation, edits: Sequence[Edit], tools: str, usage: Usage | None
    ) -> None:
        """What a provider reported for a request that went out with some edits, and with the definitions of some
        ``tools``."""

        def counted() -> int:
            # Counted anew: when it was sent, some of it may have been estimated.
            more = self._shedding.tokens(tools) - self._shedding.offered(live, conversation)
            return self.load(conversation, live, edits).total + more

        gone = {message for edit in edits if isinstance(edit, Drop) for message in edit.messages}
        await self._reported.reported(live.session.id, conversation, counted, usage, gone)

    async def _cut(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        decision: Decision,
        deadline: Deadline,
    ) -> Entry:
        cut = decision.cut
        assert cut is not None
        page, _ = await self._guard(
            self._page(live.session.scope), otherwise=FrozenPage(), within=deadline.left, doing="reading the page"
        )
        return _cut_with(conversation, keys, cut, page)


def _cut_with(conversation: Conversation, keys: Sequence[Key], cut: Cut, page: FrozenPage) -> Entry:
    form = conversation.messages[conversation.head - 1].takes or Form.SUFFIX
    text = page.text + redact(cut.text).text
    digest, occurrence = keys[cut.message]
    return Entry(digest, occurrence, text, form, "rotate", page.memories, act=Act.CUT)


def write(live: LiveSession, entries: Iterable[Entry], unkept: Iterable[Message]) -> None:
    """Write what was decided to leave into a session's ledger, and remember what the journal has still to get for it:
    a stub's handle must lead to what stood there, whatever becomes of the request."""
    written = live.decide(entries)
    if not written:
        return
    live.unkept.update((message.digest, message) for message in unkept)
    if any(entry.act is Act.CUT for entry in written):
        live.session = replace(live.session, segment=live.session.segment + 1)
