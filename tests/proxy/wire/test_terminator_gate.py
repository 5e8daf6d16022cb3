import pytest

from proxy.wire.listener import Terminator, TerminatorGate

STOP = Terminator(types=frozenset({b"message_stop"}))
DONE = Terminator(text=b"[DONE]")


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_line_whose_event_is_named_passes_before_its_end_wherever_its_type_stands(line_end: bytes) -> None:
    gate = TerminatorGate(STOP)
    named = b"event: message_delta" + line_end
    for at in range(len(named)):
        gate.feed(named[at : at + 1])
    assert gate.feed(b'data: {"usage":') == b'data: {"usage":'


def test_a_line_whose_type_may_still_come_is_held_to_its_end_and_then_passes() -> None:
    gate = TerminatorGate(STOP)
    assert gate.feed(b'data: {"index":0,') == b""
    assert gate.feed(b'"x":"' + b"y" * 100) == b""
    assert gate.feed(b"z" * 100) == b""
    passed = gate.feed(b'","type":"ping"}\nda')
    assert passed == b'data: {"index":0,"x":"' + b"y" * 100 + b"z" * 100 + b'","type":"ping"}\n'
    assert gate.open() == b"da"


def test_an_event_of_a_general_name_is_known_by_its_data_however_it_is_cut() -> None:
    stream = b'event: message\ndata: { "type" : "message_stop"}\n\n'
    for at in range(1, len(stream)):
        gate = TerminatorGate(STOP)
        assert gate.feed(stream[:at]) + gate.feed(stream[at:]) == b"event: message\n"
        assert gate.ended


def test_a_name_holds_for_its_own_event_only() -> None:
    gate = TerminatorGate(STOP)
    named = b'event: ping\ndata: {"type":"ping"}\n\n'
    end = b'data: {"x":1,"type":"message_stop"}\n\n'
    assert gate.feed(named + end) == named
    assert gate.ended
    assert gate.open() == end


def test_another_event_that_speaks_of_the_terminator_passes() -> None:
    gate = TerminatorGate(STOP)
    other = b'data: {"x":{"type":"message_stop"},"type":"ping"}\n\ndata: "message_stop"\n\ndata: message_stop\n\n'
    assert gate.feed(other) == other
    assert not gate.ended


@pytest.mark.parametrize("end", [b"data: [DONE]", b"data:[DONE]", b"data:  [DONE] "])
def test_the_text_that_ends_a_stream_may_have_spaces_around_it(end: bytes) -> None:
    gate = TerminatorGate(DONE)
    for at in range(len(end)):
        assert gate.feed(end[at : at + 1]) == b""
    gate.feed(b"\n\n")
    assert gate.ended


@pytest.mark.parametrize("line", [b"data: [DONE]x", b"data: [D]", b" data: [DONE]", b"id: [DONE]", b": data: [DONE]"])
def test_other_lines_are_no_end(line: bytes) -> None:
    gate = TerminatorGate(DONE)
    assert gate.feed(line + b"\n\n") == line + b"\n\n"
    assert not gate.ended


def test_a_terminator_that_is_not_whole_yet_has_not_ended_the_stream() -> None:
    gate = TerminatorGate(STOP)
    assert gate.feed(b"event: message_stop\n") == b""
    assert not gate.ended
    assert gate.feed(b'data: {"type":"message_stop"}\n') == b""
    assert not gate.ended
    assert gate.feed(b"\n: late") == b""
    assert gate.ended
