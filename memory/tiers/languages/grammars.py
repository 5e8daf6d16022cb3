"""Tree-sitter grammars: which node of a language's tree is what in an outline, and the loading of them.

The nodes lie in ``languages.toml``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from tree_sitter import Language

from memory.tiers.languages.table import LANGUAGES


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language's tree, as far as an outline looks into it."""

    module: str
    """The package of the wheel."""
    types: frozenset[str]
    """Definitions with members of their own: classes, interfaces, structs, modules."""
    routines: frozenset[str]
    """Definitions whose body is not looked into: functions, methods."""
    values: frozenset[str]
    """Constants, variables, aliases: what a module gives besides its definitions."""
    imports: frozenset[str]
    through: frozenset[str]
    """Nodes that only hold others: bodies of types, export statements, decorated definitions."""
    function: str
    """What the package calls its grammar."""


_HELD: Final = ("types", "routines", "values", "imports", "through")


def _grammars() -> Iterator[tuple[str, Grammar]]:
    for name, own in LANGUAGES.items():
        if "module" not in own:
            continue
        nodes = {held: frozenset(LANGUAGES[own.get("like", name)].get(held, "").split()) for held in _HELD}
        # Where a parser recovers from an error, whole definitions stand inside the error.
        nodes["through"] |= {"ERROR"}
        yield name, Grammar(own["module"], **nodes, function=own.get("function", "language"))


GRAMMARS: Final = dict(_grammars())


@cache
def load(name: str) -> tuple[Grammar, Language] | None:
    """The grammar of a language with its table, kept once loaded; None where there is no wheel for it."""
    grammar = GRAMMARS.get(name)
    if grammar is None:
        return None
    try:
        package = importlib.import_module(grammar.module)
        return grammar, Language(getattr(package, grammar.function)())
    except (ImportError, AttributeError, ValueError):
        # A wheel that is missing, or too old or too new for this tree-sitter: the patterns do in its place.
        return None
