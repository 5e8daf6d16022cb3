"""The shapes of keys that providers issue: a prefix nobody writes by chance, and what follows it.

They are rows of ``prefixes.toml``, which is read when a text is first looked at.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.language.rule_table import expand

_TABLE: Final = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """Keys of one kind: one of the prefixes, and a pattern of what follows. The examples are tails: one that must match
    as a whole, and one at whose beginning nothing may."""

    kind: str
    prefixes: tuple[str, ...]
    tail: str
    matches: tuple[str, ...]
    misses: tuple[str, ...]


def issued_keys() -> tuple[IssuedKey, ...]:
    """The rows of the table, in its order."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return tuple(
        IssuedKey(
            row["kind"],
            tuple(row["prefixes"]),
            expand(row["tail"], table["fragments"]),
            tuple(row["matches"]),
            tuple(row["misses"]),
        )
        for row in table["keys"]
    )


# Ids that runtimes, providers and tools print all day and that open nothing.
_HARMLESS = """
    toolu srvtoolu call chatcmpl msg req resp rs fc run thread asst sess session evt event file fp build index chunk
    commit sha sha1 sha256 sha384 sha512 md5 uuid id item cmpl gen task job batch step trace span ws rsm web toolcall
    functions conv conversation agent user org proj project env cus sub in price prod ch pi seti pm acct py txn cs image
    img layer digest ref rev version v node pkg hash etag vrtx bdrk
"""
HARMLESS_PREFIXES = frozenset(_HARMLESS.split())
