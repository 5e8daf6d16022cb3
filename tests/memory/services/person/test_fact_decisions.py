"""What was decided of facts is kept without what they say, and put back as far as nothing has changed since."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memory.fact import Fact, Origin, State
from memory.ports import FACT_DECISIONS
from memory.services.person import fact_decisions
from memory.services.person.fact_decisions import FactDecision, FactDecisionKind, FactDecisions, as_before
from tests.memory.context.making import fact

ADA, GRACE = "u:acme/ada", "u:acme/grace"
AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Values:
    """Named values in memory."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def key(self) -> bytes:
        return bytes(32)

    async def meta(self, name: str) -> bytes | None:
        return self.held.get(name)

    async def set_meta(self, name: str, value: bytes) -> None:
        self.held[name] = value


@pytest.fixture
def values() -> Values:
    return Values()


def confirmed(decisions: FactDecisions, before: Fact) -> tuple[Fact, FactDecision]:
    after = replace(before, state=State.ACTIVE, origin=Origin.PERSON, valid_until=None, contradicts=("b",), access=2)
    change = decisions.change(before, after)
    return after, FactDecision(FactDecisionKind.CONFIRMED, AT, (change,))


def waiting(id: str = "a") -> Fact:
    return fact("The gate opens at nine", id=id, state=State.DRAFT, valid_until=AT + timedelta(days=3))


async def test_what_it_says_is_not_kept(values: Values) -> None:
    decisions = FactDecisions(values)
    await decisions.keep(confirmed(decisions, waiting())[1], ADA)
    assert b"gate" not in values.held[FACT_DECISIONS + ADA]


async def test_it_is_put_back_but_for_what_changed_since(values: Values) -> None:
    before = waiting()
    after, decision = confirmed(FactDecisions(values), before)
    await FactDecisions(values).keep(decision, ADA)
    kept = await FactDecisions(values).of("a", ADA)
    assert kept == decision
    assert as_before(after, kept.changes[0]) == before
    used = replace(after, access=5, pinned=True)
    assert FactDecisions(values).stands(kept, {"a": used})
    assert as_before(used, kept.changes[0]) == replace(before, access=5, pinned=True)


@pytest.mark.parametrize(
    "change", [{"state": State.ARCHIVED}, {"text": "The gate opens at ten"}, {"contradicts": ()}, {"valid_until": AT}]
)
async def test_it_stands_no_more_where_that_was_changed(values: Values, change: dict[str, object]) -> None:
    decisions = FactDecisions(values)
    after, decision = confirmed(decisions, waiting())
    assert decisions.stands(decision, {"a": after})
    assert not decisions.stands(decision, {"a": replace(after, **change)})  # type: ignore[arg-type]
    assert not decisions.stands(decision, {})


async def test_a_time_is_the_same_in_every_zone(values: Values) -> None:
    decisions = FactDecisions(values)
    before = waiting()
    after = replace(before, state=State.ACTIVE, superseded_at=AT)
    change = decisions.change(before, after)
    elsewhere = timezone(timedelta(hours=5))
    read = replace(
        after, superseded_at=AT.astimezone(elsewhere), valid_until=(AT + timedelta(days=3)).astimezone(elsewhere)
    )
    assert decisions.stands(FactDecision(FactDecisionKind.UNLEARNED, AT, (change,)), {"a": read})
    assert as_before(read, change).superseded_at is None


async def test_the_last_one_of_a_fact_counts_and_an_owners_oldest_makes_room(
    values: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_decisions, "DECISIONS", 3)
    decisions = FactDecisions(values)
    await decisions.keep(confirmed(decisions, waiting("of-grace"))[1], GRACE)
    for id in ("a", "b", "a", "c", "d"):
        await decisions.keep(confirmed(decisions, waiting(id))[1], ADA)
    assert [each.fact for each in await decisions.all([ADA])] == ["a", "c", "d"]
    await decisions.drop("c", ADA)
    await decisions.drop("c", ADA)
    assert [each.fact for each in await decisions.all([ADA])] == ["a", "d"]
    assert [each.fact for each in await decisions.all([GRACE])] == ["of-grace"]
    assert await decisions.of("of-grace", ADA) is None
