"""Which tools and versions a checkout's manifests name, and what of a text they speak against. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from memory.checkout import Citation, CitationKind

MANIFESTS: Final = (
    "package.json", "pyproject.toml", "requirements.txt", "requirements-dev.txt",
    "setup.cfg", "tox.ini", "go.mod", "Cargo.toml",
    "Gemfile", "composer.json", ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".tool-versions",
)  # fmt: skip
"""Files that say what a project is built with, at the root of it."""

LOCKS: Final = {
    "package-lock.json": "npm", "yarn.lock": "yarn", "pnpm-lock.yaml": "pnpm", "bun.lockb": "bun", "bun.lock": "bun",
    "poetry.lock": "poetry", "uv.lock": "uv", "Pipfile.lock": "pipenv", "pdm.lock": "pdm",
}  # fmt: skip
"""Files that are there because of a tool."""

RIVALS: Final[tuple[frozenset[str], ...]] = tuple(
    frozenset(names.split())
    for names in (
        "jest vitest mocha ava jasmine",
        "npm yarn pnpm bun",
        "webpack vite parcel rollup",
        "cypress playwright puppeteer",
        "eslint biome tslint",
        "poetry uv pipenv pdm",
        "pylint flake8 ruff",
        "express fastify koa hapi",
        "flask django fastapi",
        "prisma typeorm sequelize drizzle-orm",
        "mypy pyright",
    )
)
"""Tools of which a project has one."""

_ALSO: Final = {
    "@playwright/test": "playwright", "@biomejs/biome": "biome", "@jest/core": "jest",
    "py": "python", "nodejs": "node", "node.js": "node",
    "golang": "go", "postgresql": "postgres",
}  # fmt: skip
_REQUIRED: Final = re.compile(
    r"^\s*(?P<name>[A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*(?P<told>[=<>~!^][^;#\s]*(?:\s*,\s*[^;#\s]+)*)?"
)
_NUMBER: Final = re.compile(r"\d+(?:\.\d+){0,3}")
_WORD: Final = re.compile(r"[@A-Za-z][\w./-]*\w|\b[A-Za-z]\b")
_GO_REQUIRED: Final = re.compile(r"(?m)^[^\S\n]*+(?:require )?(?=\S[^\s/]*+/\S)(\S++) v(\S+)")
_CHANGE: Final = re.compile(
    r"(?i)\b(?:not|no longer|never|n't|instead of|rather than|from|replac\w+|mov\w+|migrat\w+|switch\w*|drop\w*|"
    r"remov\w+|without|before|was|were|used to|if|could|might|should|consider\w*|plan\w*|want\w*)\b"
)


@dataclass(frozen=True, slots=True)
class Declared:
    """``versions``: what is told of each tool, empty where only that it is there; ``files``: by which file."""

    versions: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def declared(manifests: Mapping[str, str], there: Iterable[str] = ()) -> Declared:
    """What manifests say, by their names and texts; ``there`` are the names of the files beside them."""
    versions: dict[str, str] = {}
    files: dict[str, str] = {}
    for name in MANIFESTS:
        if name in manifests:
            for tool, version in _versions_in(name, manifests[name]).items():
                tool = known_as(tool)
                if tool not in versions:
                    versions[tool], files[tool] = version, name
    for name in there:
        by = LOCKS.get(name)
        if by is not None and by not in versions:
            versions[by], files[by] = "", name
    return Declared(versions, files)


def known_as(name: str) -> str:
    """A tool by its one name."""
    name = name.lower()
    return _ALSO.get(name, name)


def against(text: str, built: Declared) -> str:
    """What the manifests have in place of a tool that a text says is in use; empty where they do not speak against it.

    Only a plain statement counts: one that tells of a change, of a wish or of what is not so may well be right.
    """
    for named, group in _tools_in_use(text) if built.versions else ():
        there = [tool for tool in sorted(group) if tool in built.versions]
        if there and named not in there:
            return f"{built.files[there[0]]} has {there[0]}"
    return ""


@lru_cache(maxsize=4096)
def _tools_in_use(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The tools that a text plainly says are in use, each with its rivals."""
    named = {known_as(each) for each in _WORD.findall(text)}
    tools_named = [(named & group, group) for group in RIVALS]
    found = tuple((next(iter(tools)), group) for tools, group in tools_named if len(tools) == 1)
    return () if found and _CHANGE.search(text) else found


def declared_version(cited: Citation, built: Declared) -> str | None:
    """What a manifest says of a tool whose version is cited; None where none does, or it says the same."""
    if cited.sort is not CitationKind.VERSION:
        return None
    name, _, number = cited.name.rpartition(" ")
    tool = known_as(name)
    version = built.versions.get(tool, "")
    has = _NUMBER.search(version)
    if has is None:
        return None
    one, other = number.split("."), has[0].split(".")
    shared = min(len(one), len(other), 2 if version[:1] in ("^", "~", ">", "<") and tool not in _MINOR_MATTERS else 3)
    if version[:1] in (">", "<", "^", "~") and tool not in _MINOR_MATTERS:
        shared = min(shared, 1)
    if one[:shared] == other[:shared] or (version.startswith(">") and _at_least(one, other)):
        return None
    return f"{built.files[tool]} has {has[0]}"


def is_declared(cited: Citation, built: Declared) -> bool:
    """Whether a manifest tells of the tool whose version is cited."""
    return cited.sort is CitationKind.VERSION and known_as(cited.name.rpartition(" ")[0]) in built.versions


_MINOR_MATTERS: Final = frozenset(("python", "go", "ruby", "php"))


def _at_least(one: list[str], other: list[str]) -> bool:
    return tuple(map(int, one)) >= tuple(map(int, other[: len(one)]))


def _versions_in(name: str, text: str) -> dict[str, str]:
    """What one manifest says."""
    try:
        match name:
            case "package.json":
                return _package(json.loads(text))
            case "composer.json":
                return _flat(json.loads(text), ("require", "require-dev"))
            case "pyproject.toml":
                return _pyproject(tomllib.loads(text))
            case "Cargo.toml":
                return _flat(tomllib.loads(text), ("dependencies", "dev-dependencies"))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}
    if name in (".nvmrc", ".node-version", ".python-version", ".ruby-version"):
        tool = {".nvmrc": "node", ".node-version": "node", ".python-version": "python", ".ruby-version": "ruby"}[name]
        return {tool: text.strip().lstrip("v")[:20]}
    if name == ".tool-versions":
        pairs = (line.split()[:2] for line in text.splitlines()[:100])
        return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
    if name == "go.mod":
        return _go_mod(text)
    if name == "Gemfile":
        return {
            each[1]: each[2] or ""
            for each in re.finditer(r"(?m)^[^\S\n]*gem ['\"]([\w-]+)['\"](?:, ['\"]([^'\"]+)['\"])?", text)
        }
    if name.startswith("requirements"):
        return _requirements(text.splitlines()[:2000])
    return {tool: "" for tool in ("pytest", "flake8", "mypy") if f"[{tool}]" in text or f"[tool:{tool}]" in text}


def _package(manifest: dict[str, Any]) -> dict[str, str]:
    found = _flat(manifest, ("dependencies", "devDependencies", "peerDependencies"))
    manager = str(manifest.get("packageManager", "")).partition("+")[0]
    if "@" in manager:
        name, _, version = manager.partition("@")
        found[name] = version
    for name, version in (manifest.get("engines") or {}).items():
        found.setdefault(str(name), str(version))
    return found


def _pyproject(manifest: dict[str, Any]) -> dict[str, str]:
    project = manifest.get("project", {})
    found = {"python": str(project["requires-python"])} if "requires-python" in project else {}
    required = [*project.get("dependencies", [])]
    for group in (*project.get("optional-dependencies", {}).values(), *manifest.get("dependency-groups", {}).values()):
        required += group
    found |= _requirements([each for each in required if isinstance(each, str)])
    poetry = manifest.get("tool", {}).get("poetry", {})
    found |= _flat(poetry, ("dependencies", "dev-dependencies"))
    for group in poetry.get("group", {}).values():
        found |= _flat(group, ("dependencies",))
    tools = ("pytest", "ruff", "mypy", "black", "pyright", "poetry", "uv", "pdm")
    return found | {tool: found.get(tool, "") for tool in tools if tool in manifest.get("tool", {})}


def _requirements(lines: Iterable[str]) -> dict[str, str]:
    found = (_REQUIRED.match(line) for line in lines)
    return {each["name"]: each["told"] or "" for each in found if each}


def _go_mod(text: str) -> dict[str, str]:
    found = {each[1].rpartition("/")[2]: each[2] for each in _GO_REQUIRED.finditer(text)}
    match = re.search(r"(?m)^go (\S+)", text)
    return found | ({"go": match[1]} if match else {})


def _flat(manifest: Mapping[str, Any], sections: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for section in sections:
        for name, version in (manifest.get(section) or {}).items():
            constraint = version.get("version", "") if isinstance(version, dict) else version
            found.setdefault(str(name), str(constraint)[:60])
    return found
