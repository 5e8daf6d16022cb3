import msgspec

from proxy.wire.slices import SliceCache


def test_a_slice_is_parsed_once_for_each_manner() -> None:
    parsed: list[bytes] = []

    def parse(raw: msgspec.Raw) -> int:
        parsed.append(bytes(raw))
        return len(parsed)

    memo = SliceCache()
    assert memo.of(msgspec.Raw(b"1"), "a", parse) == 1
    assert memo.of(msgspec.Raw(b"1"), "a", parse) == 1
    assert memo.of(msgspec.Raw(b"1"), "b", parse) == 2
    assert memo.of(msgspec.Raw(b"2"), "a", parse) == 3
    assert parsed == [b"1", b"1", b"2"]


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    memo = SliceCache(limit=3600)
    slices = [msgspec.Raw(b'"%d"' % n + b" " * 400) for n in range(3)]
    memo.of(slices[0], "", bytes)
    memo.of(slices[1], "", bytes)
    memo.of(slices[0], "", bytes)
    memo.of(slices[2], "", bytes)
    assert memo.held <= memo.limit
    assert memo.of(slices[0], "", lambda raw: b"again") == bytes(slices[0])
    assert memo.of(slices[1], "", lambda raw: b"again") == b"again"


def test_a_slice_larger_than_the_whole_memory_is_parsed_and_not_kept() -> None:
    memo = SliceCache(limit=100)
    assert memo.of(msgspec.Raw(b"1"), "", bytes) == b"1"
    assert memo.held == 0
