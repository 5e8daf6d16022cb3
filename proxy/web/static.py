"""The files beside the pages: a style sheet, an icon, scripts. They hold nothing of anybody's: all may have them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from aiohttp import web

from proxy.errors import Refusal

FOLDER: Final = Path(__file__).parent / "static"

KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class StaticFile(NamedTuple):
    """A file that is served, and a mark of what it holds."""

    content: bytes
    kind: str
    mark: str


@cache
def files() -> dict[str, StaticFile]:
    """The files by their names: these are served and no others, so that no path leads out of the folder."""
    return {path.name: _file(path) for path in sorted(FOLDER.iterdir()) if path.suffix in KINDS}


def address(name: str) -> str:
    """Where a file is served, a new place for each new content."""
    return f"/palimpsest/static/{name}?v={files()[name].mark}"


async def static(request: web.Request) -> web.StreamResponse:
    """One file."""
    file = files().get(request.match_info["name"])
    if file is None:
        raise Refusal(404, "there is no such file")
    lasting = "public, max-age=31536000, immutable" if request.query.get("v") == file.mark else "no-cache"
    return web.Response(body=file.content, content_type=file.kind, charset="utf-8", headers={"Cache-Control": lasting})


def _file(path: Path) -> StaticFile:
    content = path.read_bytes()
    return StaticFile(content, KINDS[path.suffix], hashlib.sha256(content).hexdigest()[:12])
