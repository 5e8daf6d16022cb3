"""What an outline needs to know of each programming language. Another one is a table in ``languages.toml``.

Which language a text is in is told by its path, else by its first line, else by a cheap guess at its lines. A
tree-sitter grammar is loaded when it is first needed; the bodies of routines, which take most of a parser's time, are
taken out before. Languages without a grammar, and those whose wheel is not installed, are outlined line by line.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from tree_sitter import Language

LANGUAGES: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("languages.toml").read_text("utf-8")
)


def _by_word(kind: str) -> dict[str, str]:
    """The languages by the words of one kind that they are known by."""
    return {word: name for name, told in LANGUAGES.items() for word in told.get(kind, "").split()}


_BY_EXTENSION = _by_word("extensions")
_BY_NAME = _by_word("names")
_INTERPRETERS = _by_word("interpreters")
_SAYINGS = [(name, re.compile(told["says"])) for name, told in LANGUAGES.items() if "says" in told]
_LOOKED_AT = 200
_ENOUGH = 3

# A command that shows a file, and the files that it may show.
_SHOWING = re.compile(
    r"(?:^|[;&|(\n])[^\S\n]*+(?:sudo )?(?:cat|sed -n|head|tail|nl|bat|batcat|less|more|awk|git show)\b"
)
_FILE = re.compile(r"(?<![\w@%+=~./\\:-])[\w@%+=~./\\:-]*\.[A-Za-z0-9+]{1,11}\b")


def by_path(path: str) -> str | None:
    """The language that a file's name tells, None where it tells none, or one that is not code."""
    name = re.split(r"[/\\]", path.strip().rstrip("/\\"))[-1].lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.startswith("dockerfile"):
        return "docker"
    return _BY_EXTENSION.get(name.rpartition(".")[2]) if "." in name else None


def is_named(path: str) -> bool:
    """Whether the path names a kind of file at all, be it code or not."""
    return "." in re.split(r"[/\\]", path.strip())[-1].lstrip(".")


def shown_by(command: str) -> str:
    """The first file that a shell command prints, empty where it prints none."""
    showing = _SHOWING.search(command[:2000])
    if showing is None:
        return ""
    shown = _FILE.search(command[showing.end() : 2000])
    return shown[0] if shown else ""


def by_lines(lines: Sequence[str]) -> str | None:
    """The language that a text's own lines tell: a shebang, else at least three sayings of one language."""
    first = next((line for line in lines if line.strip()), "")[:200]
    if first.startswith("#!"):
        for word in re.findall(r"[a-z]+", first):
            if word in _INTERPRETERS:
                return _INTERPRETERS[word]
    counts: Counter[str] = Counter()
    looked = 0
    for line in lines:
        bare = line.strip()
        if not bare or len(bare) > 300:
            continue
        looked += 1
        for name, pattern in _SAYINGS:
            if pattern.match(bare):
                counts[name] += 1
                break
        if looked == _LOOKED_AT:
            break
    if not counts:
        return None
    name, count = counts.most_common(1)[0]
    return name if count >= _ENOUGH and count * 20 >= looked else None


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


_GENERIC = re.compile(
    r"(?:(?:export|public|private|protected|internal|static|abstract|final|async|pub|local|sealed|override|virtual)\s+)*"
    r"(?:def|defp|defn|defmodule|defun|func|fun|fn|function|sub|proc|class|interface|struct|enum|trait|impl|module|"
    r"namespace|package|type|typedef|record|object|protocol|extension|macro|const|val|task|describe|contract|library|"
    r"rule|service|message|rpc|query|mutation|input|model|scalar|union|resource|data|variable|output|provider)\b\s*\S"
    r"|\w[\w ]* = function\b|#\s*define\s|\w[\w.]*\s*:=\s*(?:proc|func)"
)
_PATTERNS = {name: re.compile(told["defines"]) for name, told in LANGUAGES.items() if "defines" in told}
_NESTED = frozenset(name for name, told in LANGUAGES.items() if told.get("nested"))


def defining(name: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The rows that define something in this language, each with its depth: 0 at the left edge, at most 3."""
    pattern = _PATTERNS.get(name, _GENERIC)
    deepest = 2 if name in _NESTED else 3
    for row, line in enumerate(lines):
        bare = line.lstrip()
        if not bare or not pattern.match(bare[:200]):
            continue
        indent = line[: len(line) - len(bare)].expandtabs(4)
        depth = (len(indent) + 1) // 2 if name == "yaml" else (len(indent) + 3) // 4
        if depth <= deepest:
            yield row, depth


_MAX_HEAD_CHARS: Final = 2_000

_DEF = re.compile(r"^(([ \t]*)(?:async[ \t]+)?def[ \t]+\w+)[^\n]*", re.MULTILINE)
_FIRST = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]*)")
_QUOTES = ('"""', "'''")
_OPENS = re.compile(r"^([ \t]*+)([^\n]*)\{[ \t]*\n", re.MULTILINE)
_CONTROL = re.compile(r"(?:\}\s*)?(?:if|for|foreach|while|switch|do|else|try|catch|with|match|loop|when)\b")
# Their members belong to the outline.
_TYPE = re.compile(
    r"\b(?:class|interface|struct|enum|union|trait|impl|mod|module|namespace|package|object|record|extension|protocol|"
    r"extern|companion|annotation)\b"
)
_AT_THE_EDGE = re.compile(r"#\s*\w|[A-Za-z_]\w*:[ \t]*(?://[^\n]*)?$", re.MULTILINE)
"""What stands at the left edge inside a body: a directive of the C preprocessor, a label."""
_BRACES = frozenset(
    "javascript typescript tsx go rust java c cpp csharp php kotlin swift scala".split()  # noqa: SIM905
)

Body = tuple[int, int, str, int]
"""Where a body begins and ends, what stands in its place, and how many ends of line that has."""


def without_bodies(language: str, text: str) -> str:
    """The text with as many rows, but with nothing in those of routines' bodies; as it is where the language has no
    rule for it."""
    if language == "python":
        return _emptied(text, _DEF, _python)
    return _emptied(text, _OPENS, _braces) if language in _BRACES else text


def _emptied(text: str, heads: re.Pattern[str], body: Callable[[str, re.Match[str]], Body | None]) -> str:
    pieces, at = list[str](), 0
    head = heads.search(text)
    while head is not None:
        found = body(text, head)
        end = head.end()
        if found is not None:
            first, end, instead, rows = found
            pieces += [text[at:first], instead, "\n" * (text.count("\n", first, end) - rows)]
            at = end
        head = heads.search(text, end)
    return "".join([*pieces, text[at:]])


def _python(text: str, head: re.Match[str]) -> Body | None:
    behind = _behind_head(text, head)
    first = _FIRST.match(text, behind) if behind else None
    if first is None or len(first[1]) <= len(head[2]):
        return None
    begin, end, quotes = head.end(1), first.end(), 0
    for edge in _edges(len(head[2])).finditer(text, end):
        # A long string may have rows of any indentation.
        quotes += sum(text.count(each, end, edge.start()) for each in _QUOTES)
        end = edge.start()
        if quotes % 2 == 0:
            # What a routine takes and gives is not looked into either.
            rows = text.count("\n", begin, first.end())
            return begin, end, "():" + "\n" * rows + first[1] + "...", rows
    return None


def _behind_head(text: str, head: re.Match[str]) -> int | None:
    """Where the row behind a head begins; nothing where the head has no end, or its body in its own row."""
    end = head.end()
    while end - head.start() < _MAX_HEAD_CHARS:
        text_behind = text[head.start() : end]
        if text_behind.count("(") <= text_behind.count(")") and text_behind.count("[") <= text_behind.count("]"):
            last = text_behind[text_behind.rfind("\n") + 1 :]
            return end + 1 if last.partition(" #")[0].rstrip().endswith(":") else None
        end = text.find("\n", end + 1)
        if end < 0:
            return None
    return None


def _braces(text: str, opens: re.Match[str]) -> Body | None:
    indent, head = opens[1], opens[2]
    if not head:
        # The brace stands in a row of its own, under its head.
        above = text[max(opens.start() - _MAX_HEAD_CHARS, 0) : opens.start()].rstrip()
        head = above[above.rfind("\n") + 1 :].lstrip()
    if ")" not in head or _CONTROL.match(head) or _TYPE.search(head):
        return None
    for edge in _edges(len(indent)).finditer(text, opens.end() - 1):
        if text[edge.end()] == "}" and edge[1] == indent:
            return opens.end(), edge.start() + 1, "", 0
        if not _AT_THE_EDGE.match(text, edge.end()):
            return None
    return None


@cache
def _edges(deep: int) -> re.Pattern[str]:
    """Finds rows that stand no deeper than so many characters: their ends of line, and what they are indented by."""
    return re.compile(rf"\n([ \t]{{0,{deep}}})(?=[^ \t\n])")
