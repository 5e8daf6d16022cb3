"""A browser without scripts: it keeps its cookie, follows what it is sent to, and fills forms in as they stand."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from multidict import CIMultiDictProxy
from yarl import URL

from tests.proxy.api.asking import asking
from tests.running import Running

ROOT = "/palimpsest/"
FORM = "application/x-www-form-urlencoded"


@dataclass
class Form:
    """A form as it stands in a page."""

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.elements.append((tag, told))
        name = told.get("name") or ""
        if tag == "form":
            self.forms.append(Form(told.get("method") or "get", told.get("action") or ""))
        elif tag == "input" and name and self.forms and told.get("type") not in ("checkbox", "password"):
            self.forms[-1].fields[name] = told.get("value") or ""
        elif tag == "textarea" and name:
            self._area = name
            self.forms[-1].fields[name] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1].fields[self._area] += data
        else:
            self.text += data


@dataclass
class Html:
    """A page that was got."""

    url: str
    status: int
    headers: CIMultiDictProxy[str]
    raw: str

    def __post_init__(self) -> None:
        reader = _Reader()
        reader.feed(self.raw)
        self.forms, self.elements = reader.forms, reader.elements
        self.text = " ".join(reader.text.split())

    def form(self, action: str) -> Form:
        """The form that is sent to an address which ends so; one that changes something before one that asks."""
        found = [each for each in self.forms if urlsplit(each.action).path.endswith(action)]
        return min(found, key=lambda each: each.method != "post")

    @property
    def links(self) -> list[str]:
        """Where the page's links lead."""
        return [str(told["href"]) for tag, told in self.elements if tag == "a" and told.get("href")]


@dataclass
class Browser:
    """Looks at a running proxy's pages under one name."""

    running: Running
    cookie: str = ""

    @property
    def origin(self) -> str:
        """Whose pages these are."""
        return str(URL(self.running.url).origin())

    async def get(self, path: str, status: int = 200, **headers: str) -> Html:
        """A page."""
        return await self._send("GET", ROOT + path, None, status, headers)

    async def fetch(self, path: str) -> bytes:
        """What a page has, unread."""
        async with self.running.client.get(self.running.url + ROOT + path, headers={"Cookie": self.cookie}) as reply:
            return await reply.read()

    async def submit(self, page: Html, action: str, status: int = 200, **filled: str) -> Html:
        """Fill a form of a page in, and where that leads."""
        form = page.form(action)
        return await self.post(form.action, {**form.fields, **filled}, status)

    async def post(self, path: str, fields: dict[str, str], status: int = 200, **headers: str) -> Html:
        """Send a form, as a browser does from a page of the same origin."""
        given = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin", "Content-Type": FORM, **headers}
        told = await self._send("POST", path, urlencode(fields).encode(), 0, given)
        if told.status == 303:
            return await self._send("GET", urljoin(path, told.headers["Location"]), None, status, {})
        assert told.status == (status or told.status), (told.status, told.text)
        return told

    async def _send(self, method: str, path: str, body: bytes | None, status: int, headers: dict[str, str]) -> Html:
        sent = {key.replace("_", "-"): value for key, value in headers.items() if value}
        if self.cookie:
            sent.setdefault("Cookie", self.cookie)
        url = URL(self.running.url + path, encoded=True)
        data = None if body is None else io.BytesIO(body)
        async with self.running.client.request(method, url, data=data, headers=sent, allow_redirects=False) as reply:
            if cookie := reply.headers.get("Set-Cookie"):
                self.cookie = cookie.partition(";")[0]
            told = Html(path, reply.status, reply.headers, (await reply.read()).decode())
        assert not status or told.status == status, (path, told.status, told.text[-500:])
        return told


async def let_in(running: Running) -> Browser:
    """A browser that came by a ticket."""
    told: dict[str, Any] = await asking(running)("POST", "api/tickets", {}, status=201)
    browser = Browser(running)
    await browser.get(told["path"].removeprefix(ROOT), 303)
    return browser
