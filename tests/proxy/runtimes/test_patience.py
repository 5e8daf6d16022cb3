"""When clients compact a session by themselves: a request stays below what each was seen to do."""

from __future__ import annotations

import pytest

from memory.session import Patience
from proxy.runtimes.claude_code import ClaudeCode
from proxy.runtimes.codex import Codex
from proxy.runtimes.opencode import OpenCode
from proxy.runtimes.pi import Pi
from proxy.runtimes.qwen_code import QwenCode
from proxy.runtimes.runtime import Runtime

SEEN = [
    (Codex, 100_000, 0, 89_000),
    (Codex, 272_000, 0, 244_800),
    (ClaudeCode, 100_000, 32_000, 66_000),
    (ClaudeCode, 200_000, 32_000, 164_000),
    (QwenCode, 100_000, 32_000, 65_000),
    (QwenCode, 100_000, 22_000, 65_000),
    (OpenCode, 100_000, 8_000, 90_000),
    (Pi, 100_000, 8_000, 82_000),
]
"""The largest usage at which each was seen not to compact: its window, the reply that it asked for, the usage."""


@pytest.mark.parametrize(("runtime", "window", "reply", "usage"), SEEN)
def test_a_request_stays_well_below_the_usage_at_which_its_client_compacts(
    runtime: type[Runtime], window: int, reply: int, usage: int
) -> None:
    assert runtime.patience is not None
    most = runtime.patience.most(window, reply)
    assert usage * 0.8 < most < usage * 0.95


def test_a_client_that_asks_for_a_shorter_reply_as_its_window_fills_is_given_no_more_room() -> None:
    patience = QwenCode.patience
    assert patience is not None
    assert patience.most(100_000, 30_000) == patience.most(100_000, 12_000)


def test_a_client_of_which_nothing_is_known_has_no_bound_of_its_own() -> None:
    assert Runtime.patience is None


def test_the_longest_reply_counts_where_it_leaves_the_least() -> None:
    assert Patience().most(100_000, 50_000) == 42_500
