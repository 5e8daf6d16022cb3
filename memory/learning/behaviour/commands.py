"""A shell command as the simple commands in it, and each of those by its family and by its shape.

The family is the program with its subcommand (``git commit``, ``npm run build``, ``python -m pytest``); the shape has
what stands behind it too, each argument as what it is: ``git commit -m <text>``, ``pytest <path>``. Nothing is run and
nothing is expanded; what cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

READ: Final = 2000
"""Characters of a command that are read."""
MOST: Final = 8
"""Simple commands of one command that are told."""


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its arguments. ``looks``: it changes nothing."""

    family: str
    shape: str
    looks: bool


@lru_cache(maxsize=4096)
def simple_commands(command: str) -> tuple[SimpleCommand, ...]:
    """The simple commands in a command, in order, without what only sets the stage (``cd``, ``export``, ``echo``) and
    without the filters behind a pipe."""
    found: list[SimpleCommand] = []
    for words in _command_words(command):
        bare = _unwrapped(words)
        if bare and bare[0] not in _STAGE:
            found.append(_simple(bare))
        if len(found) == MOST:
            break
    return tuple(found)


@lru_cache(maxsize=4096)
def target(command: str) -> frozenset[str]:
    """The words of a command, programs and flags included, without the variables that are set before them."""
    words = [
        word
        for words in _command_words(command)
        if (bare := _unwrapped(words)) and bare[0] not in _STAGE
        for word in bare
    ]
    return frozenset(word.strip("\"'") for word in words if len(word) > 1)


def _command_words(command: str) -> Iterator[list[str]]:
    """The words of each command; of a pipeline those of its first command, or of the one that ``echo`` feeds."""
    text = _CONTINUED.sub(" ", command[:READ])
    heredoc = _HEREDOC.search(text)
    if heredoc:
        text = text[: heredoc.start()]
    words: list[str] = []
    piped = False
    for token in _TOKEN.finditer(text):
        if token["comment"]:
            continue
        if token["redirect"]:
            continue
        sign = token["sign"]
        if sign is None:
            words.append(token[0])
            continue
        if words and not (piped and words[0] in _FILTERS):
            if sign == "|" and words[0] in _FEEDS:
                words = []
                continue
            if not piped:
                yield words
        piped = sign == "|"
        words = []
    if words and not piped:
        yield words


def _unwrapped(words: Sequence[str]) -> list[str]:
    """The words without variables set in front, and without what only wraps the program."""
    rest = list(words)
    while rest:
        first = rest[0]
        if _ASSIGNS.match(first) or first in ("(", "{", "!", "then", "do", "else"):
            rest.pop(0)
        elif first in _WRAPS:
            rest.pop(0)
            while rest and (rest[0].startswith("-") or _NUMBER.fullmatch(rest[0])):
                rest.pop(0)
        else:
            break
    return rest


def _simple(words: list[str]) -> SimpleCommand:
    program = _program_name(words[0])
    named, rest = [program], words[1:]
    depth = _DEPTH.get(program, 0 if program in _FREE or "/" in program or "<" in program else 1)
    if program.startswith("python") and rest[:1] == ["-m"] and len(rest) > 1:
        named, rest, depth = [program, "-m", rest[1]], rest[2:], 0
    elif program in _INTERPRETS and (script := _script_name(rest)):
        named, rest, depth = [program, script], rest[1:], 0
    before: list[str] = []
    while depth and rest:
        word = rest[0]
        if word in _PLACES and len(rest) > 1:
            rest = rest[2:]
        elif word.startswith("-"):
            before.append(word)
            rest = rest[1:]
            if word not in _ALONE and not word.startswith("--no-"):
                break  # What follows may be its value, and that may be a password.
        elif _PLAIN.fullmatch(word) and (program in _SUBCOMMANDS or not _DIGIT.search(word)):
            named.append(word)
            rest = rest[1:]
            if not (word in _DEEPER and program not in ("go", "cargo") and depth == 1):
                depth -= 1
        else:
            break
    family = " ".join(named)
    shape = " ".join([family, *_shaped([*before, *rest])])[:120]
    return SimpleCommand(family, shape, _looks(named, words))


def _script_name(words: Sequence[str]) -> str:
    """The name of the script that an interpreter is given; ``-c`` where it stands in the command itself."""
    for word in words:
        if word in ("-c", "-e", "-"):
            return word
        if not word.startswith("-"):
            name = re.split(r"[/\\]", word.strip("\"'"))[-1]
            return name if _FILE.search(name) and len(name) <= 60 else ""
    return ""


def _program_name(word: str) -> str:
    """``/usr/bin/python3.11`` is ``python3.11``; a script of the project stays one: ``./run.sh``."""
    word = word.strip("\"'")
    if word.startswith("./") or word.endswith((".sh", ".py", ".js", ".ts", ".rb")):
        return f"./{word.removeprefix('./')}"[:60] if not word.startswith(("/", "~")) else "<path>"
    name = word.rsplit("/", 1)[-1]
    return name if _NAME.fullmatch(name) else "<program>"


def _shaped(words: Sequence[str]) -> Iterator[str]:
    last = ""
    for word in words[:24]:
        shape = _shape_of(word, last)
        if shape != last:
            yield shape
        last = shape


def _shape_of(word: str, last: str) -> str:
    if word in ("-", "--"):
        return word
    if word.startswith("-") and not _NUMBER.fullmatch(word):
        name, equals, _ = word.partition("=")
        return (name if _FLAG.fullmatch(name) else "<flag>") + ("=<value>" if equals else "")
    if last in ("-m", "--message", "-am", "--title", "--body", "-t", "-b") or (word[:1] in "\"'" and " " in word):
        return "<text>"
    word = word.strip("\"'")
    if word in ("./...", "."):
        return word
    if "://" in word:
        return "<url>"
    if _NUMBER.fullmatch(word):
        return "<n>"
    if _HEX.fullmatch(word):
        return "<hash>"
    if "/" in word or "\\" in word or _FILE.search(word):
        return "<path>"
    return "<arg>"


def _looks(named: Sequence[str], words: Sequence[str]) -> bool:
    if words[-1] in ("--help", "-h", "--version", "help"):
        return True
    program = named[0]
    if program == "sed":
        return not any(word.startswith("-i") or word == "--in-place" for word in words)
    return program in _LOOKS or " ".join(named[:2]) in _LOOKS or " ".join(named[:3]) in _LOOKS


_CONTINUED = re.compile(r"\\\r?\n")
_HEREDOC = re.compile(r"<<-?\s*['\"]?\w")
_TOKEN = re.compile(
    r"(?P<comment>(?<![^\s;])#[^\n]*)"
    r"|(?P<redirect>\d?>>?(?:&\d|\s*[^\s;&|]+)?|<\s*[^\s;&|<]+|\d>&\d)"
    r"|(?P<sign>&&|\|\||[;&|\n])"
    r"|(?:\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|\\.|[^\s;&|<>\"'\\])++"
)
_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?[smhkMG]?")
_HEX = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,64}")
_PLAIN = re.compile(r"[a-z][a-z0-9:_-]{1,24}")
_DIGIT = re.compile(r"\d")
_PLACES = frozenset({"-C", "--prefix", "--cwd", "--directory", "--repo", "-R", "--namespace", "--context", "--profile"})
"""Flags before a subcommand that say where it acts, each with a value."""
_ALONE = frozenset({"-v", "-q", "-s", "-y", "--verbose", "--quiet", "--silent", "--yes", "--debug"})
"""Flags before a subcommand that have no value."""
_SUBCOMMANDS = frozenset(
    {"git", "npm", "pnpm", "yarn", "make", "just", "task", "uv", "npx", "bunx", "bun", "tox", "nox"}
)
"""Programs of which the first word is a subcommand or a target, digits or not."""
_NAME = re.compile(r"[\w.+-]{1,40}")
_FLAG = re.compile(r"--?[A-Za-z][\w-]{0,30}")
_FILE = re.compile(r"\w\.[A-Za-z]\w{0,5}$")
_WRAPS = frozenset({"sudo", "env", "time", "timeout", "nohup", "command", "exec", "nice", "stdbuf", "caffeinate"})
_STAGE_WORDS = (
    "cd export set source . true false : sleep echo printf pwd pushd popd unset wait exit fi done if for while read "
    "local } ) test [ [["
)
_STAGE = frozenset(_STAGE_WORDS.split())
_FEEDS = frozenset({"echo", "printf", "yes"})
_FILTERS_WORDS = "head tail grep rg egrep sed awk sort uniq wc cut tr tee jq less more cat column xargs nl fold"
_FILTERS = frozenset(_FILTERS_WORDS.split())
_INTERPRETS = frozenset({"python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "deno", "tsx", "php"})
_FREE_WORDS = (
    "ls cat head tail grep egrep rg find fd wc which tree less more stat file du df ps date whoami type jq sort uniq "
    "diff cut awk sed rm mv cp mkdir touch ln chmod chown python python3 python2 node bash sh zsh ruby perl deno "
    "pytest ruff mypy eslint prettier tsc jest vitest curl wget tar unzip zip open code vim nano kill pkill lsof ssh "
    "scp rsync xargs tee nl gofmt goimports black isort flake8 shellcheck javac java gcc g++ clang rustc"
)
_FREE = frozenset(_FREE_WORDS.split())
_DEPTH = {"gh": 2, "uv": 1, "npx": 1, "bunx": 1, "aws": 2, "gcloud": 2, "az": 2, "pnpm": 1, "yarn": 1, "make": 1}
_DEEPER = frozenset({"run", "exec", "compose", "tool", "dlx", "x", "mod", "stash", "worktree", "remote"})
_LOOKS_WORDS = (
    "ls cat head tail grep egrep rg find fd wc which tree less more stat file du df ps date whoami type jq sort uniq "
    "diff cut awk nl lsof env printenv hexdump strings xxd"
)
_LOOKS = frozenset(_LOOKS_WORDS.split()) | {
    *("git status", "git log", "git diff", "git show", "git branch", "git blame", "git rev-parse", "git remote"),
    *("git ls-files", "git ls-tree", "git describe", "git grep", "git reflog", "git stash list", "git cat-file"),
    *("git merge-base", "git rev-list", "git for-each-ref", "git name-rev", "git shortlog", "git config", "git tag"),
    *("gh pr view", "gh pr list", "gh pr diff", "gh pr checks", "gh pr status", "gh issue view", "gh issue list"),
    *("gh run view", "gh run list", "gh run watch", "gh api", "gh search", "gh repo view", "gh auth status"),
    *("go list", "go env", "go doc", "go version", "npm ls", "npm view", "npm list", "pip show", "pip list"),
    *("pip freeze", "docker ps", "docker logs", "docker images", "kubectl get", "kubectl describe", "kubectl logs"),
    *("cargo tree", "cargo metadata", "uv tree", "bd list", "bd show", "bd ready"),
}
