"""Fit a request into its model's window: what leaves it, what comes back to it, and how large it is then.

The shell around :mod:`memory.day.shedding` and :mod:`memory.day.paging`. It writes what was decided into the session's
ledger, so that it is made again in every later request. A session's lock is held by the caller.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from memory.conversation import Conversation, Form, Usage
from memory.day.given import FrozenPage
from memory.day.paging import Paging, Returned
from memory.day.reported import Reported
from memory.day.sessions import LiveSession
from memory.day.shedding import Decision, Load, Shedding
from memory.edits import PAGED, Act, Entry, Key
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
    made of it in our own tokens, ``paged`` the handles of what came back; ``note`` says what went wrong."""

    tokens: int = 0
    window: int = 0
    changed: int = 0
    shed: Shed | None = None
    paged: tuple[str, ...] = ()
    note: str = ""


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
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        refused: bool = False,
    ) -> Fit:
        """Decide what leaves. ``refused``: the provider would not take the request as it stands."""
        standing = live.ledger.standing(keys, conversation.head)
        load = self._shedding.load(conversation, live, standing)
        if refused:
            load = replace(load, window=min(load.window, int(load.expected * OVER)))
        decision, why = await self._guard(
            self._shedding.decide(conversation, keys, live, arrival, standing, load, refused),
            otherwise=Decision(),
            within=SHED_SECONDS,
            doing="shedding",
        )
        entries = list(decision.entries)
        if decision.cut is not None:
            entries.append(await self._cut(conversation, keys, live, decision))
        if live.decide(entries) and decision.cut is not None:
            live.session = replace(live.session, segment=live.session.segment + 1)
        return Fit(shed=decision.shed, note=why or decision.warning)

    async def page_in(self, conversation: Conversation, keys: Sequence[Key], live: LiveSession) -> tuple[str, ...]:
        """Bring back what the newest message turns to, once; that nothing came back is a decision too."""
        standing = live.ledger.standing(keys, conversation.head)
        last = len(keys) - 1
        if not (standing.replaced or standing.dropped) or any(
            index == last and entry.about == PAGED for index, entry in standing.entries
        ):
            return ()
        window = self._shedding.window(conversation)
        found, why = await self._guard(
            self._paging.page_in(live.session.id, conversation, standing, window),
            otherwise=Returned(),
            within=SHED_SECONDS,
            doing="paging in",
        )
        form = conversation.messages[last].takes or Form.SUFFIX
        # What a client sent may hold a secret, and a ledger must not.
        text = redact(found.text).text if found.text else ""
        written = live.decide([Entry(*keys[last], text, form, f"{PAGED} {why}".strip())])
        return found.handles if written else ()

    def measured(self, conversation: Conversation, keys: Sequence[Key], live: LiveSession, fit: Fit) -> Fit:
        """How large the request is with everything that was decided."""
        load: Load = self._shedding.load(conversation, live, live.ledger.standing(keys, conversation.head))
        return replace(fit, tokens=load.expected, window=load.window, changed=load.changed)

    def told(self, model: str, window: int) -> None:
        """A provider said how many tokens a model reads at once."""
        self._reported.told(model, window)

    async def heard(self, session: str, conversation: Conversation, changed: int, usage: Usage | None) -> None:
        """What a provider reported for a request whose edits changed it by so many of our tokens."""
        await self._reported.reported(session, conversation, changed, usage)

    async def _cut(
        self, conversation: Conversation, keys: Sequence[Key], live: LiveSession, decision: Decision
    ) -> Entry:
        cut = decision.cut
        assert cut is not None
        page, _ = await self._guard(
            self._page(live.session.scope), otherwise=FrozenPage(), within=SHED_SECONDS, doing="reading the page"
        )
        form = conversation.messages[conversation.head - 1].takes or Form.SUFFIX
        text = page.text + redact(cut.text).text
        digest, occurrence = keys[cut.message]
        return Entry(digest, occurrence, text, form, "rotate", page.memories, act=Act.CUT)
