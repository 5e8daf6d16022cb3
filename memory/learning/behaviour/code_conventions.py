"""Conventions that an edit or a commit follows, each as the answer to a question: where tests stand, how files are
named, how imports are written, how commits are titled. One edit proves nothing; many of many sessions do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import orjson

READ: Final = 4000
"""Characters of a new text that are read: imports stand at the beginning."""


@lru_cache(maxsize=256)
def edit_traits(arguments: str, paths: tuple[str, ...]) -> Mapping[str, str]:
    """What an edit of these files follows, by question."""
    found: dict[str, str] = {}
    for path in paths[:4]:
        found.update(_named(path.replace("\\", "/")))
    new = new_text(arguments)
    if new and paths:
        extension = paths[0].rpartition(".")[2].lower()
        for question, pattern_to_answer in _IMPORTS.get(extension, {}).items():
            for answer, pattern in pattern_to_answer.items():
                if pattern.search(new[:READ]):
                    found[question] = answer
                    break
    return found


def commit_traits(command: str) -> Mapping[str, str]:
    """What a commit's title follows."""
    title = _TITLE.search(command[:READ])
    if title is None:
        return {}
    text = title["title"].strip()
    if _CONVENTIONAL.match(text):
        return {"commit titles": "`type(scope): what`, as in Conventional Commits"}
    if _TICKET.match(text):
        return {"commit titles": "the ticket's number first"}
    return {"commit titles": "begin with a capital letter" if text[:1].isupper() else "begin with a small letter"}


def new_text(arguments: str) -> str:
    """The text that an edit puts into a file."""
    try:
        data = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return ""
    return "\n".join(_new(data)) if isinstance(data, dict) else ""


def replaced(arguments: str) -> tuple[str, str]:
    """What an edit took away and what it put in its place; the former is empty where a file was written whole."""
    try:
        data = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return "", ""
    if not isinstance(data, dict):
        return "", ""
    edits = data.get("edits")
    if isinstance(edits, list) and edits and isinstance(edits[0], dict):
        data = edits[0]
    old = next((data[key] for key in _OLD if isinstance(data.get(key), str)), "")
    new = next((data[key] for key in _NEW if isinstance(data.get(key), str)), "")
    if not old and not new:
        patch = next((value for value in data.values() if isinstance(value, str) and "*** " in value), "")
        removed = [line[1:] for line in patch.splitlines() if line.startswith("-")]
        added = [line[1:] for line in patch.splitlines() if line.startswith("+")]
        return "\n".join(removed), "\n".join(added)
    return old, new


def _new(arguments: Mapping[str, Any]) -> Iterator[str]:
    for key in _NEW:
        if isinstance(arguments.get(key), str):
            yield arguments[key]
    for value in arguments.values():
        if isinstance(value, str) and "*** " in value:
            yield "\n".join(line[1:] for line in value.splitlines() if line.startswith("+"))
        elif isinstance(value, list):
            for inner in value:
                if isinstance(inner, dict):
                    yield from _new(inner)


def _named(path: str) -> Iterator[tuple[str, str]]:
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem or not extension.isalnum() or extension.lower() not in _CODE:
        return
    folders: Sequence[str] = folder.lower().split("/")
    test = _TEST.search(name)
    if test:
        beside = not any(each in ("tests", "test", "__tests__", "spec", "specs") for each in folders)
        yield f"tests of .{extension} files stand", "beside the code" if beside else "in a folder of their own"
        yield f"tests of .{extension} files are called", _called(name, extension)
        return
    if "_" in stem.strip("_"):
        yield f".{extension} files are named", "with_underscores"
    elif "-" in stem:
        yield f".{extension} files are named", "with-hyphens"
    elif re.search(r"[a-z][A-Z]", stem):
        yield f".{extension} files are named", "InCapitals" if stem[0].isupper() else "inCamelCase"


def _called(name: str, extension: str) -> str:
    if name.startswith("test_"):
        return f"test_*.{extension}"
    for mark in ("_test.", ".test.", ".spec.", "_spec."):
        if mark in name:
            return f"*{mark}{extension}"
    return f"*Test.{extension}"


_OLD = ("old_string", "oldString", "old_str", "oldText", "old_text")
_NEW = ("new_string", "newString", "new_str", "newText", "new_text", "content", "contents", "file_text", "insert_text")
_CODE_WORDS = "py go ts tsx js jsx mjs rs java kt rb php cs cpp c h swift scala lua sh vue svelte"
_CODE = frozenset(_CODE_WORDS.split())
_TEST = re.compile(r"^test_|_test\.|\.test\.|\.spec\.|_spec\.|[a-z]Tests?\.[a-z]+$")
_PYTHON = {
    "Python imports are": {
        "relative (`from .module import …`)": re.compile(r"^from \.+\w* import", re.M),
        "absolute": re.compile(r"^from \w[\w.]* import|^import \w", re.M),
    },
    "Python strings are quoted": {
        "with double quotes": re.compile(r"^[^'#\n]*\"[^'\"\n]{2,40}\"[^'\n]*$", re.M),
        "with single quotes": re.compile(r"^[^\"#\n]*'[^'\"\n]{2,40}'[^\"\n]*$", re.M),
    },
}
_SCRIPT = {
    "imports are written": {
        "as `import … from`": re.compile(r"^import .{0,200}from ['\"]", re.M),
        "as `require(…)`": re.compile(r"\brequire\(['\"]"),
    },
    "import paths are quoted": {
        "with single quotes": re.compile(r"^import .{0,200}from '", re.M),
        "with double quotes": re.compile(r"^import .{0,200}from \"", re.M),
    },
    "statements end": {
        "with semicolons": re.compile(r"^(?:import|const|let|return|export) [^\n]{3,200};\s*$", re.M),
        "without semicolons": re.compile(r"^(?:import|const|let|return|export) [^\n{(\[,;]{3,200}$", re.M),
    },
}
_IMPORTS: Mapping[str, Mapping[str, Mapping[str, re.Pattern[str]]]] = {
    "py": _PYTHON,
    **dict.fromkeys(("ts", "tsx", "js", "jsx", "mjs", "vue", "svelte"), _SCRIPT),
}
_TITLE = re.compile(
    r"\bgit\b[^\n]{0,80}\bcommit\b[^\n]{0,80}?-[a-z]*m\s*[\"'](?:\$\(cat\s+<<-?\s*['\"]?\w+['\"]?\s*\n)?(?P<title>[^\n\"']{3,120})"
)
_CONVENTIONAL = re.compile(r"[a-z]{2,10}(?:\([\w ,./-]{1,40}\))?!?: \S")
_TICKET = re.compile(r"\[?#?[A-Z]{2,8}-\d+")
