"""What was learnt on a branch that has ended goes by another name, in both engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory.checkout import Checkout
from memory.ports import Lesson
from tests.memory.stores.derived_facts import fact, open_journal, owner

EARLIER, LATER = "a" * 40, "b" * 40
ON_BRANCH = Checkout("/home/ann/loom", "feature", EARLIER, staged=True)


@pytest.mark.parametrize(
    ("own", "stays"),
    [((), False), ((LATER,), False), ((LATER, EARLIER), True)],
    ids=["no commit", "others", "the same"],
)
async def test_it_keeps_its_name_only_where_the_branch_has_its_commit(
    tmp_path: Path, own: tuple[str, ...], stays: bool
) -> None:
    journal = open_journal(tmp_path)
    told = replace(fact("the queue drains itself"), id="told", owner=owner())
    await journal.learn(Lesson(0, (told,), checkout=ON_BRANCH, learnt={"told": True}))
    await journal.follow((), {}, {"feature": ("feature@aaaaaaa", own)}, {}, ON_BRANCH.repository)
    named = (await journal.learnt(["told"]))["told"].checkout.branch
    assert named == ("feature" if stays else "feature@aaaaaaa")
    await journal.close()
