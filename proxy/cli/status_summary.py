"""How memory stands, on one line: for a shell's prompt and for Claude Code's status line.

It is asked again and again, so that it knows nothing but the standard library: no settings are read (the data folder is
that of ``--home`` or ``PALIMPSEST_HOME``), and a server that does not answer at once is not waited for.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from proxy.cli.home_owner import announced

NAME = "palimpsest"
SECONDS = 1.0
"""How long the server may take."""

MAX_WHY_CHARS = 60
"""Characters of what is wrong: the line stands beside others."""

_SIGNS = {"on": "", "read-only": "read-only", "paused": "paused", "off": "off", "missing": "opening"}


def home_of(arguments: Sequence[str], environment: Mapping[str, str]) -> Path | None:
    """The data folder that some arguments name; None where they say something else."""
    match list(arguments):
        case []:
            configured = environment.get("PALIMPSEST_HOME") or "~/.palimpsest"
        case ["--home", configured]:
            pass
        case _:
            return None
    return Path(configured).expanduser()


def glance(home: Path) -> tuple[str, int, dict[str, Any]]:
    """The line, the exit code by health (0 well, 1 not, 2 nothing runs), and what the server told."""
    found = announced(home)
    if found is None:
        return f"{NAME}: not running", 2, {"running": False}
    try:
        status = _fetch_status(found.url, (home / "token").read_text(encoding="utf-8").strip())
    except (OSError, ValueError, http.client.HTTPException):
        return f"{NAME}: does not answer", 1, {"running": True, "url": found.url}
    return line(status), int(status["status"] != "ok"), {"running": True, "url": found.url, **status}


def line(data: Mapping[str, Any]) -> str:
    """What the server told, in a few words."""
    sums = data.get("sums") or {}
    parts = [_SIGNS.get(data["memory"], data["memory"])]
    if data["status"] != "ok":
        why = data["why"][0] if data["why"] else "not well"
        parts = [f"! {why if len(why) <= MAX_WHY_CHARS else f'{why[:MAX_WHY_CHARS]}…'}"]
    elif data["memory"] in ("on", "read-only", "paused"):
        many = data["memories"]
        parts.append("1 memory" if many == 1 else f"{many:,} memories")
        parts.append(f"+{short(sums['added'])} tokens today" if sums.get("added") else "")
        parts.append(f"-{short(sums['shorter'])} shed" if sums.get("shorter") else "")
        net = sums.get("net") or 0.0
        parts.append(f"~${net:,.2f} saved" if net >= 0.005 else "")
        parts.append(f"{data['candidates']} to review" if data["candidates"] else "")
    text = ", ".join(filter(None, parts))
    return f"{NAME}: {text}"


def short(number: int) -> str:
    """A number in three or four letters."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + letter
    return str(number)


def _fetch_status(url: str, token: str) -> dict[str, Any]:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=SECONDS)
    try:
        connection.request("GET", "/palimpsest/api/glance", headers={"Authorization": f"Bearer {token}"})
        reply = connection.getresponse()
        data = json.loads(reply.read())
    finally:
        connection.close()
    if reply.status != http.HTTPStatus.OK or not isinstance(data, dict):
        raise ValueError(f"it answered {reply.status}")
    return data


def main(arguments: Sequence[str]) -> int | None:
    """Print the line and give the exit code; None where the arguments are for the whole command line."""
    home = home_of(arguments, os.environ)
    if home is None:
        return None
    line, code, _ = glance(home)
    print(line)
    return code
