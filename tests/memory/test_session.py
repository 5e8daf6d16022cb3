"""What a receipt says of a request."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.session import Receipt, RequestKind, WindowSources


@pytest.mark.parametrize(
    ("saved", "sources", "own"),
    [
        (0, None, 1000),
        (400, None, 1400),
        (-300, None, 700),
        (-300, WindowSources(talk=600, page=100, recall=300), 700),
        (-900, WindowSources(talk=600, page=100, recall=300), 600),
        (-100, WindowSources(talk=600, page=100, recall=300), 900),
        (-2000, None, 0),
    ],
)
def test_the_clients_own_tokens_are_without_what_was_added(saved: int, sources: WindowSources | None, own: int) -> None:
    at = datetime(2026, 3, 4, tzinfo=UTC)
    held = Receipt("r", at, "s", RequestKind.MAIN, "remembered", tokens=1000, saved=saved, sources=sources)
    assert held.own_tokens == own
