"""Text made from the parse tree of a regular expression: what stands before each of its long repeats, and what the
repeat takes, to be said again and again."""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Iterator
from typing import Any

MANY = 20
"""Turns from which a bounded repeat is pumped like one without a bound."""

COMMON: tuple[str, ...] = (
    " ",
    "\n",
    " \n",
    "\t",
    "a",
    "A",
    "a ",
    "a\n",
    "1",
    "1 ",
    "-",
    "--",
    ".",
    "a.",
    "/",
    "a/",
    "'",
    '"',
    "`",
)
COMMON += ("(", "[", "{", "<", "\\", "_", "=", ":", ",", "é ", "# ", "a=", "a-", "a, ")

parser: Any = importlib.import_module("re._parser")
codes: Any = importlib.import_module("re._constants")

REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


class Maker:
    """Makes text that a parsed pattern, or a part of it, takes."""

    def __init__(self, lot: random.Random) -> None:
        self._lot = lot

    def text(self, tree: Any) -> str:
        return "".join(self._one(code, value) for code, value in tree)

    def pumps(self, tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
        """Each long repeat: what stands before it, and one turn of it."""
        for code, value in tree:
            if code in REPEATS:
                low, high, body = value
                if high > MANY:
                    yield before, self.text(body)
                yield from self.pumps(body, before + self.text(body) * max(0, low - 1))
            elif code is codes.BRANCH:
                for branch in value[1]:
                    yield from self.pumps(branch, before)
            elif code is codes.SUBPATTERN:
                yield from self.pumps(value[3], before)
            elif code is codes.ATOMIC_GROUP:
                yield from self.pumps(value, before)
            elif code in (codes.ASSERT, codes.ASSERT_NOT):
                yield from self.pumps(value[1], before)
            elif code is codes.GROUPREF_EXISTS:
                for branch in value[1:]:
                    yield from self.pumps(branch or (), before)
            before += self._one(code, value)

    def _one(self, code: Any, value: Any) -> str:
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.NOT_LITERAL:
            return "a" if value != ord("a") else "b"
        if code is codes.ANY:
            return self._lot.choice("a -")
        if code is codes.IN:
            return self._of(value)
        if code is codes.BRANCH:
            return self.text(self._lot.choice(value[1]))
        if code is codes.SUBPATTERN:
            return self.text(value[3])
        if code is codes.ATOMIC_GROUP:
            return self.text(value)
        if code in REPEATS:
            low, high, body = value
            turns = max(low, min(high, self._lot.choice((0, 1, 1, 2))))
            return "".join(self.text(body) for _ in range(min(turns, 40)))
        if code is codes.ASSERT and value[0] > 0:
            return self._lot.choice(("", self.text(value[1])))
        return ""

    def _of(self, members: Any) -> str:
        """A character of a set."""
        kinds = {
            codes.CATEGORY_DIGIT: "0", codes.CATEGORY_WORD: "a0_", codes.CATEGORY_SPACE: " \n\t",
            codes.CATEGORY_NOT_DIGIT: "a -", codes.CATEGORY_NOT_WORD: " -", codes.CATEGORY_NOT_SPACE: "a-.",
        }  # fmt: skip
        negated, chosen = False, ""
        for code, value in members:
            if code is codes.NEGATE:
                negated = True
            elif code is codes.LITERAL:
                chosen += chr(value)
            elif code is codes.RANGE:
                chosen += chr(self._lot.randint(*value))
            elif code is codes.CATEGORY:
                chosen += kinds.get(value, "a")
        if not negated:
            return self._lot.choice(chosen or "a")
        spaces = any(code is codes.CATEGORY and value is codes.CATEGORY_SPACE for code, value in members)
        left = [each for each in "a -.0'\n" if each not in chosen and not (spaces and each.isspace())]
        return self._lot.choice(left or ["~"])


def attacks(pattern: re.Pattern[Any], lot: random.Random) -> list[tuple[str, str]]:
    """Pairs of a prefix and a unit to repeat, each once, the likely ones first."""
    source, flags = pattern.pattern, pattern.flags
    tree = parser.parse(source, flags & ~re.UNICODE if isinstance(source, bytes) else flags)
    maker = Maker(lot)
    made: list[tuple[str, str]] = []
    for _ in range(4):
        pumps = list(maker.pumps(tree))
        following = [unit for _, unit in pumps[1:]] + [""]
        for (before, unit), next_unit in zip(pumps, following, strict=False):
            made += [(before, unit), ("", before + unit), ("", unit), (before, unit + next_unit), ("", unit * 2 + "\n")]
    made += [("", unit) for unit in COMMON]
    for _ in range(6):
        whole = maker.text(tree)
        made += [("", whole[:end]) for end in (len(whole), len(whole) - 1, len(whole) // 2)] + [("", whole[1:])]
        made += [(whole, unit) for unit in (" ", "a", "\n")]
    return list(dict.fromkeys((before, unit) for before, unit in made if unit and len(unit) < 300))
