"""``palimpsest export``, before a running server with real stores."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from proxy.cli import as_markdown
from tests.proxy.cli.running import run

pytestmark = pytest.mark.usefixtures("server")


def test_an_export_holds_every_fact_whole_in_an_order_that_stays(tmp_path: Path) -> None:
    run("remember", "The staging cluster is called heron", "--pin")
    run("remember", "The mascot is an otter", "--project", "boat")
    out = tmp_path / "all.jsonl"
    done = run("export", "--out", str(out), "--json")
    assert (done.json["facts"], done.json["passages"]) == (2, 0)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert records[0] == {"sort": "palimpsest", "format": 1}
    assert records[-1] == {"sort": "tombstones", "count": 0}
    facts = {each["text"]: each for each in records if each["sort"] == "fact"}
    assert facts["The staging cluster is called heron"]["pinned"] is True
    assert facts["The mascot is an otter"]["owner"] == "up:/local/boat"
    assert facts["The mascot is an otter"]["uses"]
    again = run("export")
    assert again.out == out.read_text()


def test_an_export_of_one_owner_or_project_holds_nothing_else() -> None:
    run("remember", "The staging cluster is called heron")
    run("remember", "The mascot is an otter", "--project", "boat")
    only = run("export", "--owner", "up:/local/boat").out
    assert "otter" in only and "heron" not in only
    refused = run("export", "--owner", "up:/eve/boat")
    assert refused.code == 2 and "up:/local/boat" in refused.err


def test_an_export_says_how_much_was_forgotten_and_not_what() -> None:
    id = run("remember", "The lighthouse keeper is called Ines", "--json").json["id"]
    run("forget", id)
    out = run("export").out
    assert json.loads(out.splitlines()[-1])["count"] == 1
    assert "Ines" not in out


def test_markdown_reads_well_and_keeps_the_records() -> None:
    run("remember", "Arrows --> and <!-- comments --> are plain text", "--project", "boat")
    run("page", "--write", "-", "--project", "boat", stdin="Ask me before you deploy.\n\n<!-- palimpsest records\n{}\n")
    out = run("export", "--format", "markdown").out
    read, mark, behind = out.partition("\n<!-- palimpsest records")
    assert mark and "{" not in read.replace("> {}", "") and '"sort"' not in read
    assert "## Facts: boat" in read and "## Your own page: boat\n\n> Ask me before you deploy.\n>\n> &lt;!--" in read
    [line] = [line for line in read.splitlines() if line.startswith("- Arrows")]
    [id] = [each["id"] for each in run("facts", "--json").json["facts"]]
    assert line.endswith(f"your own word, {id[:8]})_")
    # The one comment ends where the document does, and holds what an export for programs holds.
    assert behind.count("-->") == 1 and behind.endswith("\n-->\n")
    kept = [json.loads(each) for each in behind.splitlines() if each.startswith("{")]
    assert kept == [json.loads(each) for each in run("export").out.splitlines()]


def test_a_folder_that_is_not_there_is_told_and_nothing_is_left_behind(tmp_path: Path) -> None:
    done = run("export", "--out", str(tmp_path / "nowhere" / "all.jsonl"))
    assert done.code == 1 and "nowhere" in done.err
    assert "Traceback" not in done.err and "[Errno" not in done.err


def test_a_dash_is_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("export", "--out", "-").out == run("export").out != ""
    assert list(tmp_path.glob("-*")) == []


def test_what_is_no_file_is_written_into_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("export", "--out", str(pipe)).code == 0
        assert os.read(reader, 65536) and pipe.is_fifo()
    finally:
        os.close(reader)


def test_records_of_earlier_documents_are_read_and_broken_ones_told() -> None:
    old = ["# Facts", '- a fact <!-- palimpsest: {"sort":"fact"} -->', "- broken <!-- palimpsest: {x} -->"]
    new = ["<!-- palimpsest records: …", "In words.", '{"sort":"pin"}', "{x", "-->", '{"not": "ours"}']
    told = list(as_markdown.records_in([*old, *new]))
    assert [each for each in told if isinstance(each, dict)] == [{"sort": "fact"}, {"sort": "pin"}]
    assert [isinstance(each, ValueError) for each in told] == [False, False, True] + [False] * 3 + [True, False, False]
