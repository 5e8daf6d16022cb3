from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.sse import EventSplitter, ServerEvent, events

STREAM = (
    b": hi\nevent: one\ndata: a\ndata:b\nid: 7\n\n\nevent: none\n\ndata\ndata: \xc3\xa9\n\nretry: 1\ndata:  two\n\n"
)
EVENTS = [ServerEvent(b"one", b"a\nb"), ServerEvent(b"", b"\n\xc3\xa9"), ServerEvent(b"", b" two")]

Reader = Callable[[Iterable[bytes]], Iterator[ServerEvent]]


def split(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    splitter = EventSplitter()
    for chunk in chunks:
        yield from splitter.feed(chunk)
    yield from splitter.finish()


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@given(places=st.lists(st.integers(0, 120)))
def test_events_are_the_same_however_the_stream_is_cut(line_end: bytes, places: list[int]) -> None:
    data = STREAM.replace(b"\n", line_end)
    ends = [0, *sorted(places), len(data)]
    chunks = [data[start:end] for start, end in pairwise(ends)]
    assert list(split(chunks)) == EVENTS
    assert list(events(chunks)) == EVENTS


@pytest.mark.parametrize("read", [split, events])
def test_an_event_that_the_end_of_the_stream_cuts_off_is_heard(read: Reader) -> None:
    assert list(read([b"event: x\nda", b"ta: 1"])) == [ServerEvent(b"x", b"1")]


@pytest.mark.parametrize("read", [split, events])
def test_a_byte_order_mark_is_not_part_of_the_first_line(read: Reader) -> None:
    assert list(read([b"\xef\xbb\xbfdata: 1\n\n"])) == [ServerEvent(b"", b"1")]


@given(
    chunks=st.lists(
        st.one_of(st.binary(max_size=8), st.sampled_from([b"data: ", b"data:", b"event:", b"\n", b"\r", b"\r\n", b"x"]))
    )
)
def test_any_bytes_are_the_same_events_at_once_and_piece_by_piece(chunks: list[bytes]) -> None:
    assert list(events(chunks)) == list(split(chunks))
