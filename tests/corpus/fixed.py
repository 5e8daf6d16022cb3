"""What differs from one run to the next, held still: ids, keys, the time zone, and the clock."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday morning."""

KEY = 32
"""Bytes of a key that memory makes for itself."""


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = BEGIN

    def __call__(self) -> datetime:
        return self.at

    def pass_by(self, **spans: float) -> None:
        """Let time pass: what a timedelta takes."""
        self.at += timedelta(**spans)


@contextmanager
def fixed() -> Iterator[None]:
    """Within this the same ids come in the same order, keys are the same, and it is UTC everywhere."""
    uuid4, urandom, zone = uuid.uuid4, os.urandom, os.environ.get("TZ")
    uuid.uuid4 = _counted()
    os.urandom = lambda size: bytes(range(size)) if size == KEY else urandom(size)
    _set_zone("UTC")
    try:
        yield
    finally:
        uuid.uuid4, os.urandom = uuid4, urandom
        _set_zone(zone)


def _counted() -> Callable[[], uuid.UUID]:
    """Ids that look drawn by lot, so that the beginnings of two of them differ as they do in life."""
    numbers = count(1)
    return lambda: uuid.UUID(bytes=uuid.uuid5(uuid.NAMESPACE_OID, str(next(numbers))).bytes, version=4)


def _set_zone(name: str | None) -> None:
    if name is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = name
    time.tzset()
