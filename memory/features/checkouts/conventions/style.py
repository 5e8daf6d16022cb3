"""How code is written: .editorconfig, and what linters and formatters are set to.

What ESLint, Biome and golangci-lint are set to, in files of their own. A row for each setting.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory.checkout import Citation
from memory.fact import Category
from memory.features.checkouts.conventions.observation import Observation, at_line, cited, listed, once

_LARGEST: Final = 64 * 1024
_EXPORTED: Final = ("export default", "module.exports =")
ESLINT: Final = (".eslintrc.json", "eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts")
BIOME: Final = ("biome.json", "biome.jsonc")
GOLANGCI: Final = (".golangci.yml", ".golangci.yaml")
FILES: Final = (*ESLINT, *BIOME, *GOLANGCI)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting by its path: what each of its values is told as, and how a number is."""

    path: str
    told: Mapping[Any, str] = field(default_factory=dict)
    number: str = ""

    def words(self, value: object) -> str:
        """What a value is told as; empty where it is not."""
        if isinstance(value, int) and not isinstance(value, bool):
            return self.number.format(value) if 0 < value < 1000 else ""
        return self.told.get(value, "") if isinstance(value, str | bool) else ""


_SPACES: Final = "indentation by {} spaces"
_WIDTH: Final = "at most {} characters on a line"
_ESLINT: Final = (
    _Setting("indent", {"tab": "indentation by tabs"}, _SPACES),
    _Setting("quotes", {"single": "single quotes", "double": "double quotes", "backtick": "backticks as quotes"}),
    _Setting("semi", {True: "semicolons", "always": "semicolons", "never": "no semicolons"}),
    _Setting("max-len", number=_WIDTH),
    _Setting("eqeqeq", {True: "=== in comparisons", "always": "=== in comparisons", "smart": "=== in comparisons"}),
    _Setting("curly", {True: "braces around all blocks", "all": "braces around all blocks"}),
    _Setting("no-var", {True: "no var"}),
    _Setting("prefer-const", {True: "const for what is not assigned again"}),
    _Setting("no-console", {True: "no calls of console"}),
    _Setting("@typescript-eslint/no-explicit-any", {True: "no explicit any"}),
)
"""Rules of ESLint by their first option; True where a rule is on without any."""
_BIOME: Final = (
    _Setting("formatter.indentStyle", {"tab": "indentation by tabs", "space": "indentation by spaces"}),
    _Setting("formatter.indentWidth", number="an indentation of {}"),
    _Setting("formatter.lineWidth", number=_WIDTH),
    _Setting("javascript.formatter.quoteStyle", {"single": "single quotes", "double": "double quotes"}),
    _Setting("javascript.formatter.semicolons", {"always": "semicolons", "asNeeded": "semicolons only where needed"}),
    _Setting("javascript.formatter.trailingCommas", {"all": "trailing commas", "none": "no trailing commas"}),
    _Setting("linter.rules.recommended", {True: "the recommended rules"}),
)
_GOLANGCI: Final = (
    _Setting("linters-settings.lll.line-length", number=_WIDTH),
    _Setting("linters.settings.lll.line-length", number=_WIDTH),
    _Setting("linters-settings.gocyclo.min-complexity", number="a complexity below {}"),
    _Setting("linters.settings.gocyclo.min-complexity", number="a complexity below {}"),
)
_GO_NAMES: Final = (
    "asciicheck bodyclose contextcheck copyloopvar cyclop depguard dupl durationcheck errcheck errname errorlint "
    "exhaustive forbidigo funlen gci gochecknoglobals gochecknoinits gocognit goconst gocritic gocyclo godot gofmt "
    "gofumpt goimports gosec gosimple govet ineffassign lll misspell nakedret nestif nilerr nolintlint prealloc "
    "revive rowserrcheck sqlclosecheck staticcheck stylecheck testifylint thelper tparallel typecheck unconvert "
    "unparam unused wastedassign whitespace wrapcheck"
)
_GO_LINTERS: Final = frozenset(_GO_NAMES.split(" "))
"""Linters that golangci-lint runs: what else stands in the list is nobody's name."""
MOST_LINTERS: Final = 6


def linters(texts: Mapping[str, str]) -> Iterator[tuple[str, str, list[Said]]]:
    """How a sentence begins, its file, and what that says, a file at a time."""
    for file in FILES:
        if not (text := texts.get(file, "")) or len(text) > _LARGEST:
            continue
        if file in ESLINT:
            yield "ESLint is set to", file, list(_eslint_rules(file, text))
        elif file in BIOME:
            yield "Biome is set to", file, list(_statements_by_table(_BIOME, _linters_json(text), file, text))
        else:
            told = _as_yaml(text)
            off = frozenset(_linters_in_list(told, "disable"))
            settings = [each for each in _GOLANGCI if each.path.split(".")[-2] not in off]
            yield "golangci-lint runs", file, list(_enabled_linters(told, off, file, text))
            yield "golangci-lint is set to", file, list(_statements_by_table(settings, told, file, text))


def _statements_by_table(settings: Sequence[_Setting], told: object, file: str, text: str) -> Iterator[Said]:
    """What a file says by the rows of a table, each with its line."""
    for each in settings:
        value = _value_at(told, each.path)
        if words := each.words(value):
            key = re.escape(each.path.rpartition(".")[2])
            yield words, at_line(file, text, rf"[\"']?{key}[\"']?\s*:\s*[\"']?{re.escape(_as_spelt(value))}\b")


def _value_at(told: object, path: str) -> object:
    """What stands at a path; None where nothing does, or a section on the way is switched off, or at the top the one of
    its name: a language's formatter is off where the formatter is."""
    top = told
    for key in path.split("."):
        told = told.get(key) if isinstance(told, dict) else None
        if _is_off(told) or (isinstance(top, dict) and _is_off(top.get(key))):
            return None
    return told


def _is_off(section: object) -> bool:
    return isinstance(section, dict) and section.get("enabled") is False


def _eslint_rules(file: str, text: str) -> Iterator[Said]:
    """The rules that are switched on; what a later part of a list says holds."""
    told = _linters_json(text)
    on: dict[str, object] = {}
    for part in told if isinstance(told, list) else [told]:
        rules = part.get("rules") if isinstance(part, dict) and "files" not in part else None
        on |= {name: _first_option(rule) for name, rule in rules.items()} if isinstance(rules, dict) else {}
    for each in _ESLINT:
        if words := each.words(on.get(each.path)):
            yield words, at_line(file, text, rf"[\"']{re.escape(each.path)}[\"']\s*:")


def _first_option(rule: object) -> object:
    """A rule's first option, True where it is on without one, None where it is off."""
    severity, *options = rule if isinstance(rule, list) and rule else [rule]
    if severity not in ("error", "warn", 1, 2) or isinstance(severity, bool):
        return None
    first = options[0] if options else True
    return first.get("code") if isinstance(first, dict) and "code" in first else first


def _linters_in_list(told: object, key: str) -> Iterator[str]:
    for section in ("linters", "formatters"):
        listed = _value_at(told, f"{section}.{key}")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, str) and each in _GO_LINTERS:
                yield each


def _enabled_linters(told: object, off: frozenset[str], file: str, text: str) -> Iterator[Said]:
    """The linters and formatters that are switched on by name, and not ``off`` again."""
    names = dict.fromkeys(each for each in _linters_in_list(told, "enable") if each not in off)
    for name in list(names)[:MOST_LINTERS]:
        yield name, at_line(file, text, rf"(?m)[-\[,][^\S\n]*[\"']?{name}\b")


def _as_spelt(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _linters_json(text: str) -> Any:
    """A file as JSON, or the JSON that a script exports; None where it is none."""
    text = re.sub(r"(?m)^[^\S\n]*//.*$", "", text).strip()
    for lead in _EXPORTED:
        if lead in text:
            text = text.partition(lead)[2].strip().rstrip(";")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_yaml(text: str) -> Any:
    # Imported here: a start gets on without it.
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


_ENDS: Final = {"lf": "lines end with LF", "crlf": "lines end with CRLF", "cr": "lines end with CR"}
_GLOB: Final = re.compile(r"\*|[\w*.{},/-]{1,40}")
_PRETTIER: Final = (".prettierrc", ".prettierrc.json")
MOST: Final = 4
"""Sections of .editorconfig that are told."""

Said = tuple[str, Citation]


def style(texts: Mapping[str, str]) -> Iterator[Observation]:
    """A file at a time."""
    yield from _editorconfig(texts.get(".editorconfig", ""))
    yield from _pyproject_settings(texts)
    for file in _PRETTIER:
        yield from _observation_of("Prettier is set to", file, _prettier(file, texts.get(file, "")))
    yield from _observation_of("TypeScript is set to", "tsconfig.json", _typescript(texts.get("tsconfig.json", "")))
    for lead, file, said in linters(texts):
        yield from _observation_of(lead, file, said)
    yield from _observation_of(
        "rustfmt is set to", "rustfmt.toml", _widths(texts.get("rustfmt.toml", ""), "rustfmt.toml")
    )


def _observation_of(lead: str, file: str, said: Iterable[Said]) -> Iterator[Observation]:
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
        for words, key in _layout_of_section(parser[name]):
            told.append(words)
            cites.append(_line_of_key(file, text, ahead, key))
        if told:
            yield Observation(f"Layout of {where}: {listed(told)} ({file}).", Category.TECHNICAL, once(cites))


def _layout_of_section(section: Mapping[str, str]) -> Iterator[tuple[str, str]]:
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


def _line_of_key(file: str, text: str, ahead: int, key: str) -> Citation:
    """A key's line, in the section that begins behind so many lines."""
    lines = text.split("\n")
    at = next((n for n in range(ahead, len(lines)) if re.match(rf"[ \t]*{key}\b", lines[n])), None)
    return cited(file, text, 0 if at is None else at + 1)


def _pyproject_settings(texts: Mapping[str, str]) -> Iterator[Observation]:
    file, text = "pyproject.toml", texts.get("pyproject.toml", "")
    tool = _section(_toml(text), "tool")
    for name, keys in (("ruff", ("line-length",)), ("black", ("line-length",)), ("isort", ("line_length",))):
        yield from _observation_of(f"{name} is set to", file, _numbers(_section(tool, name), keys, file, text))
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
