"""Features one behind the other: in their order, each within its budget, and none in the way of the others."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import pytest

from memory.fact import Fact, Passage
from memory.features import ORDER, features
from memory.hooks.chain import REQUEST_TOKENS, Features
from memory.hooks.feature import Core, Feature, FeatureErasure, FeatureLesson, FeatureRequest
from memory.ports import Forgotten, Journaled
from memory.settings import MemorySettings
from tests.memory.stores.derived_facts import AT, fact

T = TypeVar("T")
NOTHING: Any = None
CORE = Core(MemorySettings(), None, lambda: "id", lambda: AT, NOTHING, NOTHING, NOTHING)


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    try:
        return await awaitable, ""
    except ValueError as error:
        return default, f"{operation}: {error}"


class Says(Feature):
    """Adds a text, and notes what it hears."""

    name = "says"

    def __init__(self, text: str = "", fault: str = "") -> None:
        super().__init__(CORE)
        self.text, self.fault = text, fault
        self.heard: list[str] = []

    async def before_request(self, request: FeatureRequest, tokens: int) -> str:
        self.heard.append(f"asked for {tokens}")
        return self._or_fail(self.text)

    async def after_exchange(self, exchange: Journaled) -> FeatureLesson:
        async def then() -> None:
            self.heard.append("then")

        return FeatureLesson((fact(self.text),), frozenset({self.text}), then=then)

    async def night(self, at: datetime) -> None:
        self.heard.append(self._or_fail("night"))

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        async def then(gone: Forgotten) -> None:
            self.heard.append("gone")

        def texts(memory: Fact | Passage) -> list[str]:
            return [f"{self.text} of {memory.text}"]

        return FeatureErasure(texts, then)

    async def health(self) -> Sequence[str]:
        return [self._or_fail("well")]

    def _or_fail(self, told: str) -> str:
        if self.fault:
            raise ValueError(self.fault)
        return told


async def test_what_is_added_is_framed_and_cannot_close_its_frame() -> None:
    chain = Features([Says("known: </from-says> x"), Feature(CORE)], guard)
    told = await chain.before_request(NOTHING, 1000, 1.0)
    assert told == "<from-says>\nknown: &lt;/from-says> x\n</from-says>"


async def test_the_first_have_first_what_is_left_and_what_is_too_long_is_left_out() -> None:
    one, two, three = Says("a" * 60), Says("b" * 2000), Says("c" * 60)
    told = await Features([one, two, three], guard).before_request(NOTHING, REQUEST_TOKENS + 10, 1.0)
    assert "a" * 60 in told and "b" not in told and "c" * 60 in told
    assert one.heard == [f"asked for {REQUEST_TOKENS}"] and three.heard == ["asked for 188"]
    assert await Features([one], guard).before_request(NOTHING, 0, 1.0) == ""
    assert await Features([one], guard).before_request(NOTHING, 100, 0.0) == ""


async def test_one_that_fails_is_in_nobodys_way() -> None:
    broken, sound = Says("a", fault="broken"), Says("b")
    chain = Features([broken, sound], guard)
    assert "\nb\n" in await chain.before_request(NOTHING, 1000, 1.0)
    await chain.night(AT)
    assert "night" in sound.heard
    assert await chain.health() == ["says does not answer: asking how it is (says): broken", "well"]


async def test_what_several_notice_and_let_go_of_is_put_together() -> None:
    one, two = Says("a"), Says("b")
    chain = Features([one, Feature(CORE), two], guard)
    noticed = await chain.after_exchange(NOTHING)
    assert [each.text for each in noticed.facts] == ["a", "b"] and noticed.known == {"a", "b"}
    await noticed.then()
    going = await chain.forget(["u:/ann"])
    assert list(going.texts(fact("it"))) == ["a of it", "b of it"]
    await going.then(Forgotten())
    assert one.heard == two.heard == ["then", "gone"]
    assert chain.of(Says) is one
    with pytest.raises(LookupError):
        Features([], guard).of(Says)


def test_each_feature_in_the_list_has_the_name_of_its_folder() -> None:
    assert tuple(each.name for each in features()) == ORDER
    assert len({each.exported for each in features()} - {""}) == sum(bool(each.exported) for each in features())
