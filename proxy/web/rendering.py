"""Templates to pages. Everything that is written into one is escaped, and shows what it would rather hide."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from aiohttp import web

from memory.edits import named
from memory.hooks.command import count, where
from memory.language.polarity import unsaid
from memory.version import release
from proxy import explanations
from proxy.api.access import page_refused
from proxy.api.auth import access_of
from proxy.api.health import mode
from proxy.auth.web_sessions import WebSession
from proxy.edge import EDGE
from proxy.web.static import address
from proxy.web.visit import ROOT, PageVisit
from proxy.web.waiting import waiting

if TYPE_CHECKING:
    from jinja2 import Environment

NAME: Final = "palimpsest.localhost"

PAGES: Final = (
    ("", "Today"),
    ("memory", "Memory"),
    ("review", "Review"),
    ("page", "Page"),
    ("sessions", "Sessions"),
    ("research", "Research"),
    ("nights", "Nights"),
    ("money", "Money"),
    ("status", "Health"),
    ("organisation", "Organisation"),
    ("settings", "Settings"),
)
"""The pages by their paths, in the order of the menu."""

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""What has no shape of its own: it commands a terminal that the text is copied into, turns it around, or hides a part
of it."""


async def show(visit: PageVisit, template: str, title: str, status: int = 200, **data: Any) -> web.Response:
    """A page for somebody who has been let in."""
    frame = await _frame(visit, data) | {"notice": visit.session.notice}
    visit.session.notice = ""
    # In a thread: a page of fifty memories takes some ten milliseconds, in which streams go on.
    return await asyncio.to_thread(rendered, template, status, title=title, **frame)


async def part(visit: PageVisit, template: str, **data: Any) -> web.Response:
    """A part of a page, for one that stays open; what the next page tells once is left to that."""
    return await asyncio.to_thread(rendered, template, **await _frame(visit, data))


async def _frame(visit: PageVisit, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a page, and what stands on all of them; what waits is counted unless the page has done it."""
    session = visit.session
    return {
        "here": visit.request.path.removeprefix(ROOT).partition("/")[0],
        "form_value": session.form,
        "pages": [each for each in PAGES if _is_offered(visit, each[0])],
        "awaited": None if "awaited" in data else await waiting(visit),
        "who": session.token.name if session.token else "",
        "mode": mode(visit.edge),
        "exposed": visit.edge.settings.server.loopback and session.host.rpartition(":")[0] != NAME,
        "now": visit.now,
        **data,
    }


def _is_offered(visit: PageVisit, page: str) -> bool:
    """Whether a page stands in the menu: an organisation's where there is one."""
    if page == "organisation" and visit.access.member is None and visit.edge.settings.org is None:
        return False
    return not page_refused(visit.access, False, ROOT + page)


async def fault(request: web.Request, session: WebSession | None, status: int, sentence: str) -> web.Response:
    """The page that tells a fault; who is not let in is told how to be."""
    if session is None:
        return rendered("login.html", status, title="Log in", sentence=sentence)
    visit = PageVisit(request, session, await access_of(session.token, request.app[EDGE]))
    return await show(visit, "fault.html", "This did not work", status, sentence=sentence)


def rendered(template: str, status: int = 200, **data: Any) -> web.Response:
    """A template as an answer."""
    text = environment().get_template(template).render(**data)
    return web.Response(status=status, text=text, content_type="text/html")


@cache
def environment() -> Environment:
    """What the templates are made with."""
    # Imported late: a server that starts, and commands that open the stores themselves, need no pages.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    jinja = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    given: dict[str, Callable[..., Any] | str] = {
        "root": ROOT,
        "release": release(),
        "static": address,
    }
    jinja.globals.update(given)
    jinja.filters.update(
        ago=explanations.ago,
        because=explanations.because,
        changes=changes,
        client=explanations.client,
        counted=count,
        day=day,
        fate=explanations.fate,
        money=explanations.money,
        moment=moment,
        nothing=explanations.nothing,
        part=explanations.part,
        plain=plain,
        shed=explanations.shed,
        segment=lambda text: quote(str(text), safe=""),
        query=lambda given: urlencode({key: value for key, value in given.items() if value not in ("", None)}),
        where=where,
        unsaid=unsaid,
    )
    jinja.tests["handle"] = lambda text: named(text) is not None
    return jinja


def visible(value: Any) -> Any:
    """A text with a sign in the place of whatever has no shape; anything else as it is."""
    return _HIDDEN.sub(_sign, value) if type(value) is str else value


def moment(at: datetime, now: datetime) -> str:
    """A time as a person says it: of today its hour, of this year without it."""
    local, today = at.astimezone(now.tzinfo), now.date()
    if local.date() == today:
        return f"{local:%H:%M}"
    days = (today - local.date()).days
    if days == 1:
        return f"yesterday {local:%H:%M}"
    return f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y}"


def day(at: datetime | None) -> str:
    """The day of a time."""
    return f"{at.astimezone():%Y-%m-%d}" if at else ""


def changes(diff: str) -> list[tuple[str, str]]:
    """The lines of a diff, each behind what it is: ``plus``, ``minus``, ``same``, or the ``gap`` between two hunks. The
    file's name stands above a diff, and is not said again."""
    lines = diff.splitlines()
    if len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ "):
        lines = lines[2:]
    kinds = {"+": "plus", "-": "minus", "@": "gap"}
    told = [(kinds.get(line[:1], "same"), line) for line in lines]
    return [(kind, "⋯" if kind == "gap" else line) for place, (kind, line) in enumerate(told) if place or kind != "gap"]


def plain(value: Any) -> str:
    """A setting's value as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, "") or value == [] or value == {}:
        return "–"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain(inner)}" for key, inner in value.items())
    return ", ".join(map(plain, value)) if isinstance(value, list | tuple) else str(value)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
