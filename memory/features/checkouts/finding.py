"""Find what a text cites in a checkout, when it is learnt. Blocks: for a thread."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from memory.checkout import Citation, CitationKind
from memory.features.checkouts import files
from memory.features.checkouts.declared import is_declared
from memory.features.checkouts.git import GitFailed, git
from memory.features.checkouts.looking import CheckoutView
from memory.learning.citations import citations, is_capitalised, is_file_name, needle

MOST_HITS: Final = 200
_ONLY_THERE: Final = 3
"""What a line is worth at most that does not define the name."""

_DEFINES: Final = re.compile(
    r"\b(?:def|class|function|func|fn|const|let|var|struct|enum|interface|trait|type|object|module|package|record|impl|macro_rules!|"
    r"val|sub|procedure)\b[^=(]{0,60}$"
)
_PROSE: Final = re.compile(
    r"(?i)\.(?:md|mdx|rst|txt|html?|lock|svg|csv)$|(?:^|/)(?:changelog|license|package-lock\.json)"
)
_PLAIN_WORD: Final = re.compile(r"[a-z]+")
_RUNNERS: Final = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
    "run": ("package.json",),
}


def found(text: str, view: CheckoutView) -> tuple[Citation, ...]:
    """What a text cites of a checkout: what is there, and what is not there yet."""
    now = ((each, find_now(each, view)) for each in citations(text))
    cites = (hit or (each if _may_be_written_later(each, view) else None) for each, hit in now)
    return once_each(each for each in cites if each is not None)


def once_each(cites: Iterable[Citation]) -> tuple[Citation, ...]:
    """Citations without those that are told by another one: a file that is named beside what stands in it is cited for
    that, since its other lines may change."""
    each_once = dict.fromkeys(cites)
    held = {each.file for each in each_once if each.sort is not CitationKind.FILE and each.seen and each.file}
    return tuple(each for each in each_once if each.sort is not CitationKind.FILE or each.line or each.file not in held)


def seek(
    root: str,
    cited: Citation,
    there: Iterable[str] = (),
    *,
    defined: bool = False,
    within: frozenset[str] | None = None,
) -> tuple[str, int]:
    """The file and the line where a symbol or a port stands, the best of them; empty where there is none. ``defined``:
    only where it is defined, as what is only told from other words by that always is; ``within``: only in these
    files."""
    if within is not None and not within:
        return "", 0
    defined = defined or is_capitalised(cited)
    word = re.split(r"\.|::|#", cited.name)[-1]
    try:
        output = git(
            root,
            "-c",
            "core.quotePath=false",
            "grep",
            "-n",
            "-I",
            "-F",
            "-w",
            "--untracked",
            "--no-color",
            "-m",
            "5",
            "-e",
            word,
            *(("--", *sorted(within)) if within is not None else ()),
        )
    except GitFailed:
        return "", 0
    known, best = frozenset(there), (0, "", 0)
    for hit in output.splitlines()[:MOST_HITS]:
        path, _, rest = hit.partition(":")
        line, _, code = rest.partition(":")
        if not line.isdigit() or files.secret_like(path) or (known and path not in known):
            continue
        worth = _worth(cited, word, path, code)
        if worth > best[0] and (worth > _ONLY_THERE or not defined):
            best = (worth, path, int(line))
    return best[1], best[2]


def mark_of(content: bytes, line: int) -> str:
    """A hash of a file's content, or of one of its lines; empty where it has no such line."""
    if line:
        every = content.split(b"\n", line)
        if len(every) < line or not every[line - 1].strip():
            return ""
        content = every[line - 1].strip()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _worth(cited: Citation, word: str, path: str, code: str) -> int:
    defines = cited.sort is CitationKind.SYMBOL and bool(_DEFINES.search(code.partition(word)[0]))
    return 1 + 4 * defines + 2 * (not _PROSE.search(path))


def find_now(
    cited: Citation, view: CheckoutView, *, late: bool = False, within: frozenset[str] | None = None
) -> Citation | None:
    """A citation where the checkout has it; None where it has not. What comes ``late`` and is a plain word has to be
    defined there: many a file will have it some day. A symbol is only looked for ``within`` some files, where any are
    given."""
    match cited.sort:
        case CitationKind.FILE:
            return _file(cited, view)
        case CitationKind.VERSION:
            return replace(cited, seen=True) if is_declared(cited, view.built) else None
        case CitationKind.COMMAND:
            return _command(cited, view)
        case _:
            defined = late and _PLAIN_WORD.fullmatch(cited.name) is not None
            file, line = seek(view.root, cited, view.files, defined=defined, within=within)
            # A word that only prose has is no name of the code.
            plain = not file or _PROSE.search(file)
            return (
                None
                if plain
                else replace(cited, file=file, line=line if cited.sort is CitationKind.SYMBOL else 0, seen=True)
            )


def _may_be_written_later(cited: Citation, view: CheckoutView) -> bool:
    """Whether what a text names and the checkout does not have may be written there later."""
    if cited.sort is not CitationKind.FILE:
        return cited.sort in (CitationKind.SYMBOL, CitationKind.COMMAND)
    path = _path_in_checkout(cited, view)
    if path.startswith("/") or files.secret_like(path) or _files_named(path, view.files):
        return False  # it is no file of this checkout, none that is read, or one of several
    # "Read/write" is no folder: one begins where others lie.
    return is_file_name(path) or any(each.startswith(f"{path.partition('/')[0]}/") for each in view.files)


def _path_in_checkout(cited: Citation, view: CheckoutView) -> str:
    return cited.name.removeprefix(f"{view.root}/").removeprefix("./").rstrip("/")


def _files_named(path: str, there: frozenset[str]) -> list[str]:
    """The files that a path names: itself, or those whose end it is."""
    return [path] if path in there else [each for each in there if each.endswith(f"/{path}")]


def _file(cited: Citation, view: CheckoutView) -> Citation | None:
    path = _path_in_checkout(cited, view)
    if path.startswith("/"):
        return None
    alike = _files_named(path, view.files)
    if len(alike) == 1:
        path = alike[0]
    elif any(each.startswith(f"{path}/") for each in view.files):
        return replace(cited, name=path, file=path, line=0, seen=True)
    else:
        return None
    content = None
    with contextlib.suppress(OSError):
        content = files.read(view.root, path)
    if content is None:
        return None
    line = cited.line if mark_of(content, cited.line) else 0
    return replace(cited, name=path, file=path, line=line, mark=mark_of(content, line), seen=True)


def _command(cited: Citation, view: CheckoutView) -> Citation | None:
    pattern = needle(cited)
    for name in _RUNNERS.get(cited.name.partition(" ")[0], ()):
        if name in view.files and pattern is not None:
            with contextlib.suppress(OSError):
                if pattern.search(files.read(view.root, name) or b""):
                    return replace(cited, file=name, seen=True)
    return None
