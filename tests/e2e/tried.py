"""What each runtime can do with memory, as runs have shown it: a table in the docs (``python -m tests.e2e --write``).

A run writes the rows of the clients that it played; those of the others stay as they were, with their own dates. So
does what an earlier run showed with the same version of a client in scenarios that this one did not play, with the day
of that run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.e2e.install import PACKAGES
from tests.e2e.stage import Check

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "runtimes-tried.md"
_BEGINS, _ENDS = "<!-- table -->", "<!-- /table -->"

UNTRIED: Final = "–"

Results = Mapping[tuple[str, str], Sequence[Check]]
"""The checks by client and scenario."""


@dataclass(frozen=True, slots=True)
class Column:
    """A capability: which checks show it, by the scenario and the check's name."""

    title: str
    shown_by: Callable[[str, str], bool]


def _named(*names: str) -> Callable[[str, str], bool]:
    return lambda scenario, check: check in names


def _played(name: str) -> Callable[[str, str], bool]:
    return lambda scenario, check: scenario == name


SUBAGENT: Final = ("its research is kept, tied and whole", "a reworded question is given the report")
COLUMNS: Final = (
    Column("turn with a tool", _named("a turn with a tool", "resume, with a tool")),
    Column("recall in the next session", _named("a new session of the project recalls it, and nothing else")),
    Column("none in another project", _named("another project does not know it")),
    Column("resume", lambda scenario, check: check.startswith(("resume", "the session is resumed"))),
    Column("prefix never shorter than the client's", _named("no prefix is shorter than the client's own")),
    Column("provider's faults", lambda scenario, check: check.startswith("a reply that is ")),
    Column("sub-agents kept and reused", lambda scenario, check: scenario == "errands" or check in SUBAGENT),
    Column("long session, no compaction", _played("long")),
    Column("memory's tools in a reply", _played("asking")),
    Column("branches", _played("branches")),
)


def row(client: str, results: Results, day: str, before: str = "") -> str:
    """A client's row; ``before`` is the one that stood there."""
    package, _, version = PACKAGES[client].rpartition("@")
    every = [(scenario, each) for (name, scenario), checks in results.items() if name == client for each in checks]
    cells = [
        _cell([each.passed for scenario, each in every if column.shown_by(scenario, each.name)]) for column in COLUMNS
    ]
    known = before.strip("| ").split(" | ")
    if known[:2] == [client, f"`{package}` {version}"] and len(known) == 3 + len(cells):
        earlier = (_of(old, known[2], day) for old in known[3:])
        cells = [new if new != UNTRIED else old for new, old in zip(cells, earlier, strict=True)]
    return f"| {client} | `{package}` {version} | {day} | {' | '.join(cells)} |"


def table(results: Results, day: str, before: str) -> str:
    """The table with the rows of a run, and those that stood there before of other clients."""
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in before.splitlines() if line.startswith("| ")}
    rows = {name: line for name, line in rows.items() if name in PACKAGES}
    rows |= {
        name: row(name, results, day, rows.get(name, "")) for name in dict.fromkeys(client for client, _ in results)
    }
    titles = ["runtime", "package", "tried", *(column.title for column in COLUMNS)]
    head = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    return "\n".join([*head, *(rows[name] for name in PACKAGES if name in rows)])


def write(results: Results, day: str, file: Path = FILE) -> None:
    """Put the table into its page."""
    text = file.read_text(encoding="utf-8")
    start, end = text.index(_BEGINS) + len(_BEGINS), text.index(_ENDS)
    file.write_text(f"{text[:start]}\n{table(results, day, text[start:end])}\n{text[end:]}", encoding="utf-8")


def _of(cell: str, tried: str, day: str) -> str:
    """A cell of an earlier row in one of this day: what was shown then was shown by the code of then."""
    return cell if cell == UNTRIED or tried == day or cell.endswith(")") else f"{cell} ({tried})"


def _cell(passed: Sequence[bool]) -> str:
    return ("yes" if all(passed) else "**no**") if passed else UNTRIED
