"""Where a client runs: the directory, the git remote and the date that its environment block tells.

The project of a memory is named by it: the remote where one is known, so that every clone of a repository is one
project, else the directory.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from urllib.parse import unquote, urlsplit

from memory.session import Mode
from memory.unread_files import NO_FILES, UnreadFiles

MAX_PROJECT_CHARS = 200
"""Characters of a project's name."""


@dataclass(frozen=True, slots=True)
class ClientEnvironment:
    """A client's surroundings, each None where it does not tell.

    ``directory`` is an absolute path on the client's machine; ``remote`` the URL of its git remote as it was
    told; ``date`` the client's day (ISO); ``project`` the name that the place's
    project already has on this machine, ``checkout`` the root of the worktree that lies there; ``mode`` how far memory
    takes part there, and ``why`` it is less than all; ``unread`` are the files there that it never reads.
    """

    directory: str | None = None
    remote: str | None = None
    date: str | None = None
    project: str | None = None
    checkout: str | None = None
    mode: Mode = Mode.ON
    why: str = ""
    unread: UnreadFiles = NO_FILES


@lru_cache(maxsize=128)
def place_in(text: str) -> ClientEnvironment:
    """What an environment block tells, in any runtime's words. A session tells the same with every request."""
    paths = (path_in(path) for path in chain(_values_after(text, _DIRECTORY), _paths_anywhere(text)))
    days = (_iso_day(path) for path in _values_after(text, _DATE))
    return ClientEnvironment(
        directory=next(filter(None, paths), None),
        date=next(filter(None, days), None),
    )


def path_in(told: str) -> str | None:
    """The absolute path that a client tells; None where it is none (a tool's description, say)."""
    path = told.strip().strip("`\"'").rstrip()
    if not _ABSOLUTE.match(path) or len(path) > 1000 or not path.isprintable():
        return None
    return path.rstrip("/\\") or path


def project_of(place: ClientEnvironment) -> str | None:
    """The name of the project at a place: the one that it has, its remote (``host/owner/repository``), its directory.

    The name is the same whichever way a remote is written, and never holds a credential.
    """
    named = place.project or (remote_name(place.remote) if place.remote else None) or place.directory
    if named is None or len(named) <= MAX_PROJECT_CHARS:
        return named
    mark = hashlib.blake2b(named.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
    return f"{mark}…{named[-(MAX_PROJECT_CHARS - len(mark) - 1) :]}"


def remote_name(url: str) -> str | None:
    """A git remote's URL as ``host/owner/repository``: no scheme, user, password, port or ``.git``."""
    url = url.strip()
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname or "", unquote(parts.path)
        except ValueError:
            return None
    elif (scp := _SCP.match(url)) and not _DRIVE.match(url):
        host, path = scp["host"].lower(), scp["path"]
    else:
        host, path = "", url
    path = path.strip().rstrip("/").removesuffix(".git").rstrip("/")
    if not host and not _ABSOLUTE.match(path):
        return None
    if not path.strip("/") or not path.isprintable() or not host.isprintable():
        return None
    return f"{host}/{path.lstrip('/')}" if host else path


_DIRECTORY = (
    "<cwd>",
    "orking directory: ",
    "orking Directory: ",
    "orking directory is: ",
    "currently working in the directory: ",
    "# Current Working Directory (",
    "- **Workspace Directories:**\n  - ",
    "following root directories:\n\n- ",
)
_LABEL = (
    r"\b(?:(?:working|workspace|project|repository|repo|current)[ _-]?(?:root[ _-]?)?(?:directory|dir|folder|root|path)"
    r"|cwd|pwd|workspace)(?:[ _-](?:root|path))?\b"
)
_HERE = (
    r"\byou(?:'re| are) (?:currently )?(?:in|inside|working in|running in|operating in|located in)"
    r"(?: the)?(?: (?:directory|folder|repository|repo|workspace|project))?(?: at)?"
)
_START = r"(?:/|~/|[a-z]:[\\/])"
_DIRECTORY_IN_ANY_WORDS = re.compile(
    rf"(?i)(?:{_LABEL}[\"'*`_]{{0,3}}\s?(?:is:)?[:=>(][\s\"'*`_]{{0,6}}(?P<line>{_START}[^\n\"'`<>()|,;*]{{0,1000}})"
    rf"|(?:{_LABEL}(?: is| set to)?|{_HERE}):?\s[\"'*`_]{{0,3}}(?P<word>{_START}[^\s\"'`<>()|,;*]{{0,1000}}))"
)
"""A directory in the words of a client nobody wrote rules for: a label and the path behind it, to the end of its line
(it may have spaces), or a sentence with a path."""
_NO_PATH = re.compile(r"(?i)/(?:absolute/|full/)?path/to|/your[-_/]|\.\.\.|…|[{}\[\]$]")
"""Paths that are examples, or templates."""
_DATE = (
    "<current_date>",
    "oday's date: ",
    "oday's date is ",
    "urrent date: ",
    "urrent date is: ",
    " Date: ",
    "\nDate: ",
)
"""Words before a directory and a day, in the order in which they are believed."""
_MAX_VALUE_CHARS = 1200
_LINE = re.compile(r"\s*([^\n]*)")
_END = re.compile(r"</|\) Files")
_ABSOLUTE = re.compile(r"(?:/|~/|[A-Za-z]:[\\/]|\\\\)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SCP = re.compile(r"(?:[^@/\s:]+@)?(?P<host>[^@/\s:]+):(?P<path>[^\s].*)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{4}|(?<![A-Za-z])[A-Za-z]++,? [A-Za-z]++ \d{1,2},? \d{4}")
_DAY_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%a %b %d %Y", "%A %B %d %Y")


def _values_after(text: str, words: tuple[str, ...]) -> Iterator[str]:
    """What stands behind each of the words, to the end of its line or element."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            at += len(word)
            line = _LINE.match(text[at : at + _MAX_VALUE_CHARS])
            yield _END.split(line[1])[0] if line else ""
            at = text.find(word, at)


def _paths_anywhere(text: str) -> Iterator[str]:
    """The paths behind labels and sentences that say where a client runs, in any words."""
    for found in _DIRECTORY_IN_ANY_WORDS.finditer(text):
        path = (found["line"] or found["word"]).strip().rstrip(".:")
        if path != "/" and not _NO_PATH.search(path):
            yield path


def _iso_day(text: str) -> str | None:
    match = _DAY.search(text)
    if match is None:
        return None
    words = match[0].replace(",", "")
    for form in _DAY_FORMATS:
        try:
            return datetime.strptime(words, form).date().isoformat()
        except ValueError:
            continue
    return None
