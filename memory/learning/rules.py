"""What a rule is: forms that one clause may take, with the words without which none can match, and what it means.

Rules are data: tables in ``tables``, one for each kind of statement, in each of which the surest rules come first; the
first that matches speaks. A table is read, and a pattern compiled, when a clause first needs it. Every repeat in a form
has a limit, so that no text makes one run away. What stands in a table is told in ``docs/architecture.md`` ("A rule").
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from memory.fact import Category, FactKind, Stream
from memory.language.calendar import MONTH, MONTH_NAME
from memory.language.rule_table import expand
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

TABLES: Final = Path(__file__).with_name("tables")
NAMES: Final = ("decisions", "statements", "instructions", "preferences", "personal", "corrections", "assistant")
"""The tables there are."""

_SHARED: Final = {"month": MONTH, "month_name": MONTH_NAME}
"""Fragments that every table has."""
_PREDICATES: Final[Mapping[str, Callable[[SpokenSentence], bool]]] = {
    "technical": lambda clause: clause.technical,
    "private": lambda clause: not clause.technical,
    "at work": lambda clause: clause.work,
    "numbered": lambda clause: bool(clause.marker),
}
_KEYS: Final = frozenset(
    ("name", "means", "cues", "forms", "unless", "when", "min_words", "max_chars", "matches", "misses")
)


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """What a rule saw in a clause. ``standing``: meant to hold from now on, not for the task at hand only."""

    kind: FactKind
    category: Category
    stream: Stream
    layer: Layer
    confidence: float
    standing: bool = False
    wrong: str = ""


@dataclass(frozen=True)
class Condition:
    """Holds where any of its parts does: a predicate, one of some words, a form, or a form as it is ``spelled``."""

    predicates: tuple[Callable[[SpokenSentence], bool], ...] = ()
    words: frozenset[str] = frozenset()
    forms: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()

    def holds(self, clause: SpokenSentence) -> bool:
        """Whether it holds for a clause."""
        return (
            any(predicate(clause) for predicate in self.predicates)
            or not self.words.isdisjoint(clause.words)
            or (self._spelled is not None and self._spelled.search(clause.text) is not None)
            or (self._form is not None and self._form.search(clause.plain) is not None)
        )

    def compile(self) -> None:
        """Compile its patterns now."""
        _ = self._form, self._spelled

    @cached_property
    def _form(self) -> re.Pattern[str] | None:
        return _any_pattern(self.forms)

    @cached_property
    def _spelled(self) -> re.Pattern[str] | None:
        return _any_pattern(self.spelled)


@dataclass(frozen=True)
class Rule:
    """``cues`` are words of which one must stand in the clause, and one of the ``forms`` must be found; ``unless``
    takes that back, and all of ``when`` must hold. ``matches`` and ``misses`` are examples."""

    name: str
    means: RuleFinding
    cues: frozenset[str]
    forms: tuple[str, ...]
    unless: tuple[str, ...] = ()
    when: tuple[Condition, ...] = ()
    min_words: int = 0
    max_chars: int | None = None
    matches: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

    def applies(self, clause: SpokenSentence) -> bool:
        """Whether the rule speaks of this clause."""
        if self.cues and self.cues.isdisjoint(clause.words):
            return False
        if self._form is None or not self._form.search(clause.plain):
            return False
        if self._exception is not None and self._exception.search(clause.plain):
            return False
        if len(clause.words) < self.min_words or (self.max_chars is not None and len(clause.text) > self.max_chars):
            return False
        return all(condition.holds(clause) for condition in self.when)

    def compile(self) -> None:
        """Compile its patterns now."""
        _ = self._form, self._exception
        for condition in self.when:
            condition.compile()

    @cached_property
    def _form(self) -> re.Pattern[str] | None:
        return _any_pattern(self.forms)

    @cached_property
    def _exception(self) -> re.Pattern[str] | None:
        return _any_pattern(self.unless)


def first(rules: Iterable[Rule], clause: SpokenSentence) -> RuleFinding | None:
    """What the first matching rule means."""
    words = clause.words
    for each in rules:
        # Few have a word in common with a clause: that is seen before they are asked.
        if (not each.cues or each.cues & words) and each.applies(clause):
            return each.means
    return None


@cache
def rule_table(name: str) -> Mapping[str, tuple[Rule, ...]]:
    """The groups of rules of a table, in its order.

    Raises:
        ValueError: a row has no example of one of the two kinds, or names a meaning, fragment or condition that the
            table does not have.
    """
    path = TABLES / f"{name}.toml"
    return read_table(path.name, tomllib.loads(path.read_text(encoding="utf-8")))


def prepare(name: str) -> None:
    """Read a table and compile its patterns, which takes some 20 ms: else the first clauses wait for it."""
    for rule in (rule for group in rule_table(name).values() for rule in group):
        rule.compile()


def read_table(name: str, table: Mapping[str, Any]) -> Mapping[str, tuple[Rule, ...]]:
    """As :func:`rule_table`, of a table that is loaded."""
    reader = _TableReader(name, table)
    groups = {group: rows for group, rows in table.items() if isinstance(rows, list)}
    return {group: tuple(map(reader.rule, rows)) for group, rows in groups.items()}


class _TableReader:
    """Reads the rows of a table with what the table gives names to."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self._name = name
        self._fragments = dict(_SHARED)
        for word_list, words in table.get("words", {}).items():
            self._fragments[word_list] = any_of(words)
        for fragment, pattern in table.get("fragments", {}).items():
            self._fragments[fragment] = self._pattern(pattern)
        self._meanings = {meaning: _finding(parts) for meaning, parts in table.get("meanings", {}).items()}
        self._conditions = {
            **{predicate: Condition(predicates=(test,)) for predicate, test in _PREDICATES.items()},
            **{condition: self._condition(parts) for condition, parts in table.get("conditions", {}).items()},
        }

    def rule(self, row: Mapping[str, Any]) -> Rule:
        if unknown_keys := row.keys() - _KEYS:
            raise ValueError(f"{self._name}: {row.get('name')!r} knows no {sorted(unknown_keys)}")
        if not row.get("matches") or not row.get("misses"):
            raise ValueError(f"{self._name}: {row.get('name')!r} needs a text that it matches and one that it misses")
        try:
            return Rule(
                row["name"],
                self._meanings[row["means"]],
                frozenset(row.get("cues", "").split()),
                self._patterns(row["forms"]),
                self._patterns(row.get("unless", ())),
                tuple(self._conditions[condition] for condition in row.get("when", ())),
                row.get("min_words", 0),
                row.get("max_chars"),
                tuple(row["matches"]),
                tuple(row["misses"]),
            )
        except KeyError as unknown:
            raise ValueError(f"{self._name}: {row.get('name')!r} has or names no {unknown}") from None

    def _condition(self, parts: Mapping[str, Any]) -> Condition:
        return Condition(
            tuple(_PREDICATES[predicate] for predicate in parts.get("any", ())),
            frozenset(parts.get("words", "").split()),
            self._patterns(parts.get("forms", ())),
            self._patterns(parts.get("spelled", ())),
        )

    def _patterns(self, patterns: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self._pattern, patterns))

    def _pattern(self, pattern: str) -> str:
        return expand(pattern, self._fragments)


def any_of(words: str) -> str:
    """An alternation of words (or small patterns) that are separated by spaces; ``_`` stands for a space in one."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def _finding(parts: Mapping[str, Any]) -> RuleFinding:
    return RuleFinding(
        FactKind(parts["kind"]),
        Category(parts["category"]),
        Stream(parts["stream"]),
        Layer(parts["layer"]),
        parts["confidence"],
        parts.get("standing", False),
    )


def _any_pattern(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(patterns)) if patterns else None
