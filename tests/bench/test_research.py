"""The bench of sub-agents finds every one of a few errands, whichever runtime frames them."""

from __future__ import annotations

import pytest

from tests.bench.research import CLIENTS, Call, Client, measured

CALLS = [
    Call("s1", f"c{n}", f"Find out how part {n} of the loom is driven, and by whom.", f"Part {n}", f"Belt {n}. " * 9)
    for n in range(3)
]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
async def test_every_runtime_s_children_are_recognised_tied_and_kept_whole(client: Client) -> None:
    found = await measured(client, CALLS)
    every = dict.fromkeys(("calls", "recognised", "tied", "whole", "came back"), len(CALLS))
    assert found == {"runtime": client.name, **every, "extra": 0}
