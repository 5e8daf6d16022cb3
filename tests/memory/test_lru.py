"""What was put or used the longest ago goes first."""

from memory.lru import LruDict


def test_the_entry_that_was_put_or_used_the_longest_ago_goes_first() -> None:
    known: LruDict[str, int] = LruDict(2)
    assert known.put("a", 1) == 1 and known.put("b", 2) == 2
    assert known.use("a", 7) == 1
    known.put("c", 3)
    assert dict(known) == {"a": 1, "c": 3}
    known.put("a", 4)
    assert known.use("d", 5) == 5 and dict(known) == {"a": 4, "d": 5}
