"""What memory adds is told from what a client sent."""

from __future__ import annotations

from tests.e2e.prefixes import shared, without_memory

ASKED = "Which port?"
PAGE = "\n\n<memory-page>\n- It is 7443.\n</memory-page>"


def test_what_memory_adds_is_taken_out_wherever_it_stands() -> None:
    own = [{"role": "user", "content": ASKED}]
    assert without_memory([{"role": "user", "content": ASKED + PAGE}]) == own
    parts = [{"type": "text", "text": ASKED}, {"type": "text", "text": PAGE.strip()}]
    assert without_memory([{"role": "user", "content": parts}]) == own
    assert without_memory([{"role": "user", "parts": [{"text": ASKED + PAGE}]}]) == [
        {"role": "user", "parts": [{"text": ASKED}]}
    ]


def test_a_prefix_that_memory_made_shorter_is_seen() -> None:
    first = [{"role": "user", "content": ASKED + PAGE}]
    second = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": "7443."}]
    assert shared(first, second) == 0 < shared(without_memory(first), without_memory(second)) == 1
