"""What a feature's route is asked, checked, and how it refuses; free of any word of HTTP but the status."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from memory.scope import Scope

T = TypeVar("T")


class RouteRefused(Exception):
    """What was asked cannot be done; the message says why, in a sentence."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer with a status of its own, and ``work`` that goes on when it has been given."""

    data: T
    status: int = 200
    work: Coroutine[Any, Any, Any] | None = None


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """``owners`` are those whose memories may be seen, as the server has built them, ``named`` whether the request says
    whose it means; ``names`` are the path's, ``body`` and ``query`` have no fields but those that the route names."""

    scope: Scope
    owners: tuple[str, ...]
    limit: int
    now: datetime
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    named: bool = True
