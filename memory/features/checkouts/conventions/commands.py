"""The commands that a Makefile, a justfile and the scripts of package.json offer, by what they are for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from memory.checkout import Citation
from memory.fact import Category
from memory.features.checkouts.conventions.observation import Observation, at_line, is_name, listed, once
from memory.features.checkouts.declared import LOCKS

_FOR: Final = {
    "Test command": "test tests unit",
    "Check command": "check checks verify",
    "Lint command": "lint",
    "Format command": "format fmt",
    "Type check command": "typecheck type-check types tsc",
    "Build command": "build compile",
    "Start command": "dev start serve run",
    "Release command": "release deploy publish",
    "Benchmark command": "bench benchmark",
    "End-to-end test command": "e2e test:e2e test-e2e",
    "Documentation command": "docs doc",
    "Database migration command": "migrate migrations db:migrate",
    "Code generation command": "generate codegen gen",
    "Setup command": "setup install bootstrap",
}
_PURPOSE: Final = {name: purpose for purpose, names in _FOR.items() for name in names.split()}
MOST: Final = 12
"""Commands that are for nothing that is known here."""

_TARGET: Final = re.compile(r"(?m)^([A-Za-z][\w.-]*(?:[ \t]+[A-Za-z][\w.-]*)*)[ \t]*:(?![=:])")
_RECIPE: Final = re.compile(r"(?m)^@?([A-Za-z][\w-]*)(?:[ \t]+[^:=\n]{1,80})?:(?!=)")
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES: Final = ("justfile", "Justfile")


def commands(texts: Mapping[str, str], there: frozenset[str]) -> Iterator[Observation]:
    """What is offered, a purpose at a time."""
    by: dict[str, list[tuple[str, str, Citation]]] = {}
    for command, name, cited in _offered(texts, there):
        by.setdefault(_PURPOSE.get(name, ""), []).append((command, cited.file, cited))
    for purpose in _FOR:
        if found := by.get(purpose):
            told = listed([f"`{command}` ({file})" for command, file, _ in found[:4]])
            yield Observation(f"{purpose}: {told}.", Category.WORKFLOWS, once(cited for *_, cited in found[:4]))
    if rest := by.get("", [])[:MOST]:
        told = listed([f"`{command}`" for command, *_ in rest])
        files = listed(list(dict.fromkeys(file for _, file, _ in rest)))
        yield Observation(
            f"Other commands: {told} ({files}).",
            Category.WORKFLOWS,
            once(cited for *_, cited in rest),
        )


def _offered(texts: Mapping[str, str], there: frozenset[str]) -> Iterator[tuple[str, str, Citation]]:
    """Each command with the name that it has in its file."""
    for file in (*_MAKEFILES, *_JUSTFILES):
        text = texts.get(file, "")
        runner, form = ("make", _TARGET) if file in _MAKEFILES else ("just", _RECIPE)
        names = (name for found in form.finditer(text) for name in found[1].split())
        for name in dict.fromkeys(names):
            if is_name(name) and not _is_file(name):
                yield f"{runner} {name}", name, at_line(file, text, rf"(?m)^@?[^:#=\n]*\b{re.escape(name)}\b[^=\n]*:")
    package = texts.get("package.json", "")
    runner = f"{next((LOCKS[name] for name in sorted(there) if name in _OF_NODE), 'npm')} run"
    for name in _scripts(package):
        if is_name(name) and not name.startswith(("pre", "post")):
            yield f"{runner} {name}", name, at_line("package.json", package, rf'"{re.escape(name)}"\s*:\s*"')


_OF_NODE: Final = frozenset(name for name, tool in LOCKS.items() if tool in ("npm", "yarn", "pnpm", "bun"))


def _scripts(package: str) -> tuple[str, ...]:
    try:
        told: Any = json.loads(package or "{}")
        return tuple(told.get("scripts") or ())
    except (ValueError, AttributeError, TypeError, RecursionError):
        return ()


def _is_file(name: str) -> bool:
    """Whether a target makes a file: nobody asks for it by name."""
    return "." in name
