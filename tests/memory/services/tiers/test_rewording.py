"""A model's overview of prose is taken where it keeps to the text and to the room; else the rules' stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from memory.conversation import Message, Role, Text, ToolResult, digest
from memory.ports import NoAnswer, Overview
from memory.services.tiers.rewording import LEAST, OverviewWriter

PROSE = "The survey of 41 harbours finds that Flensburg is deep enough for boats like Marigold. " * 60
PLACE = (b"d", 0)
RULES = Overview(2000, "a survey", "The survey of 41 harbours", 6)


class Scripted:
    """A model that says one thing."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def ask(self, task: str, material: str, shape: Mapping[str, Any]) -> Any:
        self.asked.append(material)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def reworded(answer: Any, text: str = PROSE) -> tuple[Overview, int]:
    model = Scripted(answer)
    parts = (ToolResult("t", (Text(text),)),)
    message = Message(Role.TOOL, parts, digest(Role.TOOL, parts))
    made = await OverviewWriter(model, len).reworded(message, {0: [PLACE]}, {PLACE: RULES})
    return made[PLACE], len(model.asked)


async def test_a_good_overview_is_taken_and_counted() -> None:
    said = "A survey of 41 harbours: Flensburg is deep enough for Marigold."
    assert await reworded({"overview": said}) == (Overview(2000, "a survey", said, len(said)), 1)


@pytest.mark.parametrize(
    "answer",
    [
        {"overview": "A survey of 42 harbours: Flensburg is deep enough."},
        {"overview": "Kiel is deep enough for boats."},
        {"overview": "deep enough " * 600},
        {"overview": " "},
        {"overview": 7},
        [],
        NoAnswer("spent"),
    ],
)
async def test_what_is_invented_or_too_long_or_none_leaves_the_rules(answer: Any) -> None:
    assert await reworded(answer) == (RULES, 1)


async def test_code_and_short_texts_are_not_asked_about() -> None:
    assert await reworded({"overview": "x"}, "def f(x):\n    return x\n" * 400) == (RULES, 0)
    assert await reworded({"overview": "x"}, PROSE[: LEAST - 1]) == (RULES, 0)
