"""How a memory is told in a list."""

from __future__ import annotations

from proxy.cli import output


def test_what_has_ended_is_told_as_over() -> None:
    held = {
        "sort": "fact",
        "kind": "convention",
        "pinned": False,
        "state": "active",
        "expires_at": "2020-01-01T00:00:00+00:00",
    }
    assert output.what(held) == "convention over"
    assert output.what(held | {"expires_at": "2920-01-01T00:00:00+00:00"}) == "convention"
