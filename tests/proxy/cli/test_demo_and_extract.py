"""The demonstration plays to its end without a key, and extraction reads and writes lines."""

from __future__ import annotations

import json

import pytest

from proxy.cli.demo import FIRST, NOISE, SECOND, DemoResult, _print
from tests.proxy.cli.running import run


def test_the_demonstration_shows_what_was_learned_recalled_and_added() -> None:
    seen = run("demo", "--json").json
    assert seen["said"][::2] == list(FIRST)
    assert any("pnpm" in each["text"] for each in seen["learned"])
    assert any("certificate" in each["text"] for each in seen["recalled"])
    assert "certificate" in seen["answer"] and seen["sent"] == SECOND
    assert seen["bytes_added"] == len(seen["added"].encode()) > 0
    assert seen["unrelated"] == NOISE and seen["unrelated_recalled"] == 0
    told = run("demo")
    assert told.code == 0 and "certificate" in told.out and "bytes that were added" in told.out


def test_where_nothing_was_recalled_the_reason_is_the_requests_own(capsys: pytest.CaptureFixture[str]) -> None:
    _print(DemoResult(nothing="late: more than 1 ms"))
    assert "nothing: late: more than 1 ms" in capsys.readouterr().out


def test_extraction_reads_and_writes_lines() -> None:
    line = json.dumps({"id": 7, "messages": [{"role": "user", "content": "I prefer tabs over spaces."}]})
    done = run("extract", "--jsonl", stdin=line + "\n\n" + line + "\n")
    told = [json.loads(each) for each in done.out.splitlines()]
    assert [each["id"] for each in told] == [7, 7] and told[0]["facts"][0]["type"] == "preference"


def test_a_line_that_is_none_is_named_by_its_number() -> None:
    done = run("extract", "--jsonl", stdin='{"id": 1, "messages": []}\nnonsense\n')
    assert done.code == 1 and "line 2" in done.err
    assert run("extract").code == 2
    assert run("extract", "--jsonl", "--at", "yesterday").code == 2
