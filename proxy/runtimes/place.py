"""Where a client runs: the directory, the git remote and the date that its environment block tells.

The project of a memory is named by it: the remote where one is known, so that every clone of a repository is one
project, else the directory.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote, urlsplit

LONGEST_PROJECT = 200
"""Characters of a project's name."""


@dataclass(frozen=True, slots=True)
class Place:
    """A client's surroundings, each None where it does not tell.

    ``directory`` is an absolute path on the client's machine; ``remote`` the URL of its git remote as it was
    told; ``date`` the client's day (ISO); ``timezone`` an IANA name.
    """

    directory: str | None = None
    remote: str | None = None
    date: str | None = None
    timezone: str | None = None


def place_in(text: str) -> Place:
    """What an environment block tells, in any runtime's words."""
    return Place(
        directory=next((path for match in _DIRECTORY.finditer(text) if (path := _path(_group(match)))), None),
        date=next((day for match in _DATE.finditer(text) if (day := _day(_group(match)))), None),
        timezone=zone[1] if (zone := _ZONE.search(text)) else None,
    )


def project_of(place: Place) -> str | None:
    """The name of the project at a place: its remote (``host/owner/repository``), else its directory, else None.

    The name is the same whichever way a remote is written, and never holds a credential.
    """
    named = (remote_name(place.remote) if place.remote else None) or place.directory
    if named is None or len(named) <= LONGEST_PROJECT:
        return named
    mark = hashlib.blake2b(named.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
    return f"{mark}…{named[-(LONGEST_PROJECT - len(mark) - 1) :]}"


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


_DIRECTORY = re.compile(
    r"<cwd>\s*(?P<a>[^<\n]+?)\s*</cwd>"
    r"|(?:^|\n)[ \t]*(?:[-*] |\d\. )?(?:Primary |Current |Your )?[Ww]orking [Dd]irectory(?: is)?:[ \t]*(?P<b>[^\n]+)"
    r"|I'm currently working in the directory:[ \t]*(?P<c>[^\n]+)"
    r"|(?:^|\n)[ \t]*(?:[-*] |\d\. )?(?:cwd|CWD|Cwd):[ \t]*(?P<d>[^\n]+)"
    r"|# Current Working Directory \((?P<e>[^)\n]+)\)"
)
_DATE = re.compile(
    r"<current_date>\s*(?P<a>[^<\n]{6,40}?)\s*</current_date>"
    r"|[Tt]oday's date(?: is)?:?[ \t]+(?P<b>[^\n]{6,40})"
    r"|[Cc]urrent date(?: is)?:[ \t]+(?P<c>[^\n]{6,40})"
    r"|(?:^|\n)[ \t]*(?:[-*] |\d\. )?Date:[ \t]+(?P<d>[^\n]{6,40})"
)
_ZONE = re.compile(r"<timezone>\s*([A-Za-z][A-Za-z0-9_+\-/]{0,60})\s*</timezone>")
_ABSOLUTE = re.compile(r"(?:/|~/|[A-Za-z]:[\\/]|\\\\)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SCP = re.compile(r"(?:[^@/\s:]+@)?(?P<host>[^@/\s:]+):(?P<path>[^\s].*)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{4}|[A-Za-z]+,? [A-Za-z]+ \d{1,2},? \d{4}")
_DAY_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%a %b %d %Y", "%A %B %d %Y")


def _group(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group), "")


def _path(told: str) -> str | None:
    """An absolute path out of what followed the words; None where it is none (a tool's description, say)."""
    path = told.strip().strip("`\"'").rstrip()
    if not _ABSOLUTE.match(path) or len(path) > 1000 or not path.isprintable():
        return None
    return path.rstrip("/\\") or path


def _day(told: str) -> str | None:
    """A day as ISO text."""
    match = _DAY.search(told)
    if match is None:
        return None
    words = match[0].replace(",", "")
    for form in _DAY_FORMATS:
        try:
            return datetime.strptime(words, form).date().isoformat()
        except ValueError:
            continue
    return None
