import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import slices
from proxy.wire.dialect import BadRequest, Unreadable
from proxy.wire.slices import MOST_ITEMS, MOST_MESSAGES, cut, fields_of, items_of, masked, offset_of, value_of
from tests.proxy.wire.bodies import bodies


@given(body=bodies("/chat/completions"))
def test_every_slice_lies_where_it_says(body: bytes) -> None:
    text, fields = cut(body)
    assert len(text) == len(body)
    for raw in [*fields.values(), *items_of(fields["messages"])]:
        at = offset_of(text, raw)
        assert text[at : at + len(bytes(raw))] == bytes(raw)
        json.loads(body[at : at + len(bytes(raw))])


def test_of_duplicate_keys_the_last_one_is_cut() -> None:
    body = b'{"a": [1], "b": [1], "a" : [1] }'
    text, fields = cut(body)
    assert offset_of(text, fields["a"]) == 27


def test_a_body_without_oddities_is_cut_from_itself() -> None:
    body = '{"a":"\\ud83d\\ude00 é \\\\ud83d"}'.encode()
    assert cut(body)[0] is body


def test_lone_surrogates_are_masked_and_pairs_are_not() -> None:
    assert masked(rb'"\ud83d\ude00 \ud83d \\ud83d \udc00\ud83d\ud83d\ude00"') == (
        rb'"\ud83d\ude00 \ufffd \\ud83d \ufffd\ufffd\ud83d\ude00"'
    )


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"nonsense", b'{"a":1}x', b'{"a":}', b"[1]", b'"text"', b"7", b'{"a":"\xff"}', b'{"a":"\\x"}'),
        *(b'{"a":' * 20_000, b'{"a":' + b"[" * 90_000 + b"]" * 90_000 + b"}", b"[NaN]", b"\x00\x01"),
    ],
)
def test_what_no_provider_could_read_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(BadRequest):
        cut(body)


@pytest.mark.parametrize(
    "body", [b'{"a":NaN}', b'{"a":-Infinity}', b'{"a":"x\ny"}', '{"a":1}'.encode("utf-16"), '{"a":1}'.encode("utf-32")]
)
def test_what_a_lax_provider_could_read_is_left_to_it(body: bytes) -> None:
    with pytest.raises(Unreadable):
        cut(body)


def test_a_nesting_too_deep_to_decode_is_a_bad_request() -> None:
    raw = msgspec.Raw(b"[" * 50_000 + b"]" * 50_000)
    with pytest.raises(BadRequest):
        items_of(raw)
    with pytest.raises(BadRequest):
        value_of(raw)
    with pytest.raises(BadRequest):
        fields_of(msgspec.Raw(b'{"a":' * 50_000))


def test_numbers_of_any_size_are_read_or_nothing() -> None:
    assert value_of(msgspec.Raw(b"12345678901234567890123")) == pytest.approx(1.2345678901234568e22)
    assert value_of(msgspec.Raw(b"1e999")) == float("inf")
    assert value_of(msgspec.Raw(b"9" * 5000)) is None


def test_a_slice_of_another_text_has_no_offset() -> None:
    text, _ = cut(b'{"a":1}')
    with pytest.raises(ValueError, match="not cut from this text"):
        offset_of(text, msgspec.Raw(b"1"))


def test_a_list_of_more_items_than_anybody_has_is_not_read() -> None:
    _, fields = cut(b'{"x": [' + b"1," * MOST_ITEMS + b"1]}")
    with pytest.raises(Unreadable):
        items_of(fields["x"])
    assert len(items_of(fields["x"], MOST_ITEMS + 1)) == MOST_ITEMS + 1


_TEXTS = st.text(st.sampled_from('a\\",:[]{} \n\u0436'), max_size=8)
_VALUES = st.recursive(
    st.one_of(_TEXTS, st.integers(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(_TEXTS, inner, max_size=5)),
)


def _marks_of(value: Any) -> Counter[str]:
    """The strings, brackets and commas that a value is written with."""
    if isinstance(value, str):
        return Counter('"')
    if not isinstance(value, list | dict):
        return Counter()
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    own = Counter("{}" if isinstance(value, dict) else "[]") + Counter(commas=max(len(value) - 1, 0))
    return sum(map(_marks_of, inner), own)


@given(
    value=_VALUES,
    comma=st.sampled_from((",", " , ", ",\n\t")),
    colon=st.sampled_from((":", " :", "\n: ")),
    ascii=st.booleans(),
    window=st.integers(1, 9),
)
def test_what_is_counted_in_json_is_what_stands_in_it(
    value: Any, comma: str, colon: str, ascii: bool, window: int
) -> None:
    text = json.dumps(value, separators=(comma, colon), ensure_ascii=ascii).encode()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(slices, "_WINDOW", window)
        found, strings = Counter(map(chr, slices._marks(text))), slices._count_strings(text)
        slices._check_encoding(text)
    expected = _marks_of(value)
    expected[","] = expected.pop("commas", 0)
    assert +found == +expected
    assert strings == expected['"']


@given(text=st.binary(max_size=40), window=st.integers(1, 9))
def test_text_of_no_encoding_is_told_wherever_it_is_cut(text: bytes, window: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(slices, "_WINDOW", window)
        try:
            text.decode()
        except UnicodeDecodeError:
            with pytest.raises(UnicodeDecodeError):
                slices._check_encoding(text)
        else:
            slices._check_encoding(text)


def _large(inner: bytes) -> bytes:
    return b'{"pad":"' + b"x" * 2**20 + b'",' + inner + b"}"


@pytest.mark.parametrize(
    "inner",
    [
        b",".join(b'"f%d":1' % number for number in range(60_000)),
        b'"messages":[' + b",".join([b"1"] * 400_000) + b"]",
        b'"messages":[{"content":[' + b",".join([b"[]"] * 400_000) + b"]}]",
        b'"x":{' + b",".join(b'"f%d":1' % number for number in range(60_000)) + b"}",
        b",".join(b'"f%d" :1' % number for number in range(60_000)),
        b",".join(rb'"%d\\":1' % number for number in range(60_000)),
        b'"x":NaN',
    ],
    ids=[
        "fields",
        "messages",
        "parts",
        "an object's fields",
        "blanks before colons",
        "escapes before quotes",
        "lax and large",
    ],
)
def test_a_large_body_with_more_parts_than_anybody_has_is_not_cut(inner: bytes) -> None:
    with pytest.raises(Unreadable):
        cut(_large(inner))


def test_a_large_body_of_many_words_and_messages_is_cut() -> None:
    message = rb'{"role":"user","content":"one, two, {\"three\": [4, 5, 6]}, seven, eight"}'
    body = _large(b'"messages":[' + b",".join([message] * MOST_MESSAGES) + b"]")
    assert len(items_of(cut(body)[1]["messages"], MOST_MESSAGES)) == MOST_MESSAGES


def test_a_value_longer_than_anybody_says_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.wire.slices.MOST_VALUE", 10)
    assert value_of(msgspec.Raw(b'"12345678"')) == "12345678"
    with pytest.raises(Unreadable):
        value_of(msgspec.Raw(b'"123456789"'))


def test_a_string_without_an_end_is_looked_at_once() -> None:
    """From each quote in it anew it would take hours."""
    body = b'{"x":[' + b"[1,1]," * 160_000 + b'0],"y":"' + b"a" * 100_000 + b'\\"' * 1_000_000
    with pytest.raises((BadRequest, Unreadable)):
        cut(body)
