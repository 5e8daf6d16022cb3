"""What CI runs: the plain commands of GitHub's workflows and of GitLab's pipeline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from memory.fact import Category
from memory.features.checkouts.conventions.observation import Observation, at_line, listed, once

MOST: Final = 6
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
        found = list(dict.fromkeys(line for line in _run(file, text) if _plain(line)))[:MOST]
        if found:
            told = listed([f"`{each}`" for each in found])
            cites = once(at_line(file, text, rf"(?m){re.escape(each)}\s*$") for each in found)
            yield Observation(f"CI runs {told} ({file}).", Category.WORKFLOWS, cites)


def _run(file: str, text: str) -> Iterator[str]:
    """The lines of the scripts of a file."""
    if len(text) > _LARGEST:
        return
    # Imported here: a start gets on without it.
    import yaml

    try:
        told: Any = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    for job in _mappings(told.get("jobs") if isinstance(told, dict) and file.startswith(".github/") else told):
        scripts = [step.get("run") for step in _mappings(job.get("steps"))]
        script = job.get("script")
        scripts += script if isinstance(script, list) else [script]
        for each in scripts[:100]:
            if isinstance(each, str):
                yield from (line.strip() for line in each.splitlines()[:50])


def _mappings(of: Any) -> Iterator[dict[str, Any]]:
    """The mappings in a list, or that a mapping holds."""
    inner = list(of.values()) if isinstance(of, dict) else of if isinstance(of, list) else []
    yield from (each for each in inner[:50] if isinstance(each, dict))


def _plain(line: str) -> bool:
    """Whether a line is a command of a few plain words, for more than installing what is needed."""
    words = line.split(" ")
    known = words[0] in _PROGRAMS and len(words) in range(1, _WORDS + 1)
    letters = sum(word.isalpha() for word in words[1:])
    return known and letters <= _LETTERS and all(map(_WORD.fullmatch, words)) and not _SET_UP.match(line)
