"""What in a TOML text keeps a key or a table from being set line by line, and where: for whoever then does it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEY = re.compile(r"""[ \t]*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*""")


def obstacle(text: str, paths: Iterable[tuple[str, ...]]) -> tuple[int, str] | None:
    """The line, from 1, on which one of the paths is taken by something else than a table with a header of its own or a
    plain key, and what that is; None where none is found."""
    wanted = list(paths)
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        row = line.strip()
        if row.startswith("["):
            many = row.startswith("[[")
            table, _ = _keys(row[2 if many else 1 :])
            if many and any(path[: len(table)] == table for path in wanted):
                return number, f"{_dotted(table)} is a list of tables there"
            if table in wanted and not row.startswith(f"[{'.'.join(table)}]"):
                return number, f"the header of {_dotted(table)} is written in an unusual way there"
            continue
        keys, rest = _keys(row)
        if not keys or not rest.startswith("="):
            continue
        whole = (*table, *keys)
        for path in wanted:
            if whole == path[: len(whole)] and (len(path) > 1 or row != line or not row.startswith(path[0])):
                if rest[1:].lstrip().startswith("{"):
                    form = f"[{'.'.join((*whole, 'NAME')[: len(path)])}]"
                    return (
                        number,
                        f"{_dotted(whole)} is an inline table there: make it {form} with lines of its own first",
                    )
                kind = "no table" if len(path) > 1 else "written in an unusual way"
                return number, f"{_dotted(whole)} is {kind} there"
            if len(table) < len(path) < len(whole) and whole[: len(path)] == path:
                return number, f"{_dotted(path)} is made by a dotted key there"
    return None


def _keys(row: str) -> tuple[tuple[str, ...], str]:
    """The parts of a dotted key that a row begins with, and what follows it."""
    keys: list[str] = []
    while found := _KEY.match(row):
        keys.append(next(each for each in found.groups() if each is not None))
        row = row[found.end() :]
        if not row.startswith("."):
            break
        row = row[1:]
    return tuple(keys), row


def _dotted(keys: tuple[str, ...]) -> str:
    return f"`{'.'.join(keys)}`"
