"""What kind of request a message is."""

from __future__ import annotations

import pytest

from memory.context.agent_recall import LIKELY
from memory.understanding.packaged_weights import request_kinds


@pytest.mark.parametrize(
    "text",
    [
        "Help me put together a menu for my mother's seventieth birthday.",
        "Plan a long weekend in the mountains for the two of us, please",
        "Such mir ein schönes Geschenk für meinen Bruder, er wird vierzig.",
    ],
)
def test_a_wish_that_a_persons_life_has_a_say_in_is_for_advice_without_a_word_that_says_so(text: str) -> None:
    assert request_kinds().advice(text) >= LIKELY


@pytest.mark.parametrize(
    "text",
    [
        "Rename the importer and run the tests again.",
        "Plan the migration of the orders table, please",
        "Help me find out why the deploy of the gateway hangs.",
        "What is the capital of Mongolia?",
        "",
    ],
)
def test_work_and_what_anybody_could_know_is_not(text: str) -> None:
    assert request_kinds().advice(text) < LIKELY


def test_only_the_beginning_is_read() -> None:
    long = "Plan a long weekend in the mountains for the two of us, please. " * 40
    assert request_kinds().advice(long) == request_kinds().advice(long[:400])
