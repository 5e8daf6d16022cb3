"""What a text names of code: files, symbols, commands, ports, versions. Whether they are there is asked elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory.checkout import Citation, CitationKind

MOST: Final = 12
"""Citations of one text."""
MAX_TEXT_CHARS: Final = 4000
"""Characters of a text that are read."""

_ENDINGS: Final = (
    "bash|bat|c|cc|cfg|cjs|clj|cmake|conf|cpp|cs|css|csv|cts|cxx|dart|erl|ex|exs|go|gradle|graphql|h|hcl|hpp|hs|htm|html|"
    "ini|ipynb|java|jl|js|json|jsonc|jsx|kt|kts|less|lock|lua|m|md|mdx|mjs|ml|mts|nix|php|pl|proto|ps1|py|pyi|r|rb|rs|rst|"
    "sass|scala|scss|sh|sql|svelte|svg|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh"
)
_NAMED: Final = "Makefile|Dockerfile|Justfile|justfile|Procfile|Gemfile|Rakefile|Jenkinsfile|CMakeLists\\.txt|go\\.mod"
_FILE: Final = re.compile(
    rf"(?<![\w/.@:~+-])(?P<path>/?(?:[\w.@+-]+/)*(?:[\w.@+-]+\.(?:{_ENDINGS})|(?:{_NAMED})))(?::(?P<line>\d{{1,6}}))?(?![\w/])"
)
_FOLDER: Final = re.compile(r"(?<![\w/.@:~+-])(?P<path>[\w.@+-]+(?:/[\w.@+-]+)+)/?(?![\w/])")
_QUOTED: Final = re.compile(r"`([^`\n]{2,120})`")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*(?:\(\))?")
_BARE: Final = re.compile(
    r"(?<![\w/.`-])(?:[A-Za-z]\w*(?:\.\w+)*\(\)|[a-z]\w*_\w+|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?![\w/-]|\.\w)"
)
_CAPITALISED: Final = re.compile(r"(?:[A-Z][a-z0-9]+)+")
_PORT: Final = re.compile(
    r"(?i)\bports? (?:number |is |was |to )?(?P<told>\d{2,5})\b|(?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|\s)"
    r":(?P<at>\d{4,5})\b"
)
_VERSION: Final = re.compile(
    r"(?<![\w./-])(?P<name>@?[A-Za-z][\w./-]{0,40}?)(?: |@| version | v)v?"
    r"(?P<number>\d{1,3}(?:\.\d{1,4}){0,3})(?![\w%]|\.\d)"
)
_COMMAND: Final = re.compile(
    r"(?<![\w/-])(?:(?P<make>make|just) (?P<target>[A-Za-z][\w.-]*)|"
    r"(?:npm|pnpm|yarn|bun) (?:run[ -]script |run )(?P<script>[A-Za-z][\w:.-]*))(?![\w/])"
)
_NO_FILES: Final = frozenset(
    ("node.js", "next.js", "vue.js", "nuxt.js", "express.js", "three.js", "d3.js", "chart.js", "react.js", "asp.net")
)
_NO_NAMES: Final = frozenset(
    ("make", "just", "run", "true", "false", "none", "null", "main", "master", "github", "gitlab", "javascript")
)
_NO_VERSIONED: Final = frozenset(
    ("port", "ports", "line", "lines", "in", "on", "at", "of", "to", "version", "step", "is")
)


def citations(text: str) -> tuple[Citation, ...]:
    """What a text names, as it was written, in the order of the sorts; each thing once."""
    text = text[:MAX_TEXT_CHARS]
    found = dict.fromkeys(
        [*_files(text), *_symbols(text), *_commands(text), *_ports(text), *_versions(text), *_folders(text)]
    )
    return tuple(found)[:MOST]


def _files(text: str) -> Iterator[Citation]:
    for each in _FILE.finditer(text):
        path = each["path"]
        if path.lower() not in _NO_FILES and ".." not in path.split("/") and text[: each.start()][-3:] != "://":
            yield Citation(CitationKind.FILE, path, line=int(each["line"] or 0))


def _folders(text: str) -> Iterator[Citation]:
    for each in _FOLDER.finditer(text):
        path = each["path"].rstrip(".")
        if not _FILE.fullmatch(path) and ".." not in path.split("/"):
            yield Citation(CitationKind.FILE, path)


def _symbols(text: str) -> Iterator[Citation]:
    quoted = [each[1].strip() for each in _QUOTED.finditer(text)]
    for name in (*quoted, *(each[0] for each in _BARE.finditer(_QUOTED.sub(" ", text)))):
        plain = name.removesuffix("()")
        if _NAME.fullmatch(name) and len(plain) > 2 and plain.lower() not in _NO_NAMES and not _FILE.fullmatch(name):
            yield Citation(CitationKind.SYMBOL, plain)


def _commands(text: str) -> Iterator[Citation]:
    for each in _COMMAND.finditer(text):
        command = f"{each['make']} {each['target']}" if each["make"] else f"run {each['script']}"
        # "make sure", "just run": no command where it is not set apart.
        if (
            each["script"]
            or text[: each.start()].rstrip(" ")[-1:] in ("`", '"', "'", "$", ":", "(")
            or _runs(text, each)
        ):
            yield Citation(CitationKind.COMMAND, command)


def _runs(text: str, command: re.Match[str]) -> bool:
    return bool(re.search(r"(?i)\b(?:runs?|ran|running|use|using|with|via|call|calls|by) *$", text[: command.start()]))


def _ports(text: str) -> Iterator[Citation]:
    for each in _PORT.finditer(text):
        port = each["told"] or each["at"]
        if 0 < int(port) < 65536:
            yield Citation(CitationKind.PORT, port)


def _versions(text: str) -> Iterator[Citation]:
    for each in _VERSION.finditer(text):
        if each["name"].lower() not in _NO_VERSIONED:
            yield Citation(CitationKind.VERSION, f"{each['name']} {each['number']}")


def tells_of_a_place(text: str) -> bool:
    """Whether a text names a place in the code, so that it may hold on a branch only."""
    return any(
        each.sort in (CitationKind.SYMBOL, CitationKind.PORT) or (each.sort is CitationKind.FILE and "." in each.name)
        for each in citations(text)
    )


def is_file_name(path: str) -> bool:
    """Whether a path is a file's by its name."""
    return _FILE.fullmatch(path) is not None


def is_capitalised(cited: Citation) -> bool:
    """Whether a symbol is only told from the name of a product by being defined somewhere."""
    return cited.sort is CitationKind.SYMBOL and _CAPITALISED.fullmatch(cited.name) is not None


def needle(cited: Citation) -> re.Pattern[bytes] | None:
    """What of a citation has to stand in its file; None for what is the file itself, and for versions."""
    match cited.sort:
        case CitationKind.SYMBOL:
            last = re.split(r"\.|::|#", cited.name)[-1]
            return re.compile(rb"(?<![\w$])" + re.escape(last.encode()) + rb"(?![\w$])")
        case CitationKind.PORT:
            return re.compile(rb"(?<!\d)" + cited.name.encode() + rb"(?!\d)")
        case CitationKind.COMMAND:
            head, _, name = cited.name.partition(" ")
            pattern = re.escape(name.encode())
            return re.compile(rb'"' + pattern + rb'"\s*:' if head == "run" else rb"(?m)^" + pattern + rb"\b[^=\n]*:")
        case _:
            return None
