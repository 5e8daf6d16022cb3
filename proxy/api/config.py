"""The settings in force and where each came from, secrets masked; thresholds, tried before they are changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, TypedDict

from aiohttp import web
from pydantic import ValidationError

from memory.context.trial import tried
from memory.hooks.route_request import Fields
from memory.parts import Memory
from memory.scope import Scope
from memory.settings import RecallSettings, SheddingSettings
from proxy.api.params import memory_of, scope_of
from proxy.api.responses import Json, answer
from proxy.edge import EDGE
from proxy.errors import Refusal
from proxy.settings import Loaded

routes = web.RouteTableDef()


class Setting(TypedDict):
    """A setting in force: its dotted key, its value, a secret masked, and where that comes from."""

    key: str
    value: Any
    source: str


class SettingsList(TypedDict):
    """The settings in force."""

    settings: list[Setting]


class Thresholds(TypedDict):
    """What is tried: shares of the window, and the tokens of a recall."""

    trim: float
    fold: float
    rotate: float
    target: float
    tokens: int


class ThresholdCounts(TypedDict):
    """How many requests were looked at, how many of them would have been shortened in each way, and how many recalls
    cut."""

    requests: int
    trims: int
    folds: int
    rotates: int
    recalls: int


ThresholdsTried = Annotated[dict[str, Any], Fields("ThresholdsTried", Thresholds, ThresholdCounts)]


class Trials(TypedDict):
    """Thresholds as they are, and as they would be."""

    now: ThresholdsTried
    then: ThresholdsTried


@routes.get("/api/config")
async def config(request: web.Request) -> Json[SettingsList]:
    """Each dotted key with its value and its source."""
    edge = request.app[EDGE]
    rows = Loaded(edge.settings, edge.sources).rows()
    return answer({"settings": [{"key": key, "value": value, "source": source} for key, value, source in rows]})


REQUESTS = 1000
"""Requests on which they are tried: the newest."""

SHEDDING = ("trim", "fold", "rotate", "target")
"""Shares of the window that can be tried, beside the tokens of a recall."""


@routes.get("/api/config/trial")
async def trial(request: web.Request) -> Json[Trials]:
    """``?trim=0.5&fold=0.7&rotate=0.85&target=0.4&tokens=400``, all optional: how many of a person's last 1,000
    requests would have been shortened, and how many recalls cut, as things are and as they would be."""
    return answer(await compared(memory_of(request), scope_of(request), request.query))


async def compared(memory: Memory, scope: Scope, said: Mapping[str, str]) -> Trials:
    """What is in force and what is asked for, on the last requests.

    Raises:
        Refusal: 422, when a value is none, or they do not fit together.
    """
    settings = memory.settings
    shedding = {name: said[name].strip() for name in SHEDDING if said.get(name, "").strip()}
    tokens = said.get("tokens", "").strip()
    try:
        then = SheddingSettings.model_validate({**settings.shedding.model_dump(), **shedding})
        recall = RecallSettings.model_validate({"tokens": tokens or settings.recall.tokens})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(each) for each in first["loc"]) or "the four shares"
        raise Refusal(422, f"{name}: {first['msg'].removeprefix('Value error, ')}") from None
    receipts = await memory.journal.receipts(REQUESTS, scope)
    asked = {name: getattr(then, name) for name in SHEDDING} | {"tokens": recall.tokens}
    here = {name: getattr(settings.shedding, name) for name in SHEDDING} | {"tokens": settings.recall.tokens}
    return {
        "now": {**here, **_counts(tried(receipts, settings.shedding, settings.recall.tokens))},
        "then": {**asked, **_counts(tried(receipts, then, recall.tokens))},
    }


def _counts(found: Any) -> dict[str, int]:
    told = asdict(found)
    return {f"{name}s" if name in SHEDDING else name: number for name, number in told.items()}
