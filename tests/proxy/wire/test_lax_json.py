"""A lax reading finds what is surely there, and nothing else."""

from __future__ import annotations

from time import process_time

import pytest

from proxy.wire.dialect import BadRequest
from proxy.wire.model_name import MOST_TOKENS, text_at_top

SAID = '"messages": [{"role": "user", "content": "a \\"}, \\"model\\": \\"other\\", {", "model": "inner"}]'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(
    "body",
    [
        '{"model": "m", "temperature": NaN, %s}',
        '{%s, "model": "m", "x": -Infinity}',
        '{"mod\\u0065l": "\\u006d", %s,}',
        '{"model": "m", %s, "x": 1e99999}',
        '{"model": "m", %s, "x": 01}',
        '{"model": "m", %s, "x": "\\ud800"}',
        '{"model": "other", "model": "m", %s}',
        '{"model": "m", %s, "x": ' + "[" * 5000 + "]" * 5000 + "}",
        ' {"model"\n:\t"m","x":"a\nb"} \n',
    ],
)
def test_what_a_strict_reader_refuses(body: str, encoding: str) -> None:
    body = body.replace("%s", SAID)
    assert text_at_top(body.encode(encoding), "model") == "m"


@pytest.mark.parametrize(
    "body", ["{}", '{"x": {"model": "m"}}', '{"model": null, "x": NaN}', '{"x": "model", "y": "m"}']
)
def test_what_names_none(body: str) -> None:
    assert text_at_top(body.encode(), "model") == ""


@pytest.mark.parametrize(
    "body",
    [
        "",
        " ",
        "m",
        "[]",
        '"model"',
        "{",
        "}",
        '{"model": "m"',
        '{"model": "m", "x": "abc',
        '{"model": "m"} {"model": "n"}',
        '{"model": "m"} x',
        '{"x": [}, "model": "m"}',
        "{'model': 'm'}",
        '{model: "m"}',
        '{"model": "m" /* or */ "n"}',
        '{"model" "m"}',
        '{"x": 1 "model": "m"}',
        '{"model": ["m"]}',
        '{"model": {"m": 1}}',
        '{"model": 7}',
        '{"model": "\\q"}',
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(body: str) -> None:
    with pytest.raises(BadRequest):
        text_at_top(body.encode(), "model")


def test_however_it_is_made_it_is_read_in_its_length() -> None:
    began = process_time()
    assert text_at_top(b'{"model": "m", "x": "' + b"\\n" * 2_000_000 + b'"}', "model") == "m"
    for body in (b'{"x": "' + b"a\\" * 2_000_000, b"{" + b'"' * 200_001, b'{"x": ' + b"[" * 200_000):
        with pytest.raises(BadRequest):
            text_at_top(body, "model")
    assert process_time() - began < 5
    with pytest.raises(BadRequest, match="too large"):
        text_at_top(b'{"x": [' + b"," * MOST_TOKENS + b"]}", "model")
