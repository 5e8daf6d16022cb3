"""Decide, once, what is added to the newest message of a request, and write it into the session's ledger.

The page at a session's first words and recall at each new message of a person or a tool, each under a deadline; what
leaves a full window is decided before. Whatever is decided stands, so that a retry changes nothing. The session's lock
is held by the caller.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.context.page import marked
from memory.conversation import Conversation, Form, Role
from memory.edits import PAGE, Act, Entry, Key, texts_by_memory
from memory.fact import Fact, Passage
from memory.hooks.chain import Features
from memory.hooks.feature import FeatureRequest as Asked
from memory.ports import BoundedSeconds, Guard
from memory.services.context_sources import FrozenPage, PageSource, PriorFindings, Recalled, Recaller, opens
from memory.services.deadline import Deadline, ServiceTime, longest_recall, recall_time
from memory.services.quota_use import QuotaUse
from memory.services.request import SessionRequest
from memory.services.window.fitting import Fit, WindowFitter
from memory.session import RequestKind, ResearchAnswer
from memory.settings import RECALL_TOKENS, MemorySettings

BYTES_PER_TOKEN = 4
"""For budgets: what is added is prose, for which four bytes a token is on the safe side."""

RESEARCH = "research"
"""What an entry is about that gives a sub-agent what others found before."""

PAGE_GIVEN = PAGE
PAGE_SWITCHED_OFF = "page is switched off"
"""The reasons with which a session's page is settled. With any other it failed: it may still be given, at a later
message."""


Known = Callable[[Sequence[str], Sequence[str]], Awaitable[list[Fact | Passage]]]
"""The memories with these ids, as far as they belong to these owners."""


@dataclass(frozen=True, slots=True)
class ContextDecision:
    """What was decided about the newest message, and how long it took; ``without_page`` is why the page could not be
    read that was to be given, ``used_up`` the quota for want of which nothing was recalled."""

    page: FrozenPage = field(default_factory=FrozenPage)
    without_page: str = ""
    recalled: Recalled = field(default_factory=Recalled)
    research: Recalled = field(default_factory=Recalled)
    answer: ResearchAnswer | None = None
    fit: Fit = field(default_factory=Fit)
    steps: Mapping[str, float] = field(default_factory=dict)
    used_up: str = ""


class ContextDecider:
    """Decides what a request is given."""

    def __init__(
        self,
        settings: MemorySettings,
        recaller: Recaller,
        pages: PageSource,
        guard: Guard,
        window_of: Callable[[str], int | None] = lambda model: None,
        fitting: WindowFitter | None = None,
        findings: PriorFindings | None = None,
        features: Features | None = None,
        known: Known | None = None,
        quotas: QuotaUse | None = None,
    ) -> None:
        self._quotas = quotas
        self._settings = settings
        self._recaller = recaller
        self._pages = pages
        self._guard = guard
        self._window_of = window_of
        self._fitting = fitting
        self._findings = findings if findings is not None and findings.enabled else None
        self._features = features
        self._known = known
        self._times = ServiceTime(settings.recall.deadline_ms / 1000, settings.recall.longest_ms / 1000)
        self._longest = {person: longest_recall(settings.recall, person) for person in (False, True)}

    def deadline(self, person: bool, waited: float = 0.0) -> BoundedSeconds:
        """Seconds that adding to a new message may take: as many as it is seen to take on this machine, in bounds.
        ``person`` says whether a person spoke in it; so many seconds it has ``waited`` in a queue."""
        return recall_time(self._longest[person], self._times, waited)

    async def decide(self, request: SessionRequest, deadline: Deadline) -> ContextDecision:
        """Decide about the newest message, once, and write it into the ledger. Each step has what the ``deadline``
        leaves it; what was done before one that is late stands.

        The page goes where the newest person's words are when it is first given: at a session's start that is the
        first human message, and in a session that we only come to know on its way nothing older moves. It is
        given again when the client has dropped the message that carried it. Where reading it failed it is given at a
        later message, never at the same one, which was forwarded without it.
        """
        conversation, live = request.conversation, request.live
        fit, steps = Fit(), dict[str, float]()
        if self._fitting is not None:
            start = time.perf_counter()
            fit = await self._fitting.shed(request, deadline)
            steps["shed"] = elapsed_ms(start)
        index = newest_message(conversation)
        if index is None:
            return ContextDecision(recalled=Recalled(note="nothing new was said"), fit=fit, steps=steps)
        if self._fitting is not None and live.ledger.shed:
            start = time.perf_counter()
            fit = replace(fit, paged=await self._fitting.page_in(request, deadline))
            steps["page in"] = elapsed_ms(start)
        message, key = conversation.messages[index], request.keys[index]
        stands = request.standing()
        standing = (*request.standing_before(), *stands.entries)
        # What the model asked for stands in the hidden rounds.
        asked_for = {memory for entry in stands.inserted.values() for memory in entry.memories}
        new: list[Entry] = []
        page, without_page = FrozenPage(), ""
        form = message.takes or Form.SUFFIX
        patience = self.deadline(bool(message.spoken), request.arrival.waited)
        until = Deadline(deadline.within(patience))
        began = time.perf_counter()
        if message.spoken and not any(_settles_page(entry, at == index) for at, entry in standing):
            start = time.perf_counter()
            page, without_page = await self._page(request, until)
            why = PAGE_GIVEN if self._settings.page.enabled else PAGE_SWITCHED_OFF
            new.append(Entry(*key, page.text, form, f"{why} {without_page}".strip(), page.memories))
            steps["page"] = elapsed_ms(start)
        research, answer = Recalled(), None
        decided = any(at == index and entry.about == RESEARCH for at, entry in standing)
        if self._findings is not None and not decided and message.spoken and _asks_as_subagent(request):
            research, answer = await self._prior_research(self._findings, request, deadline)
            given = tuple(shown.memory for shown in research.shown)
            new.append(Entry(*key, research.text, form, f"{RESEARCH} {research.note}".strip(), given))
            steps |= research.steps
            until, began = Deadline(deadline.within(patience)), time.perf_counter()
        used_up = ""
        before = next((entry for at, entry in standing if at == index and entry.about == "recall"), None)
        if before is not None:
            recalled = Recalled(note=_earlier_decision(before))
        else:
            start = time.perf_counter()
            standing = (*standing, *((index, entry) for entry in new))
            # What the model asked for it was given whole.
            present = texts_by_memory(entry for _, entry in standing) | dict.fromkeys(asked_for, "")
            used_up = await self._exhausted_quota(request, until)
            tokens = self._tokens_left(request, standing)
            recalled = Recalled(note=used_up)
            if not used_up:
                recalled = await self._recall(request, tokens, present, until)
            if not recalled.failed or not until.left:
                self._times.took(time.perf_counter() - began)
            memories = tuple([shown.memory for shown in recalled.shown])
            new.append(Entry(*key, recalled.text, form, f"recall {recalled.note}".strip(), memories))
            steps |= {**recalled.steps, "recall": elapsed_ms(start)}
        # A request on the same message may have failed meanwhile, and went on with nothing: that stands then.
        written = {entry.about for entry in live.decide(new)}
        page = page if "page" in written else FrozenPage()
        recalled = recalled if before or "recall" in written else Recalled(note="was decided meanwhile")
        if self._quotas is not None:
            self._quotas.count(live.session.scope, RECALL_TOKENS, tokens_of(recalled.text))
        if RESEARCH not in written:
            research, answer = Recalled(), None
        return ContextDecision(page, without_page, recalled, research, answer, fit, steps, used_up)

    async def _exhausted_quota(self, request: SessionRequest, until: Deadline) -> str:
        """Which quota of recalled tokens is used up today, a person's or their organisation's; empty where none is."""
        if self._quotas is None or not self._settings.recall.enabled:
            return ""
        left = await self._quotas.left(request.live.session.scope, RECALL_TOKENS, until.left)
        return left.used_up if left is not None and not left.left else ""

    async def _page(self, request: SessionRequest, until: Deadline) -> tuple[FrozenPage, str]:
        """The page, and why it could not be read."""
        if not self._settings.page.enabled:
            return FrozenPage(), ""
        return await self._guard(
            self._marked_page(request), default=FrozenPage(), timeout_seconds=until.left, operation="reading the page"
        )

    async def _marked_page(self, request: SessionRequest) -> FrozenPage:
        """The page, with what features have to say against its lines."""
        session = request.live.session
        page = await self._pages.page(session.scope)
        if self._features is None or self._known is None or not page.memories or request.arrival.checkout is None:
            return page
        memories = await self._known(page.memories, session.scope.owners())
        marks = await self._features.marks(session, request.arrival, memories)
        words = {id: mark.words for id, mark in marks.items() if not mark.sure}
        return replace(page, text=marked(page.text, (each for each in memories if isinstance(each, Fact)), words))

    async def _recall(
        self, request: SessionRequest, tokens: int, present: Mapping[str, str], until: Deadline
    ) -> Recalled:
        if not self._settings.recall.enabled:
            return Recalled(note="is switched off")
        if tokens <= 0:
            return Recalled(note="has used up its budget")
        recalled = await self._search(request, tokens, present, until)
        if self._features is None:
            return recalled
        added = await self._features.before_request(
            Asked(request.conversation, request.live.session, request.arrival),
            tokens - tokens_of(recalled.text),
            until.left,
        )
        return replace(recalled, text="\n".join(filter(None, (recalled.text, added))))

    async def _search(
        self, request: SessionRequest, tokens: int, present: Mapping[str, str], until: Deadline
    ) -> Recalled:
        recalled, why = await self._guard(
            self._recaller.recall(request.conversation, request.live.session, request.arrival, tokens, present),
            default=Recalled(),
            timeout_seconds=until.left,
            operation="recalling",
        )
        return replace(recalled, note=why, failed=True) if why else recalled

    async def _prior_research(
        self, findings: PriorFindings, request: SessionRequest, deadline: Deadline
    ) -> tuple[Recalled, ResearchAnswer | None]:
        """What others found before for a sub-agent's question, under a deadline of its own."""
        (found, answer), why = await self._guard(
            findings.earlier(request.conversation, request.live.session, request.arrival),
            default=(Recalled(), None),
            timeout_seconds=deadline.within(findings.deadline),
            operation="looking for earlier research",
        )
        return (replace(found, note=why, failed=True) if why else found), answer

    def _tokens_left(self, request: SessionRequest, standing: Sequence[tuple[int, Entry]]) -> int:
        """Tokens that may still be recalled: for this human turn, its page and its tool loop included, and for this
        segment."""
        messages, held = request.conversation.messages, request.held
        spoken = (index for index in range(len(messages) - 1, -1, -1) if messages[index].spoken)
        last_human = next(spoken, held.newest_spoken - len(held.keys))
        turn = sum(tokens_of(each.text) for at, each in standing if at >= last_human and each.about != RESEARCH)
        segment = sum(tokens_of(entry.text) for _, entry in standing if entry.about == "recall")
        window = self._window_of(request.model) or self._settings.default_window
        share = int(self._settings.recall.segment_share * window)
        return min(self._settings.recall.tokens - turn, share - segment)


def newest_message(conversation: Conversation) -> int | None:
    """The message that something can be added to: the newest one, if a person or a tool spoke in it."""
    index = conversation.newest
    message = conversation.messages[index]
    spoken = message.role in (Role.USER, Role.TOOL) and (message.spoken or message.results)
    return index if spoken and message.takes else None


def _earlier_decision(entry: Entry) -> str:
    """What was decided when the same message came before: asked again within minutes, or tried again by its client."""
    why = entry.reason.partition(" ")[2]
    count, tokens = len(entry.memories), tokens_of(entry.text)
    given = f"{count} {'memory' if count == 1 else 'memories'} in {tokens} tokens"
    decided = given if entry.text else f"nothing ({why})" if why else "nothing"
    return f"this message came before, and what was decided then stands: {decided}"


def _asks_as_subagent(request: SessionRequest) -> bool:
    return request.arrival.kind is RequestKind.SUBAGENT and opens(request.conversation) and not request.held.keys


def _settles_page(entry: Entry, here: bool) -> bool:
    """Whether an entry keeps the page from being given: it was, or it was tried ``here``, at this very message. A
    rotation brings its own."""
    return entry.act is Act.CUT or (entry.about == "page" and (here or entry.reason in (PAGE_GIVEN, PAGE_SWITCHED_OFF)))


def no_addition(conversation: Conversation, keys: Sequence[Key], why: str) -> list[Entry]:
    """The decisions that nothing is added to the newest message, because preparing failed; ``keys`` says where each
    message stands in the ledger."""
    index = newest_message(conversation)
    if index is None:
        return []
    message, key = conversation.messages[index], keys[index]
    late = why if why.startswith("late: ") else f"late: {why}"
    decided = ("page", "recall") if message.spoken else ("recall",)
    decided = (*decided, RESEARCH) if message.spoken and opens(conversation) else decided
    return [Entry(*key, "", message.takes or Form.SUFFIX, f"{each} {late}") for each in decided]


def tokens_of(text: str) -> int:
    """A budget's tokens of a text."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def elapsed_ms(start: float) -> float:
    return round((time.perf_counter() - start) * 1000, 3)
