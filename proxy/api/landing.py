"""What a person reads who opens the printed address in a browser: it is for agents, and says what to do instead."""

from __future__ import annotations

from aiohttp import web

from memory.version import release

PATHS = ("/", "/palimpsest")

_CREDENTIALS = ("Authorization", "x-api-key", "x-goog-api-key", "x-palimpsest-key")

_TEXT = """\
Palimpsest {release} runs here. This address is for coding agents, to which it gives a memory.

  palimpsest open            its web page: what is remembered, what was added and why
  palimpsest connect NAME    point a client at it: claude, codex, opencode, …
  palimpsest run claude      start a client with a memory, once
  palimpsest status          how it stands
  palimpsest why             what it added to your last request, and from where

Whether it is well: {origin}/palimpsest/health
"""


def is_person(request: web.Request) -> bool:
    """Whether no client asks here: none of theirs comes without a credential."""
    return not any(name in request.headers for name in _CREDENTIALS)


async def hello(request: web.Request) -> web.Response:
    """A few lines, the same for everybody."""
    text = _TEXT.format(release=release(), origin=f"{request.scheme}://{request.host}")
    return web.Response(text=text, headers={"x-palimpsest-status": "hello", "Cache-Control": "no-store"})
