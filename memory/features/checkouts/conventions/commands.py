"""The commands that a Makefile, a justfile and the scripts of package.json offer, by what they are for.

What CI runs: the plain commands of GitHub's workflows and of GitLab's pipeline.
"""

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
    for command, name, cited in _named_commands(texts, there):
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


def _named_commands(texts: Mapping[str, str], there: frozenset[str]) -> Iterator[tuple[str, str, Citation]]:
    for file in (*_MAKEFILES, *_JUSTFILES):
        text = texts.get(file, "")
        runner, form = ("make", _TARGET) if file in _MAKEFILES else ("just", _RECIPE)
        names = (name for found in form.finditer(text) for name in found[1].split())
        for name in dict.fromkeys(names):
            if is_name(name) and not _is_file_target(name):
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


def _is_file_target(name: str) -> bool:
    """Whether a target makes a file: nobody asks for it by name."""
    return "." in name


MOST_CI_COMMANDS: Final = 6
"""Commands of one file that are told."""
FILES: Final = 4
_LARGEST: Final = 64 * 1024

_KNOWN: Final = (
    "ant bazel bun bundle cargo cmake composer ctest deno dotnet go gradle ./gradlew hatch just make mix mvn ./mvnw "
    "mypy nox npm npx phpunit pnpm poetry pre-commit pyright pytest python rake ruff swift task tox uv vitest yarn"
)
_PROGRAMS: Final = frozenset(_KNOWN.split(" "))
_WORD: Final = re.compile(r"[\w./:=@+*-]{1,30}")
_WORDS: Final = 6
_LETTERS: Final = 3
"""Arguments of letters alone: with more it may be a sentence."""
_SET_UP: Final = re.compile(
    r"(?:pip|npm|pnpm|yarn|poetry|bundle|composer|uv)\b.*\b(?:ci|install|sync|upgrade)\b|.*\bpip\b"
)


def is_ci(path: str) -> bool:
    """Whether a file says what CI does."""
    return path == ".gitlab-ci.yml" or re.fullmatch(r"\.github/workflows/[\w.-]{1,60}\.ya?ml", path) is not None


def ci(texts: Mapping[str, str]) -> Iterator[Observation]:
    """A file at a time."""
    for file in sorted(filter(is_ci, texts))[:FILES]:
        text = texts[file]
        found = list(dict.fromkeys(line for line in _script_lines(file, text) if _is_plain_command(line)))[
            :MOST_CI_COMMANDS
        ]
        if found:
            told = listed([f"`{each}`" for each in found])
            cites = once(at_line(file, text, rf"(?m){re.escape(each)}\s*$") for each in found)
            yield Observation(f"CI runs {told} ({file}).", Category.WORKFLOWS, cites)


def _script_lines(file: str, text: str) -> Iterator[str]:
    if len(text) > _LARGEST:
        return
    # Imported here: a start gets on without it.
    import yaml

    try:
        told: Any = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    for job in _mappings_in(told.get("jobs") if isinstance(told, dict) and file.startswith(".github/") else told):
        scripts = [step.get("run") for step in _mappings_in(job.get("steps"))]
        script = job.get("script")
        scripts += script if isinstance(script, list) else [script]
        for each in scripts[:100]:
            if isinstance(each, str):
                yield from (line.strip() for line in each.splitlines()[:50])


def _mappings_in(of: Any) -> Iterator[dict[str, Any]]:
    inner = list(of.values()) if isinstance(of, dict) else of if isinstance(of, list) else []
    yield from (each for each in inner[:50] if isinstance(each, dict))


def _is_plain_command(line: str) -> bool:
    """Whether a line is a command of a few plain words, for more than installing what is needed."""
    words = line.split(" ")
    known = words[0] in _PROGRAMS and len(words) in range(1, _WORDS + 1)
    letters = sum(word.isalpha() for word in words[1:])
    return known and letters <= _LETTERS and all(map(_WORD.fullmatch, words)) and not _SET_UP.match(line)
