import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Form
from memory.edits import Append
from proxy.wire.splice import Splice, by_message, escaped, spliced, text_part


@given(text=st.text())
def test_escaped_text_is_what_json_makes_of_it(text: str) -> None:
    assert b'"' + escaped(text) + b'"' == json.dumps(text, ensure_ascii=False).encode(errors="replace")


def test_text_that_utf8_cannot_say_is_still_written() -> None:
    assert escaped("a\ud83d") == b"a?"


def test_a_text_part_is_compact_json() -> None:
    assert text_part('é"\n', "input_text") == '{"type":"input_text","text":"é\\"\\n"}'.encode()


def test_no_splices_give_the_same_object() -> None:
    body = b"abc"
    assert spliced(body, []) is body


def test_splices_are_made_at_their_places_in_any_order() -> None:
    assert spliced(b"abcdef", [Splice(4, 4, b"2"), Splice(1, 2, b"1"), Splice(4, 4, b"3")]) == b"a1cd23ef"


def test_splices_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        spliced(b"abcdef", [Splice(1, 4, b""), Splice(2, 3, b"")])


def test_edits_are_grouped_by_message_in_their_order_and_empty_ones_dropped() -> None:
    a, b, c = Append(1, "a", Form.PART), Append(0, "b", Form.PART), Append(1, "c", Form.SUFFIX)
    assert by_message([a, b, c, Append(2, "", Form.PART)], 3) == {1: [a, c], 0: [b]}


@pytest.mark.parametrize("index", [-1, 3])
def test_an_edit_of_a_message_that_is_not_there_is_an_error(index: int) -> None:
    with pytest.raises(IndexError):
        by_message([Append(index, "a", Form.PART)], 3)
