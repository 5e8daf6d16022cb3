"""Who logs in by a token of their own sees and does what it is for, for as long as it is in force, on a public address
too."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest_asyncio
from msgspec.structs import replace

from proxy.auth.tokens import FILE, TokenRole, new_token, read_tokens, write_tokens
from tests.fake_provider import FakeProvider
from tests.proxy.api.asking import Asking
from tests.proxy.web.browsing import FORM, Browser, Html
from tests.running import Running, running

ANN, BOB = "Ann's cat is called Zorro.", "Bob's dog is called Rex."


@pytest_asyncio.fixture
async def told(ask: Asking) -> dict[str, str]:
    """A memory of each, by its person."""
    return {
        user: (await ask("POST", f"api/remember?user={user}&project=loom", {"text": text}, status=201))["id"]
        for user, text in (("ann", ANN), ("bob", BOB))
    }


def issued(proxy: Running, role: TokenRole, user: str | None = None, **more: Any) -> str:
    text, made = new_token(f"{role}-{user}", role, datetime.now(UTC), user, **more)
    file = proxy.edge.settings.home / FILE
    write_tokens(file, [*read_tokens(file), made])
    return text


async def logged_in(proxy: Running, token: str) -> tuple[Browser, Html]:
    browser = Browser(proxy)
    return browser, await browser.submit(await browser.get("", 401), "login", token=token)


async def test_a_user_sees_their_own_and_nothing_of_others(proxy: Running, ask: Asking, told: dict[str, str]) -> None:
    await proxy.chat("Where do I deploy?", session="local-session")
    ann, page = await logged_in(proxy, issued(proxy, TokenRole.USER, "ann"))
    assert "By the token user-ann" in page.text and "Nights" not in page.text and "Settings" not in page.text
    memory = await ann.get("memory")
    assert ANN in memory.text and BOB not in memory.text
    assert ANN in (await ann.get(f"memory/{told['ann']}")).text
    await ann.get(f"memory/{told['bob']}", 404)
    await ann.post(f"/palimpsest/memory/{told['bob']}/forget", {"form": memory.form("memory").fields["form"]}, 404)
    for query in ("?user=bob", "?org=acme"):
        assert "not for that" in (await ann.get(f"memory{query}", 403)).text
    for path in ("nights", "nights/1", "status", "settings", "settings/try"):
        assert "for admins" in (await ann.get(path, 403)).text
    assert (await ann.get("sessions")).text.count("loom") == 0
    for path in ("", "review", "page?project=loom", "research", "money"):
        found = await ann.get(path)
        assert BOB not in found.text and "Where do I deploy" not in found.text
    await ann.submit(await ann.get(f"memory/{told['ann']}"), f"memory/{told['ann']}/pin", pinned="yes")
    assert (await ask("GET", f"api/facts/{told['ann']}?user=ann"))["pinned"]


async def test_what_holds_for_others_is_for_admins(proxy: Running, told: dict[str, str]) -> None:
    ann, page = await logged_in(proxy, issued(proxy, TokenRole.USER, "ann"))
    form = {"form": page.form("logout").fields["form"]}
    for path in (f"memory/{told['ann']}/promote", "review/abcdef/approve", "nights/1/undo", "status/pause"):
        assert "for admins" in (await ann.post(f"/palimpsest/{path}", form, 403)).text


async def test_one_that_may_only_read_changes_nothing(proxy: Running, told: dict[str, str]) -> None:
    reader, _ = await logged_in(proxy, issued(proxy, TokenRole.READ, "ann"))
    page = await reader.get(f"memory/{told['ann']}")
    assert "may only read" in (await reader.submit(page, f"memory/{told['ann']}/pin", 403)).text
    assert (await reader.submit(page, "logout")).text.endswith("Log in")


async def test_a_session_ends_with_its_token(proxy: Running, told: dict[str, str]) -> None:
    text = issued(proxy, TokenRole.USER, "ann")
    ann, _ = await logged_in(proxy, text)
    file = proxy.edge.settings.home / FILE
    write_tokens(file, [replace(each, revoked_at=datetime.now(UTC)) for each in read_tokens(file)])
    await ann.get("memory", 401)
    write_tokens(file, [])
    await ann.get("memory", 401)
    again = Browser(proxy)
    assert "not the token" in (await again.submit(await again.get("", 401), "login", 401, token=text)).text


async def test_an_admin_does_all(proxy: Running, ask: Asking) -> None:
    admin, page = await logged_in(proxy, issued(proxy, TokenRole.ADMIN))
    assert "Nights" in page.text and "Settings" in (await admin.get("settings")).text
    asked = [(each["who"], each["what"]) for each in (await ask("GET", "api/audit"))["audit"]]
    assert ("admin-None", "GET settings") in asked, "what is looked at by a token is written down"


async def test_on_a_public_address_a_token_lets_in(provider: FakeProvider, tmp_path: Path) -> None:
    credentials = [{"key": "k" * 32, "user": "ann", "projects": ["*"]}]
    public = {"server__host": "0.0.0.0", "server__hosts": ["memory.example"], "credentials": credentials}
    async with running(provider, tmp_path / "public", **public) as proxy:
        token, browser = issued(proxy, TokenRole.USER, "ann"), Browser(proxy)
        page = await browser.get("", 401, Host="memory.example")
        filled = urlencode({**page.form("login").fields, "token": token})
        name = {"Host": "memory.example", "Content-Type": FORM}
        came = await sent(proxy, filled, {**name, "Origin": "https://evil.example"})
        assert came.status == 403
        came = await sent(proxy, filled, {**name, "Origin": "https://memory.example"})
        assert came.status == 303 and "Secure" in came.headers["Set-Cookie"]
        browser.cookie = came.headers["Set-Cookie"].partition(";")[0]
        assert "By the token user-ann" in (await browser.get("memory", Host="memory.example")).text
        await browser.get("memory", 401, Host="localhost")


async def sent(proxy: Running, filled: str, headers: dict[str, str]) -> aiohttp.ClientResponse:
    async with proxy.client.post(
        f"{proxy.url}/palimpsest/login", data=filled, headers=headers, allow_redirects=False
    ) as reply:
        return reply
