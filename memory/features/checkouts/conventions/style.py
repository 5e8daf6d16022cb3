"""How code is written: .editorconfig, and what linters and formatters are set to."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from memory.checkout import Citation
from memory.fact import Category
from memory.features.checkouts.conventions.linters import linters
from memory.features.checkouts.conventions.observation import Observation, at_line, cited, listed, once

_ENDS: Final = {"lf": "lines end with LF", "crlf": "lines end with CRLF", "cr": "lines end with CR"}
_GLOB: Final = re.compile(r"\*|[\w*.{},/-]{1,40}")
_PRETTIER: Final = (".prettierrc", ".prettierrc.json")
MOST: Final = 4
"""Sections of .editorconfig that are told."""

Said = tuple[str, Citation]


def style(texts: Mapping[str, str]) -> Iterator[Observation]:
    """A file at a time."""
    yield from _editorconfig(texts.get(".editorconfig", ""))
    yield from _python(texts)
    for file in _PRETTIER:
        yield from _of("Prettier is set to", file, _prettier(file, texts.get(file, "")))
    yield from _of("TypeScript is set to", "tsconfig.json", _typescript(texts.get("tsconfig.json", "")))
    for lead, file, said in linters(texts):
        yield from _of(lead, file, said)
    yield from _of("rustfmt is set to", "rustfmt.toml", _widths(texts.get("rustfmt.toml", ""), "rustfmt.toml"))


def _of(lead: str, file: str, said: Iterable[Said]) -> Iterator[Observation]:
    """A sentence of what a file says, where that is anything."""
    if found := list(said):
        words = listed([each for each, _ in found])
        yield Observation(f"{lead} {words} ({file}).", Category.TECHNICAL, once(place for _, place in found))


def _editorconfig(text: str) -> Iterator[Observation]:
    file = ".editorconfig"
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#", ";"))
    try:
        parser.read_string(f"[ ]\n{text}")
    except configparser.Error:
        return
    for name in [each for each in parser.sections() if _GLOB.fullmatch(each)][:MOST]:
        where = "all files" if name == "*" else name
        body = text[text.find(f"[{name}]") :]
        ahead = text.count("\n", 0, len(text) - len(body))
        told: list[str] = []
        cites: list[Citation] = []
        for words, key in _laid_out(parser[name]):
            told.append(words)
            cites.append(_line(file, text, ahead, key))
        if told:
            yield Observation(f"Layout of {where}: {listed(told)} ({file}).", Category.TECHNICAL, once(cites))


def _laid_out(section: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What one section says, and the key that says it."""
    size = section.get("indent_size", "")
    if section.get("indent_style") == "tab":
        yield "indentation by tabs", "indent_style"
    elif size.isdigit() and len(size) < 3:
        yield f"indentation by {size} spaces", "indent_size"
    if words := _ENDS.get(section.get("end_of_line", "").lower()):
        yield words, "end_of_line"
    width = section.get("max_line_length", "")
    if width.isdigit() and len(width) < 5:
        yield f"at most {width} characters on a line", "max_line_length"
    if section.get("insert_final_newline", "").lower() == "true":
        yield "a line break at the end", "insert_final_newline"


def _line(file: str, text: str, ahead: int, key: str) -> Citation:
    """A key's line, in the section that begins behind so many lines."""
    lines = text.split("\n")
    at = next((n for n in range(ahead, len(lines)) if re.match(rf"[ \t]*{key}\b", lines[n])), None)
    return cited(file, text, 0 if at is None else at + 1)


def _python(texts: Mapping[str, str]) -> Iterator[Observation]:
    """What pyproject.toml sets of the tools that read it."""
    file, text = "pyproject.toml", texts.get("pyproject.toml", "")
    tool = _section(_toml(text), "tool")
    for name, keys in (("ruff", ("line-length",)), ("black", ("line-length",)), ("isort", ("line_length",))):
        yield from _of(f"{name} is set to", file, _numbers(_section(tool, name), keys, file, text))
    if _section(tool, "mypy").get("strict") is True:
        yield Observation(
            f"mypy is set to strict ({file}).", Category.TECHNICAL, (at_line(file, text, r"(?m)^\s*strict\s*="),)
        )


def _numbers(section: Mapping[str, Any], keys: tuple[str, ...], file: str, text: str) -> Iterator[Said]:
    for key in keys:
        if isinstance(number := section.get(key), int) and 0 < number < 10_000:
            spelt = key.replace("_", " ").replace("-", " ")
            yield f"a {spelt} of {number}", at_line(file, text, rf"(?m)^\s*{key}\s*=\s*{number}\b")


def _widths(text: str, file: str) -> Iterator[Said]:
    yield from _numbers(_toml(text), ("max_width", "tab_spaces"), file, text)


def _prettier(file: str, text: str) -> Iterator[Said]:
    told = _json(text)
    for key, words in (
        ("singleQuote", {True: "single quotes", False: "double quotes"}),
        ("semi", {True: "semicolons", False: "no semicolons"}),
        ("useTabs", {True: "tabs"}),
    ):
        if isinstance(set_to := told.get(key), bool) and set_to in words:
            yield words[set_to], at_line(file, text, rf"\"{key}\"")
    for key, form in (("printWidth", "a width of {}"), ("tabWidth", "{} spaces for indentation")):
        if isinstance(number := told.get(key), int) and 0 < number < 1000:
            yield form.format(number), at_line(file, text, rf"\"{key}\"")


def _typescript(text: str) -> Iterator[Said]:
    options = _section(_json(re.sub(r"(?m)^[^\S\n]*//.*$", "", text)), "compilerOptions")
    if options.get("strict") is True:
        yield "strict", at_line("tsconfig.json", text, r"\"strict\"")


def _section(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = told.get(name)
    return found if isinstance(found, dict) else {}


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _json(text: str) -> Mapping[str, Any]:
    try:
        told = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
