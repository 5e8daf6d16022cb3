"""Who is let in to the pages, and what no other page can make their browser do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proxy.auth.peer import Peers
from proxy.web import FORMS, PAGES
from tests.fake_provider import FakeProvider
from tests.proxy.api.asking import Asking
from tests.proxy.web.browsing import ROOT, Browser, let_in
from tests.running import Running, running

ID = "01234567"


def there(path: str) -> str:
    return path.format(id=ID, user="bob", name="laptop", number="1", handle=f"{ID}.0")


async def test_a_ticket_lets_one_browser_in_once(proxy: Running, ask: Asking) -> None:
    told = await ask("POST", "api/tickets", {}, status=201)
    first, second = Browser(proxy), Browser(proxy)
    page = await first.get(told["path"].removeprefix(ROOT), 303)
    cookie = page.headers["Set-Cookie"]
    assert page.headers["Location"] == ROOT
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and f"Path={ROOT}" in cookie
    await first.get("")
    assert "already" in (await second.get(told["path"].removeprefix(ROOT), 401)).text
    await second.get("", 401)


async def test_a_ticket_is_for_who_has_the_token(proxy: Running) -> None:
    await Asking(proxy, "")("POST", "api/tickets", {}, status=401)
    await Browser(proxy).get("open?ticket=", 401)


async def test_without_a_session_nothing_is_shown(proxy: Running, ask: Asking) -> None:
    await ask("POST", "api/remember", {"text": "The cluster is called heron"}, status=201)
    for path in PAGES:
        page = await Browser(proxy).get(there(path), 401)
        assert "palimpsest open" in page.text and "heron" not in page.raw
        assert "Log in" in page.text


async def test_the_token_lets_in_too_and_a_wrong_one_does_not(proxy: Running) -> None:
    browser = Browser(proxy)
    page = await browser.get("", 401)
    assert "not the token" in (await browser.submit(page, "login", 401, token="wrong")).text
    page = await browser.submit(page, "login", token=proxy.edge.token)
    assert "Today" in page.text
    assert (await browser.submit(page, "logout")).text.endswith("Log in")
    assert browser.cookie.endswith('""') or browser.cookie.endswith("=")
    await browser.get("", 401)


async def test_a_session_is_good_for_the_name_it_began_under(proxy: Running, browser: Browser) -> None:
    port = proxy.url.rpartition(":")[2]
    await browser.get("", 401, Host=f"palimpsest.localhost:{port}")
    await browser.get("", 401, Host="127.0.0.1:1")
    await browser.get("", 200)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": ""},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
async def test_a_form_of_another_page_changes_nothing(headers: dict[str, str], browser: Browser) -> None:
    form = (await browser.get("memory")).form("memory").fields
    for path in FORMS:
        await browser.post(ROOT + there(path), {**form, "text": "x", "pinned": "yes"}, 403, **headers)
    await browser.get("")


@pytest.mark.parametrize("token", ["", "x" * 43, None])
async def test_a_form_needs_the_token_of_its_session(token: str | None, proxy: Running, browser: Browser) -> None:
    other = (await (await let_in(proxy)).get("memory")).form("memory").fields["form"]
    fields = {"text": "I always want tabs", "form": other if token is None else token}
    assert "old one" in (await browser.post(f"{ROOT}memory", fields, 403)).text
    assert "I always want tabs" not in (await browser.get("memory")).text


async def test_a_form_is_a_form(browser: Browser) -> None:
    fields = (await browser.get("memory")).form("memory").fields
    await browser.post(f"{ROOT}memory", {**fields, "text": "x"}, 415, **{"Content-Type": "text/plain"})
    await browser.post(f"{ROOT}memory", {**fields, "text": "x" * 4_000_000}, 413)
    await browser.post(f"{ROOT}memory", {**fields, "text": "x" * 5_000}, 422)
    await browser.post(f"{ROOT}memory", {**fields, "text": "a\x1b[2Jb"}, 422)
    await browser.post(f"{ROOT}memory", {**fields, **{f"f{n}": "" for n in range(100)}}, 422)


async def test_a_page_of_server_origins_looks_at_nothing(provider: FakeProvider, tmp_path: Path) -> None:
    """It may send model requests; the pages are not for it."""
    origin = "http://localhost:3000"
    async with running(provider, tmp_path, server__origins=[origin]) as proxy:
        browser = await let_in(proxy)
        await browser.get("memory", 403, Origin=origin, **{"Sec-Fetch-Site": "cross-site"})
        form = (await browser.get("memory")).form("memory").fields
        await browser.post(f"{ROOT}memory", {**form, "text": "x"}, 403, Origin=origin)


@pytest.mark.parametrize("path", ["", "memory", "requests/nothing", "static/style.css", "static/nothing.js"])
async def test_every_answer_tells_the_browser_what_it_must_not_do(path: str, browser: Browser) -> None:
    headers = (await browser.get(path, 0)).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';") and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "*" not in policy and "data:" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    if not path.startswith("static/style"):
        assert headers["Cache-Control"] == "no-store"


async def test_the_cookie_never_goes_upstream(proxy: Running, provider: FakeProvider, browser: Browser) -> None:
    for path, body in (("/v1/chat/completions", {"model": "m", "messages": []}), ("/v1/embeddings", {"model": "m"})):
        await proxy.post(path, body, Cookie=f"theme=dark; {browser.cookie}", x_other=browser.cookie)
        assert "palimpsest" not in str(provider.last.headers).lower()
    await proxy.post("/v1/embeddings", {"model": "m"}, Cookie="theme=dark")
    assert "Cookie" not in provider.last.headers
    value = browser.cookie.partition("=")[2]
    status, _, _ = await proxy.post(f"/v1/models/{value}", {})
    assert status == 400


async def test_who_has_seen_the_cookie_opens_nothing_by_it(proxy: Running, browser: Browser) -> None:
    """A server of another user may be sent it, on another port of the same name."""
    fields = (await browser.get("memory")).form("memory").fields
    proxy.edge.peers = Peers(user=os.geteuid() + 1)
    page = await browser.get("memory", 401)
    assert fields["form"] not in page.raw
    await browser.post(f"{ROOT}memory", {**fields, "text": "x"}, 401)
    assert fields["form"] not in (await browser.post(f"{ROOT}memory", fields, 403, Origin="null")).raw


async def test_behind_a_forwarder_of_another_user_there_is_the_token(proxy: Running, ask: Asking) -> None:
    proxy.edge.peers = Peers(user=os.geteuid() + 1)
    told = await ask("POST", "api/tickets", {}, status=201)
    browser = Browser(proxy)
    page = await browser.get(told["path"].removeprefix(ROOT), 403)
    assert "The token does." in page.text
    assert "Today" in (await browser.submit(page, "login", token=proxy.edge.token)).text
    await browser.get("memory")


async def test_the_pages_say_that_a_shared_name_is_one(proxy: Running, browser: Browser) -> None:
    assert "ours alone" in (await browser.get("")).text
    host = f"palimpsest.localhost:{proxy.url.rpartition(':')[2]}"
    told = await Asking(proxy, proxy.edge.token)("POST", "api/tickets", {}, status=201)
    named = Browser(proxy)
    await named.get(told["path"].removeprefix(ROOT), 303, Host=host)
    assert "ours alone" not in (await named.get("", Host=host)).text
