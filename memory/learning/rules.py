"""What a rule is: forms that one clause may take, with the words without which none can match, and what it means.

Rules are data. A room of rules (preferences, instructions, decisions…) is a tuple of them, the surest first; the
first that matches speaks. Every repeat in a form has a limit, so that no text makes one run away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memory.fact import Category, FactKind, Stream
from memory.learning.speech import SpokenSentence
from memory.scope import Layer


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


@dataclass(frozen=True, slots=True)
class Rule:
    """``cues`` are words of which one must stand in the clause; ``unless`` takes the match back; ``when`` is asked
    last."""

    name: str
    cues: frozenset[str]
    pattern: re.Pattern[str]
    means: RuleFinding
    unless: re.Pattern[str] | None = None
    when: Callable[[SpokenSentence], bool] | None = None

    def matches(self, clause: SpokenSentence) -> bool:
        """Whether the rule speaks of this clause."""
        if self.cues and self.cues.isdisjoint(clause.words):
            return False
        if not self.pattern.search(clause.plain):
            return False
        if self.unless is not None and self.unless.search(clause.plain):
            return False
        return self.when is None or self.when(clause)


def rule(
    name: str,
    means: RuleFinding,
    cues: str,
    *forms: str,
    unless: tuple[str, ...] = (),
    when: Callable[[SpokenSentence], bool] | None = None,
) -> Rule:
    """A rule from its parts: ``cues`` separated by spaces, and the forms, of which one must be found."""
    return Rule(
        name,
        frozenset(cues.split()),
        re.compile("|".join(forms)),
        means,
        re.compile("|".join(unless)) if unless else None,
        when,
    )


def any_of(words: str) -> str:
    """An alternation of words (or small patterns) that are separated by spaces; ``_`` stands for a space in one."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def first(rules: Iterable[Rule], clause: SpokenSentence) -> RuleFinding | None:
    """What the first matching rule means."""
    words = clause.words
    for each in rules:
        # Few have a word in common with a clause: that is seen before they are asked.
        if (not each.cues or each.cues & words) and each.matches(clause):
            return each.means
    return None


def technical(clause: SpokenSentence) -> bool:
    """Whether the clause is about the work."""
    return clause.technical


def private(clause: SpokenSentence) -> bool:
    """Whether it is not."""
    return not clause.technical
