"""Answers in JSON, faults too: a sentence under ``error``, and never a traceback.

Memories and receipts as JSON tells them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Generic, NotRequired, TypedDict, TypeVar

import orjson
from aiohttp import web

from memory.hooks.route_request import HIDDEN as HIDDEN
from memory.hooks.route_request import Fields, RouteRefused
from memory.hooks.route_request import MemoryJson as MemoryJson
from memory.hooks.route_request import memory as memory
from memory.policy import NotKept
from memory.ports import PublishFailed, StoreError
from memory.services.page.edits import EditRefused
from memory.services.person.commands import Ambiguous, NotFound
from memory.services.person.fact_revision import ChangedSince, NoDraft, NotActive, Superseded
from memory.services.reindexing import ReindexInProgress
from memory.session import Receipt, Shed
from proxy.edge import EDGE
from proxy.errors import Refusal
from proxy.fail_open import LATE, fail_open

T = TypeVar("T")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

FAULTS = (
    Refusal,
    NotFound,
    Ambiguous,
    ReindexInProgress,
    RouteRefused,
    Superseded,
    NoDraft,
    NotActive,
    ChangedSince,
    NotKept,
    EditRefused,
    PublishFailed,
    StoreError,
)
"""What goes wrong by no fault of the code, and is told."""

WITHIN = 120.0
"""Seconds that an answer may take; what takes longer runs beside and is asked after."""

RETRY_SECONDS = 30
"""After how many seconds to ask again for what was given up."""


class Json(web.Response, Generic[T]):
    """An answer in JSON. Its type is what it holds, from which the description of our endpoints is made."""


class Fault(TypedDict):
    """What is wrong, in a sentence; ``ids`` are those that an id which was shortened too much stands for."""

    error: str
    ids: NotRequired[list[str]]


def answer(data: T, status: int = 200) -> Json[T]:
    """Data as JSON. Times are ISO 8601; bytes are hexadecimal."""
    return Json(
        status=status,
        body=orjson.dumps(data, default=_plain, option=orjson.OPT_NON_STR_KEYS),
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


def fault(status: int, sentence: str, ids: Sequence[str] = ()) -> Json[Fault]:
    """A fault, told in a sentence."""
    told: Fault = {"error": sentence}
    if ids:
        told["ids"] = list(ids)
    response = answer(told, status)
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def sentence_of(error: Exception) -> tuple[int, str]:
    """The status and the sentence of one of :data:`FAULTS`."""
    match error:
        case Refusal():
            return error.status, error.message
        case RouteRefused():
            return error.status, str(error)
        case NotFound():
            return 404, str(error.args[0])
        case NotKept() | EditRefused():
            return 403, str(error)
        case Ambiguous():
            return 409, str(error.args[0])
        case StoreError():
            return 503, str(error)
        case _:
            return 409, str(error)


@web.middleware
async def answers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every fault becomes a sentence; one of ours is counted like any other failure of memory."""
    response, why = await fail_open(
        _as_json(request, handler),
        default=None,
        timeout_seconds=WITHIN,
        operation="answering on our own endpoints",
        degradations=request.app[EDGE].degradations,
    )
    if response is not None:
        return response
    if not why.startswith(LATE):
        return fault(500, f"this failed here: {why}")
    late = fault(503, f"this took longer than {WITHIN:.0f} s and was given up; learning may be behind: ask again later")
    late.headers["Retry-After"] = str(RETRY_SECONDS)
    return late


async def _as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except FAULTS as error:
        status, sentence = sentence_of(error)
        return fault(status, sentence, error.ids if isinstance(error, Ambiguous) else ())
    except web.HTTPNotFound:
        return fault(404, f"there is nothing at {request.path}")
    except web.HTTPMethodNotAllowed as error:
        allowed = ", ".join(sorted(error.allowed_methods))
        response = fault(405, f"{request.method} is not for {request.path}; {allowed} is")
        response.headers["Allow"] = allowed
        return response
    except web.HTTPRequestEntityTooLarge:
        return fault(413, "the body is too large")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} does not go into JSON")


class ShedInShort(TypedDict):
    """``parts`` is how many were shed."""

    parts: int


ShedLine = Annotated[dict[str, Any], Fields("ShedLine", Shed, ShedInShort)]


class ReceiptInShort(TypedDict):
    """How many memories were shown, in the place of them; and how long the request was prepared."""

    shown: int
    shed: ShedLine | None
    milliseconds: float


ReceiptJson = Annotated[dict[str, Any], Fields("Receipt", Receipt)]
ReceiptLine = Annotated[dict[str, Any], Fields("ReceiptLine", Receipt, ReceiptInShort, without=("steps",))]


def receipt(held: Receipt) -> ReceiptJson:
    """A receipt, whole."""
    return asdict(held)


def line(held: Receipt) -> ReceiptLine:
    """A receipt in short."""
    fields = asdict(held)
    del fields["steps"]
    fields["shown"] = len(held.shown)
    if held.shed is not None:
        fields["shed"]["parts"] = len(held.shed.parts)
    fields["milliseconds"] = held.steps.get("prepare", 0.0)
    return fields
