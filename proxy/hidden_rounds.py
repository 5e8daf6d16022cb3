"""One reply out of several rounds: when the model calls a tool of memory's, answer it here and ask again.

The client sees one reply and none of those calls. Where the model calls the client's tools at the same time, the
client answers its own, and our answers are put in beside them with its next request. All that was hidden is kept in
the session's ledger before the client sees the end of the reply, and is made again from then on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import aiohttp
from aiohttp import web

from memory.context.tools import NAMES, TOOLS, ToolAnswer
from memory.learning.redact import redact
from memory.services.tool_calls import ToolCaller, origin_of
from memory.session import HiddenRound, Prepared, RequestKind
from proxy import metrics
from proxy.commit import ExchangeCommit
from proxy.edge import Edge
from proxy.errors import UpstreamUnreachable
from proxy.fail_open import fail_open
from proxy.request_body import write_edits
from proxy.upstream import chatgpt
from proxy.upstream.direct import incoming_headers
from proxy.upstream.reply import ProviderReply, chunks, plain
from proxy.wire.dialect import STREAMS, Dialect, Listener, RequestView
from proxy.wire.rounds import answered, result, writer
from proxy.wire.rounds.offering import Definition, collides, may_offer, names_in, spelt, with_messages
from proxy.wire.rounds.turn import ContentMark, HiddenRoundRecord, RoundTurn, joined

ANSWER_SECONDS = 5.0
"""How long one question to memory may take; the model waits for it, and goes on without it then."""

DRAIN_SECONDS = 0.2
"""How long to wait for the end of a stream that said all it has to say, so that its connection can serve again."""

LAST = "\n(Memory answers no more questions in this reply.)"
UNASKED = ToolAnswer("Memory cannot be asked just now; go on without it.")

Send = Callable[[bytes], AbstractAsyncContextManager[ProviderReply]]
"""Sends a body to where the request went."""


def with_offer(edge: Edge, view: RequestView, prepared: Prepared, headers: Mapping[str, str]) -> Prepared:
    """The plan with the tools that its session offers, if it does."""
    if edge.memory is None or not view.conversation.tools:
        return prepared
    tools = edge.memory.tool_offering.offered(
        prepared, view.conversation, lambda: _tools_for_first_request(view, headers)
    )
    fits = bool(tools) and not collides(view, names_of(tools))
    return edge.memory.preparation.offering(prepared, view.conversation, tools if fits else "")


def by_login(headers: Mapping[str, str]) -> bool:
    """Whether a request is paid by a subscription (a Claude or ChatGPT login): beyond its user's own words it may not
    be reshaped."""
    bearer = headers.get("Authorization", "").strip().rpartition(" ")[2]
    betas = headers.get("anthropic-beta", "")
    return bearer.lower().startswith("sk-ant-oat") or "oauth-" in betas or chatgpt.is_login(headers, bearer)


def _tools_for_first_request(view: RequestView, headers: Mapping[str, str]) -> str:
    """The definitions that a session which begins with this request offers."""
    allowed = may_offer(view, NAMES) and not by_login(headers)
    return _definitions(view.conversation.dialect) if allowed else ""


@lru_cache(maxsize=8)
def _definitions(dialect: str) -> str:
    return spelt(dialect, [Definition(*tool) for tool in TOOLS])


@lru_cache(maxsize=64)
def names_of(tools: str) -> frozenset[str]:
    """The names of the tools in definitions of ours."""
    return names_in(tools)


@dataclass(frozen=True, slots=True)
class RoundRequest:
    """A request whose reply may have several rounds."""

    edge: Edge
    dialect: Dialect
    view: RequestView
    prepared: Prepared
    send: Send


class HiddenRounds:
    """Relays one reply."""

    def __init__(self, request: RoundRequest, listener: Listener | None, committed: ExchangeCommit | None) -> None:
        self._outgoing = request
        self._listener = listener
        self._committed = committed
        self._settled = False
        self._rounds: list[HiddenRound] = []
        self._before: list[str] = []
        self._marks: list[ContentMark] = []
        self._memories: list[str] = []

    async def relay(
        self, reply: ProviderReply, request: web.Request, headers: Mapping[str, str], begun: bytes = b""
    ) -> web.StreamResponse:
        """Answer ``request`` with the provider's reply and all that follows it; ``headers`` of ours are added, and
        ``begun`` was read of it before."""
        streamed = reply.content_type in STREAMS
        self._request = request
        self._writer = writer(self._outgoing.dialect.name, streamed, names_of(self._outgoing.prepared.tools))
        self._heard = self._listener or self._outgoing.dialect.listen(streamed)
        self._response = web.StreamResponse(
            status=reply.status, reason=reply.reason, headers=incoming_headers(reply.headers.items())
        )
        self._response.headers.popall("Content-Length", None)
        self._response.headers.update(headers)
        # The client may be gone at every write, the head's too.
        with suppress(aiohttp.ClientConnectionResetError):
            try:
                if streamed:
                    await self._response.prepare(request)
                await self._hear(reply, begun)
                while (turn := self._turn()).goes_on:
                    if not await self._next(turn):
                        await self._show(self._writer.close())
                        break
                await self._settle()
            except aiohttp.ClientConnectionResetError:
                raise
            except aiohttp.ClientError:
                with suppress(aiohttp.ClientConnectionResetError):
                    await self._settle()
                if request.transport is not None:
                    request.transport.close()
                return self._response
            if not self._response.prepared:
                await self._response.prepare(request)
            await self._response.write_eof()
        return self._response

    def _turn(self) -> RoundTurn:
        """What the round said, where it hides anything."""
        return self._writer.turn() if self._writer.hides else RoundTurn()

    async def _hear(self, reply: ProviderReply, begun: bytes = b"") -> None:
        """Pass one round on, up to its end; a round that goes on without its own."""
        async for chunk in chunks(reply, begun) if begun else reply.content.iter_any():
            await self._show(self._writer.feed(chunk))
            if self._writer.over and self._turn().goes_on:
                await _drained(reply)
                return
            if self._heard.ended:
                await self._settle()
        await self._show(self._writer.end())

    async def _next(self, turn: RoundTurn) -> bool:
        """Answer a round's calls and pass the next round on; False where there is none."""
        edge, name = self._outgoing.edge, self._outgoing.dialect.name
        limit = edge.settings.memory.tools.rounds
        if len(self._rounds) >= limit:
            return False
        answers = await self._answers(turn, LAST if len(self._rounds) == limit - 1 else "")
        self._before.append(answered(name, turn.message, answers))
        self._marks += turn.marks
        await self._record(HiddenRoundRecord(joined(self._before), tuple(self._marks)))
        asked = self._outgoing
        sent = await write_edits(asked.dialect, asked.view, asked.prepared) or asked.view.body
        body = with_messages(sent, name, joined(self._before))
        try:
            async with self._outgoing.send(body) as more:
                if refused := _why_not_passed_on(more, self._response.content_type):
                    edge.degradations.add("going on after a tool of memory's", refused)
                    return False
                self._writer.again()
                await self._hear(more)
                return True
        except UpstreamUnreachable as error:
            edge.degradations.add("going on after a tool of memory's", f"unreachable: {error}")
            return False

    async def _settle(self) -> None:
        """The reply is over: keep what it hid, journal it, and let its end go."""
        if self._settled:
            return
        self._settled = True
        turn = self._turn()
        hidden = HiddenRoundRecord(joined(self._before), tuple(self._marks))
        if turn.shared:
            answers = await self._answers(turn, "")
            calls = tuple((call.behind, call.raw) for call in turn.calls)
            hidden = replace(hidden, beside=calls, results=joined(answers))
        await self._record(hidden)
        if self._committed is not None:
            self._committed.record_hidden(tuple(self._rounds))
            await self._committed.commit_before_end(self._heard.reply())
        if rest := self._heard.finish():
            await self._response.write(rest)

    async def _show(self, visible: bytes) -> None:
        """Give the client what it may see; the terminator stays behind with the listener."""
        if not visible:
            return
        if not self._response.prepared:  # a whole reply comes in one piece
            self._response.content_length = len(visible)
            await self._response.prepare(self._request)
        if passing := self._heard.feed(visible):
            await self._response.write(passing)

    async def _answers(self, turn: RoundTurn, more: str) -> list[str]:
        """The answers to a round's calls, as they stand in a request."""
        edge, prepared, conversation = self._outgoing.edge, self._outgoing.prepared, self._outgoing.view.conversation
        metrics.HIDDEN_ROUNDS.inc()
        self._rounds.append(HiddenRound(tuple(call.name for call in turn.calls), turn.usage))
        memory, session = edge.memory, prepared.session
        answers = []
        for call in turn.calls:
            answer = UNASKED
            if memory is not None and session is not None:
                origin = origin_of(conversation, prepared.arrival.kind is RequestKind.SUBAGENT)
                asker = ToolCaller(session.scope, session.id, origin, prepared.journaled)
                answer, _ = await fail_open(
                    memory.tools.answer(call.name, call.arguments, asker),
                    default=UNASKED,
                    timeout_seconds=ANSWER_SECONDS,
                    operation="answering a tool of memory's",
                    degradations=edge.degradations,
                )
            self._memories += answer.memories
            answers.append(result(self._outgoing.dialect.name, call.id, answer.text + more, call.name))
        return answers

    async def _record(self, hidden: HiddenRoundRecord) -> None:
        """Have the ledger keep it; without secrets where it is stored."""
        if self._outgoing.edge.memory is None:
            return
        record = hidden.dump() if hidden != HiddenRoundRecord() else ""
        stored = (await asyncio.to_thread(hidden.free_of, _free)).dump() if record else ""
        memories = tuple(dict.fromkeys(self._memories))
        self._outgoing.edge.memory.tool_offering.keep(
            self._outgoing.prepared, self._outgoing.view.conversation, record, stored, memories
        )


def _free(text: str) -> str:
    return redact(text).text


def _why_not_passed_on(reply: ProviderReply, expected: str) -> str:
    """Why a further round cannot be passed on; empty where it can."""
    if reply.status != 200:
        return f"refused: the provider answered {reply.status}"
    if not plain(reply):
        return "compressed: the provider was asked for plain text"
    return "" if reply.content_type == expected else f"other: {reply.content_type} in place of {expected}"


async def _drained(reply: ProviderReply) -> None:
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            await reply.content.read()
    except (TimeoutError, aiohttp.ClientError):
        return
