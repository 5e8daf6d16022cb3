"""Which language a text is in: by its path, else by its first line, else by a cheap guess at its lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_EXTENSIONS = {
    "python": "py pyi pyw pyx",
    "javascript": "js mjs cjs jsx es6",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ino cu cuh ipp tpp",
    "csharp": "cs",
    "ruby": "rb rake gemspec",
    "php": "php phtml",
    "bash": "sh bash zsh ksh bats",
    "kotlin": "kt kts",
    "swift": "swift",
    "lua": "lua",
    "scala": "scala sc",
    "powershell": "ps1 psm1 psd1",
    "sql": "sql",
    "css": "css scss sass less",
    "html": "vue svelte astro",
    "yaml": "yaml yml",
    "toml": "toml ini cfg conf properties editorconfig env",
    "make": "mk make",
    "docker": "dockerfile",
    "terraform": "tf tfvars hcl",
    "proto": "proto thrift",
    "graphql": "graphql gql prisma",
    "generic": (
        "dart ex exs erl hs ml mli jl r m mm pl pm zig nim fs fsx vb groovy gradle clj cljs cljc el lisp scm vim fish "
        "v sv vhd sol cr d pas awk tcl nix bzl star cmake asm s wat"
    ),
}
_BY_EXTENSION = {extension: name for name, extensions in _EXTENSIONS.items() for extension in extensions.split()}
_BY_NAME = {
    "dockerfile": "docker",
    "containerfile": "docker",
    "makefile": "make",
    "gnumakefile": "make",
    "justfile": "make",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "cmakelists.txt": "generic",
    "build": "generic",
    "jenkinsfile": "generic",
    ".bashrc": "bash",
    ".zshrc": "bash",
    ".profile": "bash",
}
_INTERPRETERS = {
    "python": "python",
    "node": "javascript",
    "deno": "typescript",
    "bun": "typescript",
    "sh": "bash",
    "bash": "bash",
    "zsh": "bash",
    "dash": "bash",
    "ruby": "ruby",
    "php": "php",
    "lua": "lua",
    "pwsh": "powershell",
    "perl": "generic",
}
# What only, or nearly only, one language says at a line's beginning.
_SAYINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("python", re.compile(r"(?:async )?def \w+\(.*(?::|,|\()$|class \w+.*:$|from [\w.]+ import |import [a-z_][\w.]*$")),
    ("go", re.compile(r"package \w+$|func (?:\(\w+ \*?\w+\) )?\w+\(.*\{$|type \w+ (?:struct|interface) \{|\w+ := ")),
    ("rust", re.compile(r"(?:pub(?:\(\w+\))? )?(?:fn \w+|struct \w+|enum \w+|mod \w+|trait \w+)|impl[ <]|use \w+::")),
    (
        "typescript",
        re.compile(
            r"import .* from ['\"]|export (?:default |async |abstract )*(?:const|function|class|interface|type|enum) "
            r"|(?:const|let) \w+ = |(?:async )?function \w+\("
        ),
    ),
    ("java", re.compile(r"import [\w.]+;$|package [\w.]+;$|(?:public|private|protected) [\w<>\[\], ]+[({]|@Override$")),
    ("cpp", re.compile(r"#include [<\"]|using namespace |template ?<|namespace \w+|std::")),
    ("csharp", re.compile(r"using [\w.]+;$|namespace [\w.]+;?$|\[\w+\]$")),
    ("php", re.compile(r"<\?php|\$\w+ = .*;$|use \w+\\")),
    ("ruby", re.compile(r"require(?:_relative)? ['\"]|module [A-Z]\w*$|def self\.|attr_\w+ :")),
    ("bash", re.compile(r"set -[a-z]+|if \[\[? |fi$|esac$|done$|\w+\(\) ?\{$")),
)
_LOOKED_AT = 200
_ENOUGH = 3

# A command that shows a file, and the files that it may show.
_SHOWING = re.compile(
    r"(?:^|[;&|(\n])[^\S\n]*+(?:sudo )?(?:cat|sed -n|head|tail|nl|bat|batcat|less|more|awk|git show)\b"
)
_FILE = re.compile(r"(?<![\w@%+=~./\\:-])[\w@%+=~./\\:-]*\.[A-Za-z0-9+]{1,11}\b")


def by_path(path: str) -> str | None:
    """The language that a file's name tells, None where it tells none, or one that is not code."""
    name = re.split(r"[/\\]", path.strip().rstrip("/\\"))[-1].lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.startswith("dockerfile"):
        return "docker"
    return _BY_EXTENSION.get(name.rpartition(".")[2]) if "." in name else None


def is_named(path: str) -> bool:
    """Whether the path names a kind of file at all, be it code or not."""
    return "." in re.split(r"[/\\]", path.strip())[-1].lstrip(".")


def shown_by(command: str) -> str:
    """The first file that a shell command prints, empty where it prints none."""
    showing = _SHOWING.search(command[:2000])
    if showing is None:
        return ""
    shown = _FILE.search(command[showing.end() : 2000])
    return shown[0] if shown else ""


def by_lines(lines: Sequence[str]) -> str | None:
    """The language that a text's own lines tell: a shebang, else at least three sayings of one language."""
    first = next((line for line in lines if line.strip()), "")[:200]
    if first.startswith("#!"):
        for word in re.findall(r"[a-z]+", first):
            if word in _INTERPRETERS:
                return _INTERPRETERS[word]
    counts: Counter[str] = Counter()
    looked = 0
    for line in lines:
        bare = line.strip()
        if not bare or len(bare) > 300:
            continue
        looked += 1
        for name, pattern in _SAYINGS:
            if pattern.match(bare):
                counts[name] += 1
                break
        if looked == _LOOKED_AT:
            break
    if not counts:
        return None
    name, count = counts.most_common(1)[0]
    return name if count >= _ENOUGH and count * 20 >= looked else None
