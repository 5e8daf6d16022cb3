"""A client that only takes hooks tells what was said in it, and is told what memory would add.

Its talk is prepared and journaled as a request that comes through here is; it is kept in this process alone, so that a
reply can be put behind the words that it answers.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, Final, NotRequired, TypedDict

import orjson
from aiohttp import web

from memory.conversation import Reply, Text
from memory.edits import Append
from memory.hooks.route_request import checked_text
from memory.learning.redact import redact_name
from memory.lru import LruDict
from memory.session import Arrival, Mode, Prepared, RequestKind
from proxy.api.access import access
from proxy.api.params import body_of, memory_of, scope_of
from proxy.api.responses import Json, answer
from proxy.caller import (
    checkout_to_keep,
    directory_to_keep,
    name,
    namespace,
    shared_owners,
    strictest,
    without_secrets,
)
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal
from proxy.fail_open import fail_open
from proxy.runtimes import ClientEnvironment, project_of
from proxy.runtimes.environment import path_in
from proxy.runtimes.user_text import user_text
from proxy.wire import DIALECTS
from proxy.wire.dialect import RequestView

routes = web.RouteTableDef()

MOST_TALKS: Final = 256
MOST_MESSAGES: Final = 200
"""Messages of a talk that are kept; those before are forgotten here, and stand in the journal."""
EVENTS: Final = ("prompt", "reply", "context")

_FORMAT: Final = "/chat/completions"
_FIELDS: Final = {"client": str, "session": str, "event": str, "text": str, "directory": str, "later": bool}


class HookAddition(TypedDict):
    """What memory adds, and the id of the receipt that tells of it; an empty text for nothing."""

    text: str
    receipt: NotRequired[str]


class HookReply(TypedDict):
    """Whether a reply was journaled: whether it answers words that were told."""

    journaled: bool


@dataclass(slots=True)
class Talk:
    """A session of a client: what was said, what is being answered, and what memory added that was not given yet."""

    messages: list[dict[str, str]] = field(default_factory=list)
    asked: tuple[Prepared, RequestView] | None = None
    waiting: str = ""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Talks:
    """The talks that are under way."""

    def __init__(self) -> None:
        self._talks: LruDict[tuple[str, ...], Talk] = LruDict(MOST_TALKS)

    def of(self, *key: str) -> Talk:
        """A talk by its key; a new one where there is none."""
        return self._talks.use(key, Talk())


TALKS = web.AppKey("talks", Talks)


@routes.post("/api/hook")
async def hook(request: web.Request) -> Json[HookAddition | HookReply]:
    """``{"client": "cursor", "session": …, "event": "prompt", "text": …, "directory": …}``: what memory adds to a
    person's words. With ``"later": true`` it is kept until the event ``context`` asks for it; ``reply`` tells what was
    answered."""
    memory, edge = memory_of(request), request.app[EDGE]
    fields = await body_of(request, _FIELDS)
    event = fields.get("event", "")
    if event not in EVENTS:
        raise Refusal(422, f"event is {event[:40]!r}; it is one of {', '.join(EVENTS)}")
    key = edge.identity_key
    client = redact_name(name(fields.get("client", ""), "client"), key)
    session = redact_name(name(fields.get("session", ""), "session"), key)
    scope = scope_of(request)
    place = ClientEnvironment(directory=path_in(fields.get("directory", "")))
    if edge.settings.server.loopback:
        place = edge.checkouts.locate(place)
    if scope.project is None:
        scope = without_secrets(replace(scope, project=project_of(place)), key)
    talk = request.app[TALKS].of(scope.org or "", scope.user or "", scope.project or "", client, session)
    async with talk.lock:
        if event == "context":
            text, talk.waiting = talk.waiting, ""
            return answer({"text": text})
        text = checked_text(fields.get("text", ""), "text", required=True)
        if event == "reply":
            return answer({"journaled": await _journal_reply(memory, talk, text)})
        mode = strictest(edge.settings.memory.mode, place.mode)
        if (settings := edge.settings.projects.get(scope.project or "")) is not None:
            mode = strictest(mode, settings.memory)
        mode = mode if access().asker.writes(scope.project) else strictest(mode, Mode.READ_ONLY)
        talk.messages = [*talk.messages, {"role": "user", "content": text}][-MOST_MESSAGES:]
        body = orjson.dumps({"messages": talk.messages})  # no hook tells the model
        view = DIALECTS[_FORMAT].read(body, user_text)
        arrival = Arrival(
            scope=scope,
            kind=RequestKind.MAIN,
            runtime=client,
            namespace=namespace("\0".join(filter(None, ("hook", client, scope.user, scope.org))), key),
            at=edge.now(),
            session_key=session,
            mode=mode,
            directory=directory_to_keep(place, key),
            checkout=checkout_to_keep(place, key),
            size=len(body),
            also=shared_owners(scope, edge.settings, key, edge.checkouts.shared_with),
        )
        added, receipt = await _prepare_words(edge, talk, view, arrival)
        if fields.get("later"):
            talk.waiting, added = added, ""
        return answer({"text": added, "receipt": receipt})


async def _prepare_words(edge: Edge, talk: Talk, view: RequestView, arrival: Arrival) -> tuple[str, str]:
    """What memory adds to the newest words of a talk, and the receipt's id."""
    memory = edge.memory
    assert memory is not None
    prepared, _ = await fail_open(
        memory.preparation.prepare(view.conversation, arrival),
        default=None,
        timeout_seconds=memory.preparation.time_limit(view.conversation, arrival),
        operation="preparing for a hook",
        degradations=edge.degradations,
    )
    talk.asked = None if prepared is None else (prepared, view)
    if prepared is None:
        return "", ""
    last = len(view.items) - 1
    texts = [edit.text for edit in prepared.edits if isinstance(edit, Append) and edit.message == last]
    return "".join(texts).strip(), prepared.receipt.id


async def _journal_reply(memory: Any, talk: Talk, text: str) -> bool:
    """Journal a reply with the words that it answers; whether there were any."""
    pending, talk.asked = talk.asked, None
    talk.messages.append({"role": "assistant", "content": text})
    if pending is None:
        return False
    prepared, view = pending
    await memory.exchange_journal.record(prepared, view.conversation, Reply((Text(text),), complete=True), 200)
    return True
