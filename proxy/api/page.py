"""MEMORY.md of a user and a project: read it, and write its files as a person would with an editor."""

from __future__ import annotations

from datetime import datetime
from difflib import unified_diff
from typing import TypedDict

from aiohttp import web

from memory.context.pack import tokens_of
from memory.context.page import tokens_by_part
from memory.fact import Stream
from memory.hooks.route_request import checked_text, choice
from memory.parts import Memory
from memory.scope import Scope
from proxy.api.access import access
from proxy.api.params import body_of, memory_of, scope_of, taught
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()

OWN = "own"
"""The name of the person's own words; each stream's is its name."""

MAX_PAGE_CHARS = 20_000
SESSIONS = 200
"""Sessions at most of which it is told what page they began with."""


class PageFile(TypedDict):
    """A file that the page is made of: its stream, its name, where it lies, and what it says."""

    stream: Stream
    name: str
    file: str
    text: str


class PageBudget(TypedDict):
    """Tokens of the whole page, of its ``parts`` (``own``, and each stream by its name), which add up to it, and how
    many what is made of memory may have."""

    whole: int
    most: int
    parts: dict[str, int]


class PageAndFiles(TypedDict):
    """The whole page, what of it the person wrote (``own``), where it lies, its files, what of them could not be taken
    back, and what of its budget each part has."""

    text: str
    own: str
    file: str
    files: list[PageFile]
    faults: tuple[str, ...]
    budget: PageBudget


class PageState(TypedDict):
    """A state of the page: its text, the lines that it gained and lost over the one before (``diff``), when the first
    and the last session was given it, and how many were."""

    text: str
    since: datetime
    until: datetime
    sessions: int
    diff: str


class PageHistory(TypedDict):
    """The states of the page, the newest first."""

    pages: list[PageState]


@routes.get("/api/page")
async def read(request: web.Request) -> Json[PageAndFiles]:
    """The whole page, what of it the person wrote, the files that it is made of, and where they lie."""
    scope = _scope(request)
    return answer(await _page_json(memory_of(request), scope))


@routes.get("/api/page/history")
async def history(request: web.Request) -> Json[PageHistory]:
    """The page as sessions of the project were given it, each state of it once, the newest first."""
    return answer({"pages": await states(memory_of(request), _scope(request))})


@routes.put("/api/page")
async def write(request: web.Request) -> Json[PageAndFiles]:
    """``{"own": …, "files": {"identity": …}}``: the person's own words, and streams' files as they are to be; lines
    that are new, changed or gone in those are taken back into memory. What could not be taken is told as ``faults``;
    where a line is of what others maintain, nothing is written."""
    scope = taught(_scope(request))
    body = await body_of(request, {"own": str, "files": dict})
    if not body:
        raise Refusal(422, "own is missing: the person's own words; or files: the text of each stream that has changed")
    own = checked_text(body["own"], "own", longest=MAX_PAGE_CHARS) if "own" in body else None
    streams = {}
    for name, text in body.get("files", {}).items():
        if not isinstance(text, str):
            raise Refusal(422, f"files.{str(name)[:20]} is not a text")
        stream = choice(name, "a name in files", Stream)
        streams[stream] = checked_text(text, f"files.{stream}", longest=MAX_PAGE_CHARS)
    memory = memory_of(request)
    await memory.commands.write_page(scope, own, streams, access().asker)
    return answer(await _page_json(memory, scope))


async def states(memory: Memory, scope: Scope) -> list[PageState]:
    """Each state of the page with the lines that it gained and lost over the one before, when the first session was
    given it, when the last one was, and how many."""
    found: list[PageState] = []
    for at, text in await memory.journal.pages_given(scope, SESSIONS):
        if found and found[-1]["text"] == text:
            found[-1]["since"] = at
            found[-1]["sessions"] += 1
        else:
            found.append({"text": text, "since": at, "until": at, "sessions": 1, "diff": ""})
    for newer, before in zip(found, [*(each["text"] for each in found), ""][1:], strict=True):
        lines = newer["text"].splitlines()
        newer["diff"] = "\n".join([*unified_diff(before.splitlines(), lines, lineterm="", n=0)][2:])
    return found


async def _page_json(memory: Memory, scope: Scope) -> PageAndFiles:
    text = await memory.commands.page(scope)
    files = await memory.pages.files(scope)
    own = await memory.pages.own(scope)
    return {
        "text": text,
        "own": own,
        "file": str(memory.pages.path(scope)),
        "files": [
            {"stream": stream, "name": file.name, "file": str(file), "text": content}
            for stream, (file, content) in files.items()
        ],
        "faults": memory.pages.faults(scope),
        "budget": budget(text, own, memory.settings.page.tokens),
    }


def budget(text: str, own: str, most: int) -> PageBudget:
    """What of a page's tokens each part of it has."""
    parts = {OWN if stream is None else stream.value: size for stream, size in tokens_by_part(text, own).items()}
    return {"whole": tokens_of(text), "most": most, "parts": parts}


def _scope(request: web.Request) -> Scope:
    scope = scope_of(request)
    if scope.project is None:
        raise Refusal(422, "project is missing: there is a page for each user and project")
    return scope
