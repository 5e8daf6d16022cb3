"""Take in what comes from elsewhere: records of an export, a person's notes, recorded sessions of agents.

``?dry=true`` says what would be taken and takes nothing; ``?project=`` and ``?user=`` say whose it becomes.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any, TypedDict

import msgspec
import orjson
from aiohttp import web

from memory.conversation import Conversation
from memory.features import features
from memory.hooks.route_request import CONTROLS, Fields, checked_text
from memory.learning.redact import redact_name
from memory.parts import Memory
from memory.services.transfer.importing import ImportSummary
from memory.services.transfer.replaying import RecordedSession, Replayed
from memory.session import Mode
from memory.withheld import withheld
from proxy.api.params import MAINTAINED, as_told, is_maintained, memory_of, scope_of, taught
from proxy.api.responses import Json, answer
from proxy.caller import without_secrets
from proxy.edge import EDGE
from proxy.errors import Refusal
from proxy.runtimes import ClientEnvironment, project_of, user_text
from proxy.wire import DIALECTS
from proxy.wire.dialect import BadRequest, Unreadable

routes = web.RouteTableDef()

MOST_RECORDS = 2000
MAX_NOTES_CHARS = 400_000


def _taken_by_feature() -> dict[str, type]:
    """How many records of each feature were taken."""
    return {each.counted: int for each in features() if each.counted}


Imported = Annotated[dict[str, Any], Fields("Imported", ImportSummary, _taken_by_feature, without=("features",))]


class OfProject(TypedDict):
    """The project whose it is."""

    project: str | None


SessionImported = Annotated[dict[str, Any], Fields("SessionImported", Replayed, OfProject)]


@routes.post("/api/import/records")
async def records(request: web.Request) -> Json[Imported]:
    """Records of an export, a JSON object a line, at most 2,000; each fault by its line, from 0."""
    importing = _writable(request).importer
    lines = (await _body(request)).split(b"\n")
    if len(lines) > MOST_RECORDS + 1:
        raise Refusal(413, f"there are {len(lines)} lines; {MOST_RECORDS} are taken at once")
    taker = importing.without_writing() if _dry(request) else importing
    scope, told = scope_of(request), [_json(line) for line in lines if line.strip()]
    kept = [number for number, record in enumerate(told) if not is_maintained(record, scope)]
    fields = asdict(await taker.records([as_told(told[number]) for number in kept], scope))
    refused = [(number, MAINTAINED) for number in range(len(told)) if number not in set(kept)]
    fields["faults"] = sorted([*((kept[number], why) for number, why in fields["faults"]), *refused])
    return answer(fields | fields.pop("features"))


@routes.post("/api/import/notes")
async def notes(request: web.Request) -> Json[Imported]:
    """``{"text": …, "at": …}``: a file of notes for agents, in Markdown, and when it was written."""
    importing = _writable(request).importer
    body = _json(await _body(request))
    if not isinstance(body, dict) or not isinstance(body.get("text"), str):
        raise Refusal(422, "text is missing: the notes, in Markdown")
    # A file may hold a form feed or a colour; what is learned from it is text.
    text = checked_text(CONTROLS.sub(" ", body["text"]), "text", longest=MAX_NOTES_CHARS)
    taker = importing.without_writing() if _dry(request) else importing
    fields = asdict(await taker.notes(text, taught(scope_of(request)), _time(body.get("at"), "at")))
    return answer(fields | fields.pop("features"))


class _Session(msgspec.Struct):
    """A recorded session, as it is sent. ``path`` is where its wire format is spoken (``/v1/messages``); ``at`` says
    when each message was said, and ``copied`` which of them stood in another session before."""

    runtime: str
    session: str
    path: str
    messages: msgspec.Raw
    at: list[str]
    parent: str | None = None
    subagent: bool = False
    directory: str | None = None
    remote: str | None = None
    model: str = ""
    copied: list[int] = []


@routes.post("/api/import/session")
async def session(request: web.Request) -> Json[SessionImported]:
    """A recorded session of an agent, whole: its messages in a wire format's own words."""
    memory = _writable(request)
    body = await _body(request)
    try:
        recorded_body = msgspec.json.decode(body, type=_Session)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refusal(422, f"this is no recorded session: {error}") from None
    conversation = await asyncio.to_thread(_conversation_of, recorded_body)
    times = tuple(_time(at, "at") for at in recorded_body.at)
    if len(times) != len(conversation.messages):
        raise Refusal(422, f"there are {len(conversation.messages)} messages and {len(times)} times")
    scope = scope_of(request)
    edge = request.app[EDGE]
    place = edge.checkouts.locate(ClientEnvironment(directory=recorded_body.directory, remote=recorded_body.remote))
    if place.mode is not Mode.ON:
        raise Refusal(403, f"memory learns nothing there: {place.why}")
    conversation = await asyncio.to_thread(withheld, conversation, place.unread)
    if recorded_body.directory is not None and not conversation.tools:
        # Transcripts tell no offered tools; who ran in a folder had some, whether or not any was called.
        conversation = replace(conversation, tools=(recorded_body.runtime,))
    if scope.project is None:
        scope = without_secrets(replace(scope, project=project_of(place)), edge.identity_key)
    taught(scope)
    settings = request.app[EDGE].settings.projects.get(scope.project or "")
    if settings is not None and settings.memory is not Mode.ON:
        raise Refusal(403, "memory learns nothing in this project (projects.NAME.memory)")
    key = request.app[EDGE].identity_key
    name = redact_name(_name(recorded_body.session), key)
    parent = None if recorded_body.parent is None else redact_name(_name(recorded_body.parent), key)
    copied = frozenset(recorded_body.copied)
    recorded = RecordedSession(
        _name(recorded_body.runtime),
        name,
        scope,
        conversation,
        times,
        parent=parent,
        subagent=recorded_body.subagent,
        copied=copied,
    )
    done = await memory.session_replayer.replay(recorded, dry=_dry(request))
    return answer({**asdict(done), "project": scope.project})


def _conversation_of(recorded: _Session) -> Conversation:
    """The conversation out of its messages, read as a request of its wire format is."""
    dialect = DIALECTS.get(recorded.path.removeprefix("/v1"))
    if dialect is None:
        raise Refusal(422, f"path is {recorded.path[:40]!r}; it is one of {', '.join(DIALECTS)}")
    body = (
        b'{"model":'
        + orjson.dumps(recorded.model)
        + b',"'
        + dialect.listed.encode()
        + b'":'
        + bytes(recorded.messages)
        + b"}"
    )
    try:
        return dialect.read(body, user_text).conversation
    except (BadRequest, Unreadable) as error:
        raise Refusal(422, f"the messages cannot be read: {error}") from None


def _writable(request: web.Request) -> Memory:
    memory = memory_of(request)
    if request.app[EDGE].settings.memory.mode is not Mode.ON:
        raise Refusal(403, "memory learns nothing (memory.mode)")
    return memory


def _dry(request: web.Request) -> bool:
    return request.query.get("dry", "") in ("true", "1", "yes")


async def _body(request: web.Request) -> bytes:
    most = request.app[EDGE].settings.server.max_body_mib * 2**20
    pieces: list[bytes] = []
    size = 0
    async for chunk in request.content.iter_any():
        pieces.append(chunk)
        size += len(chunk)
        if size > most:
            raise Refusal(413, f"the body has more than {most} bytes (server.max_body_mib)")
    return b"".join(pieces)


def _json(line: bytes) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return f"it is no JSON: {error}"


def _time(text: object, key: str) -> datetime:
    try:
        # In the person's own zone: "yesterday" is meant by their clock.
        at = datetime.fromisoformat(text).astimezone() if isinstance(text, str) else None
    except (ValueError, OverflowError):
        at = None
    if at is None:
        raise Refusal(422, f"{key} is {str(text)[:40]!r}; it is a time like 2026-03-04T15:30:00+01:00")
    return at


def _name(text: str) -> str:
    if not text or len(text) > 200 or not text.isprintable():
        raise Refusal(422, "the names of a runtime and a session have 1 to 200 printable characters")
    return text
