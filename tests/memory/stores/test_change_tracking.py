"""Who asks is told of every memory that has changed since, or that it may be any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memory.learning.outcome import ended
from memory.ports import Lesson
from memory.stores.memory_cache import ChangedMemories
from tests.memory.stores.derived_facts import AT, fact, open_journal, passage, shown


async def test_whatever_changes_a_memory_is_told_once_and_what_is_new_is_not(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    one, two, turn = fact("the first text"), fact("the second text"), passage("a turn")
    await journal.learn(Lesson(0, (one, two), (turn,)))
    journal.changed.take()
    await journal.learn(Lesson(0, (fact("a third text"),)))
    assert journal.changed.take() == frozenset()
    await journal.update(replace(one, text="another text"))
    await journal.learn(Lesson(0, (ended(two, AT), replace(one, supersedes=(two.id,)))))
    assert journal.changed.take() == frozenset({one.id, two.id})
    await shown(journal, one.id, "s2", AT, used=True)
    await journal.forget([two.id, turn.id], AT)
    assert journal.changed.take() == frozenset({one.id, two.id, turn.id})
    assert journal.changed.take() == frozenset()
    await journal.close()


def test_of_very_many_it_is_only_told_that_it_may_be_any() -> None:
    changed = ChangedMemories(most=3)
    changed.add(["a", "b"])
    changed.add(["b", "c"])
    assert changed.take() == frozenset({"a", "b", "c"})
    changed.add(["a", "b", "c", "d"])
    changed.add(["e"])
    assert changed.take() is None
    changed.add(["f"])
    assert changed.take() == frozenset({"f"})
