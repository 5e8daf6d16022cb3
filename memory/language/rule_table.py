"""Rules as data: a TOML table beside the module that uses it, each row with texts that it must and must not match.

The test suite runs every row against its own examples, so a rule for another provider, client or language is a row.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FRAGMENT: Final = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Row:
    """A pattern, with a text at least that it finds something in (``yes``) and one in which it finds nothing."""

    pattern: str
    yes: tuple[str, ...]
    no: tuple[str, ...]


def table(module: str) -> Mapping[str, tuple[Row, ...]]:
    """The rows by group, of the table that belongs to a module (its ``__file__``), with the table's fragments.

    Raises:
        ValueError: a row has no example of one of the two kinds, or names a fragment that the table does not have.
    """
    path = Path(module).with_suffix(".toml")
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    fragments: dict[str, str] = {}
    for name, pattern in groups.get("fragments", {}).items():
        fragments[name] = expand(pattern, fragments)
    return {
        group: tuple(_row(path.name, group, row, fragments) for row in rows)
        for group, rows in groups.items()
        if isinstance(rows, list)
    }


def words(module: str, name: str) -> tuple[str, ...]:
    """A list of the table's ``[words]``."""
    return tuple(tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))["words"][name])


def expand(pattern: str, fragments: Mapping[str, str]) -> str:
    """A pattern in which ``{name}`` stands for a fragment, and a line break with the indentation behind it for nothing.

    Raises:
        KeyError: there is no such fragment.
    """
    joined = "".join(map(str.lstrip, pattern.split("\n"))) if "\n" in pattern else pattern
    return _FRAGMENT.sub(lambda named: fragments[named[1]], joined)


def any_of(rows: Iterable[Row], flags: int = 0) -> re.Pattern[str]:
    """One pattern that finds what any of the rows does."""
    return re.compile("|".join(f"(?:{row.pattern})" for row in rows), flags)


def _row(file: str, group: str, row: Mapping[str, object], fragments: Mapping[str, str]) -> Row:
    pattern, yes, no = row["pattern"], row.get("yes"), row.get("no")
    if not isinstance(pattern, str) or not isinstance(yes, list) or not isinstance(no, list) or not yes or not no:
        raise ValueError(f"{file}: a row of {group} needs a pattern, yes and no: {pattern!r}")
    try:
        pattern = expand(pattern, fragments)
    except KeyError as unknown:
        raise ValueError(f"{file}: a row of {group} names no fragment {unknown}: {pattern!r}") from None
    return Row(pattern, tuple(map(str, yes)), tuple(map(str, no)))
