"""The offline bench of sheds: it plays what a folder holds, and its reckoning is right."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.bench import pauses
from tests.bench.shedding import Recorded, Rules, played, table
from tests.bench.transcripts import Rendered, Seen, broken, common, names_in, transcripts


def recorded(folder: Path, rounds: int) -> list[Recorded]:
    """A made-up session that reads files and uses, at the end, what the first one said."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Work."}, {"role": "user", "content": "Go."}]
    for number in range(rounds):
        used = "symbol_0_3" if number == rounds - 1 else "nothing"
        arguments = json.dumps({"file_path": f"src/{number}.py", "why": used})
        call = {"id": f"c{number}", "type": "function", "function": {"name": "Read", "arguments": arguments}}
        answer = "\n".join(f"def symbol_{number}_{line}(argument): return {line}" for line in range(150))
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": answer})
    messages.append({"role": "assistant", "content": "Done."})
    with gzip.open(folder / "made-up.jsonl.gz", "wt") as file:
        file.write(json.dumps({"id": "1", "source": "x", "messages": messages, "approx_tokens": 1}) + "\n")
    return [Recorded.of(each) for each in transcripts(folder, 0, 0)]


def test_a_session_that_fits_is_passed_on_as_it_is(tmp_path: Path) -> None:
    row = played(recorded(tmp_path, 20), Rules(window=1_000_000))["all"].row()
    assert row["cost"] == row["prefix"] == row["distant"] == 1.0
    assert row["sheds"] == row["over"] == row["invalid"] == 0


async def test_pauses_are_the_moments_to_shed_and_keep_no_prefix(tmp_path: Path) -> None:
    tally, beside = await pauses.played(recorded(tmp_path, 24), 20_000, 8)
    row = tally.row()
    assert row["invalid"] == row["over"] == 0 and row["client_over"] > 0
    assert beside["cold"] > 0 and row["cost"] < 1


def test_a_session_that_does_not_fit_is_shed_and_stays_valid(tmp_path: Path) -> None:
    tallies = played(recorded(tmp_path, 40), Rules(window=20_000))
    row = tallies["all"].row()
    assert row["sheds"] > 0 and row["over"] == row["invalid"] == 0
    assert row["client_over"] > 0 and row["cost"] < 1
    assert "made-up" in table(tallies)


def test_what_paging_adds_is_in_the_request_and_made_again(tmp_path: Path) -> None:
    rules = Rules(window=20_000, paging=lambda play, count, standing: f"paged {count}")
    row = played(recorded(tmp_path, 40), rules)["all"].row()
    assert row["prefix"] > 0.7 and row["invalid"] == 0


def test_the_common_beginning_is_counted_in_bytes() -> None:
    one, two, other = (Rendered.of({"role": "user", "content": text}) for text in ("one", "two", "twelve"))
    assert common([one, two], [one, two]) == len(one.serial) + len(two.serial)
    assert common([one, two], [one, other]) == len(one.serial) + len(b'{"role":"user","content":"tw')


def test_a_name_is_remembered_with_its_last_line() -> None:
    seen = Seen()
    for index, text in enumerate(("the_identifier first", "other\nthen the_identifier  second")):
        body = {"role": "user", "content": text}
        seen.add(index, body, names_in(body))
    assert seen.at["the_identifier"] == 1 and seen.line["the_identifier"] == "then the_identifier second"


def test_broken_requests_are_seen() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]}
    assert broken([{"role": "user", "content": "x"}]) == []
    assert broken([{"role": "tool", "tool_call_id": "a", "content": "x"}]) == ["orphan result"]
    assert set(broken([call])) == {"arguments are no JSON", "unanswered call", "ends with the assistant"}
