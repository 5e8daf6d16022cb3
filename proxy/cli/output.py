"""Memories, receipts and tables on a terminal; JSON for programs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memory.hooks.command import SHORT as SHORT
from memory.hooks.command import day as day
from memory.hooks.command import where as where
from proxy.cli import shed_report

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

WIDE = 110
"""Columns of a terminal from which on a memory's text has room beside what is said about it."""


PIPED = 100_000
"""Columns of what is no terminal: a line stays a line there, for those who look for something in it."""


class _Screen(Console):
    """Where commands print. No line ends in the spaces with which a table fills its last column."""

    def print(self, *objects: Any, **options: Any) -> None:
        with self.capture() as printed:
            super().print(*objects, **options)
        self.file.write(re.sub(r" +(?=\n)", "", printed.get()))


def screen() -> Console:
    """The terminal. What people and models said is never read as markup. What goes into a pipe or a file is not
    wrapped, unless COLUMNS says where."""
    if sys.stdout.isatty():
        return Console(markup=False, highlight=False, emoji=False)
    wide = None if "COLUMNS" in os.environ else PIPED
    return _Screen(markup=False, highlight=False, emoji=False, width=wide)


def drawing_columns() -> int:
    """Columns for what is drawn to a width and read by people only: the terminal's, or 80."""
    return Console().width


def progress(*columns: ProgressColumn, quiet: bool = False) -> Progress:
    """A bar on standard error that leaves nothing behind, and is none where nobody looks at it."""
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True)


def as_json(data: Any) -> None:
    """Data for a program, on one line; in ASCII where the output does not take every letter."""
    print(json.dumps(data, ensure_ascii="utf" not in (sys.stdout.encoding or "").lower()))


def memories(found: Sequence[dict[str, Any]], nothing: str) -> None:
    """Facts and passages, a line or more each."""
    console = screen()
    if not found:
        console.print(nothing)
        return
    scored = any("score" in each for each in found)
    rows = [
        ([each["id"][:SHORT], *([f"{each.get('score', 0):.2f}"] if scored else []), *_about(each)]) for each in found
    ]
    if console.width < WIDE:
        # Beside all that, a text would be a column of a few letters.
        for row, each in zip(rows, found, strict=True):
            console.print(Text("  ".join(row), "dim"), soft_wrap=True)
            console.print(Padding(Text(memory_text(each)), (0, 0, 0, 2), expand=False))
        return
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
    for name in ("id", *(["score"] if scored else []), "day", "what", "where"):
        table.add_column(name, no_wrap=True, style="dim")
    table.add_column("text", overflow="fold", ratio=1)
    for row, each in zip(rows, found, strict=True):
        table.add_row(*map(Text, row), Text(memory_text(each)))
    console.print(table)


def _about(held: dict[str, Any]) -> list[str]:
    """When a memory is from, what it is, and whose."""
    return [day(held.get("recorded_at") or held.get("at")), what(held), where(held["owner"])]


def memory(held: dict[str, Any]) -> None:
    """One memory with everything that is known of it."""
    console = screen()
    console.print(Text(memory_text(held)), soft_wrap=True)
    console.print()
    hidden = {"text", "wrong"}
    pairs((name, value) for name, value in held.items() if name not in hidden and value not in (None, "", [], ()))


def receipt(held: dict[str, Any]) -> None:
    """One receipt: what was added to a request and left out of it, why, and how long each step took."""
    console = screen()
    shown, steps = held["shown"], held["steps"]
    apart = ("shown", "steps", "shed", "seen", "tokens", "window", "saved", "paged", "hidden")
    rows = [(name, value) for name, value in held.items() if name not in apart and value not in ("", None)]
    pairs([*rows, *shed_report.rows(held)])
    console.print()
    for each in shown:
        why = "  ".join(f"{name} {value:.2f}" for name, value in each["why"].items())
        console.print(
            Text(f"{each['memory'][:SHORT]}  score {each['score']:.2f}  {each['tokens']} tokens  {why}", "dim")
        )
        console.print(Text(f"  {each['text']}"), soft_wrap=True)
    if not shown:
        console.print("nothing new was recalled")
    for each in held.get("hidden", ()):
        used = each["usage"] or {}
        cost = f"{used['input']} tokens in ({used['cached']} cached), {used['output']} out" if used else "no usage told"
        console.print(Text(f"unseen by the client: {', '.join(each['tools'])}; {cost}"))
    if steps:
        console.print()
        console.print(Text("milliseconds  " + "  ".join(f"{name} {value:.1f}" for name, value in steps.items()), "dim"))


def pairs(rows: Iterable[tuple[str, Any]]) -> None:
    """Names with their values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name.replace("_", " ")), Text(plain(value)))
    screen().print(table)


def plain(value: Any) -> str:
    """A value as a person reads it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def moment(at: str) -> str:
    """An ISO time, to the second: of today its hour, else its day too."""
    local_time = datetime.fromisoformat(at).astimezone()
    return local_time.strftime(
        "%H:%M:%S" if local_time.date() == datetime.now().astimezone().date() else "%m-%d %H:%M:%S"
    )


def what(held: dict[str, Any]) -> str:
    """A fact's kind, or who spoke."""
    if held["sort"] == "turn":
        return f"said by {held['speaker']}"
    marks = [held["kind"], *(["pinned"] if held["pinned"] else []), *({held["state"]} - {"active"})]
    ends = held.get("expires_at")
    if ends and held["state"] == "active" and datetime.fromisoformat(ends) <= datetime.now(UTC):
        marks.append("over")
    return " ".join(marks)


def destination_of(owner: str) -> str:
    """Where something was put, behind a verb."""
    place = where(owner)
    return place if place == "everywhere" else f"in {place}"


def audience_of(candidate: dict[str, Any]) -> str:
    """For whom a candidate is."""
    return "the organisation" if candidate["layer"] == "org" else where(candidate["owner"])


def memory_text(held: dict[str, Any]) -> str:
    """A memory's text with both sides of a correction, the wrong one where the text does not say it by itself."""
    text, other_side = str(held["text"]), str(held.get("wrong") or "")
    if not other_side:
        return text
    # Imported for those that have another side: what understands a sentence takes as long as printing a table.
    from memory.language.polarity import unsaid

    wrong = unsaid(other_side, text)
    return f"{text} (not: {wrong})" if wrong else text
