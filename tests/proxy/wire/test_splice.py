import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.splice import Splice, escaped, spliced, text_part


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
