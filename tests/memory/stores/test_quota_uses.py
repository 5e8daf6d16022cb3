"""What people and organisations use in a day is added up, and goes with the next."""

from __future__ import annotations

from memory.stores.journal import SqlJournal

ADA, ACME = "u:acme/ada", "o:acme"


async def test_it_adds_up_and_ends_with_the_day(journal: SqlJournal) -> None:
    assert await journal.quota_uses("2026-03-04", [ADA, ACME]) == {}
    assert await journal.add_quota_uses("2026-03-04", {(ADA, "requests"): 3, (ACME, "tokens"): 5}) == {
        (ADA, "requests"): 3,
        (ACME, "tokens"): 5,
    }
    assert await journal.add_quota_uses("2026-03-04", {(ADA, "requests"): 4}) == {(ADA, "requests"): 7}
    assert await journal.quota_uses("2026-03-04", [ADA]) == {(ADA, "requests"): 7}
    await journal.add_quota_uses("2026-03-05", {(ACME, "tokens"): 1})
    assert await journal.quota_uses("2026-03-04", [ADA]) == {(ADA, "requests"): 7}, "a clock may be ahead"
    await journal.add_quota_uses("2026-03-06", {(ADA, "requests"): 1})
    assert await journal.quota_uses("2026-03-04", [ADA, ACME]) == {}
    assert await journal.quota_uses("2026-03-05", [ADA, ACME]) == {(ACME, "tokens"): 1}
