"""All that a project's own files say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from memory.checkout import Citation, CitationKind
from memory.fact import Category
from memory.features.checkouts.conventions.commands import ci, commands, is_ci
from memory.features.checkouts.conventions.observation import Observation, at_line, listed, once, value
from memory.features.checkouts.conventions.style import FILES as LINTER_FILES
from memory.features.checkouts.conventions.style import style
from memory.features.checkouts.declared import MANIFESTS, declared

_LANGUAGES: Final = "Language version: {}."
_ROLES: Final = {
    "Test runner: {}.": "jest vitest mocha ava jasmine pytest rspec minitest phpunit",
    "End-to-end test runner: {}.": "cypress playwright puppeteer selenium",
    "Package manager: {}.": "npm yarn pnpm bun poetry uv pipenv pdm",
    "Linter: {}.": "eslint biome tslint ruff pylint flake8 rubocop stylelint",
    "Code formatter: {}.": "prettier black",
    "Type checker: {}.": "mypy pyright typescript",
    "Bundler: {}.": "webpack vite parcel rollup esbuild",
    "Web framework: {}.": "express fastify koa hapi flask django fastapi next nuxt rails laravel axum gin",
    "Interface library: {}.": "react vue angular svelte solid-js preact",
    "Database library: {}.": "prisma typeorm sequelize drizzle-orm sqlalchemy diesel gorm",
    _LANGUAGES: "python node ruby go php rust",
}  # fmt: skip
_SHOWN: Final = {"python": "Python", "node": "Node", "ruby": "Ruby", "go": "Go", "php": "PHP", "rust": "Rust"}
_SPELT: Final = {"playwright": "@playwright/test|playwright", "biome": "@biomejs/biome|biome"}
MAX_TOOLS: Final = 3
"""Tools of one role that are told."""


def tools(texts: Mapping[str, str], there: frozenset[str]) -> Iterator[Observation]:
    """A role at a time."""
    built = declared(texts, there)
    for sentence, names in _ROLES.items():
        found = [name for name in names.split() if name in built.versions][:MAX_TOOLS]
        if sentence == _LANGUAGES:
            found = [name for name in found if value(built.versions[name])]
        if not found:
            continue
        told, cites = [], []
        for name in found:
            file, version = built.files[name], value(built.versions[name])
            told.append(f"{_SHOWN.get(name, name)}{f' {version}' if version else ''} ({file})")
            cites.append(_cited(file, name, texts.get(file, "")))
        yield Observation(sentence.format(listed(told)), Category.TECHNICAL, once(cites))


def _cited(file: str, name: str, text: str) -> Citation:
    """Where a tool stands in its file. A lock file is there or not; its lines are nobody's."""
    if not text:
        return Citation(CitationKind.FILE, file, file, seen=True)
    spelt = _SPELT.get(name, re.escape(name))
    if file.endswith(".json"):
        return at_line(file, text, rf"\"(?:{spelt})\"\s*:|\"packageManager\"\s*:\s*\"(?:{spelt})@")
    if name == "python" and file == "pyproject.toml":
        spelt = "requires-python|python"
    elif file in (".nvmrc", ".node-version", ".python-version", ".ruby-version"):
        spelt = r"v?\d[\w.]*"
    return at_line(file, text, rf"(?im)(?:^|[\"'\[./ ])(?:{spelt})(?![\w-])")


MOST: Final = 40
"""Sentences about one project."""

_ALSO: Final = frozenset(
    (
        "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile",
        ".editorconfig", ".prettierrc", ".prettierrc.json", "tsconfig.json", "rustfmt.toml",
        *LINTER_FILES,
    )
)  # fmt: skip


def is_read(path: str) -> bool:
    """Whether a file is one that says how a project is worked on. What is written for agents is not among them: they
    read it themselves."""
    return path in MANIFESTS or path in _ALSO or is_ci(path)


def observed(texts: Mapping[str, str], there: Iterable[str]) -> tuple[Observation, ...]:
    """What files say, by their names and texts; ``there`` are the names of all at the root."""
    names = frozenset(there)
    found = (*commands(texts, names), *tools(texts, names), *style(texts), *ci(texts))
    return tuple({each.text: each for each in found}.values())[:MOST]
