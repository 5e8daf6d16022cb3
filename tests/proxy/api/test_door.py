"""Nobody comes in without the token, no web page, and nobody who calls us by a foreign name."""

from __future__ import annotations

import stat

import pytest

from proxy.api.door import is_ours, is_token, turned_away
from proxy.settings import ServerSettings
from tests.proxy.api.asking import Asking
from tests.running import Running

HOME = ServerSettings()
EVERYWHERE = ServerSettings(host="0.0.0.0")


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("127.0.0.1:8484", True),
        ("127.0.0.1", True),
        ("127.9.9.9:1", True),
        ("localhost:8484", True),
        ("LOCALHOST", True),
        ("localhost.:8484", True),
        ("[::1]:8484", True),
        ("", False),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example:8484", False),
        ("10.0.0.1", False),
        ("[::1", False),
        ("user@evil.example", False),
    ],
)
def test_on_a_loopback_address_only_loopback_names_are_ours(host: str, ours: bool) -> None:
    assert is_ours(host, HOME) is ours


@pytest.mark.parametrize(
    ("host", "ours"), [("10.0.0.1:8484", True), ("[fe80::1]:8484", True), ("evil.example", False), ("localhost", True)]
)
def test_on_every_address_any_address_is_ours_but_no_foreign_name(host: str, ours: bool) -> None:
    assert is_ours(host, EVERYWHERE) is ours


def test_the_name_that_we_were_told_to_listen_on_is_ours() -> None:
    assert is_ours("memory.lan:8484", ServerSettings(host="memory.lan"))


@pytest.mark.parametrize(
    ("origin", "let_in"),
    [
        ("http://127.0.0.1:8484", True),
        ("http://127.0.0.1:9999", False),
        ("http://evil.example", False),
        ("null", False),
        ("", False),
    ],
)
def test_only_a_page_of_our_own_may_ask(origin: str, let_in: bool) -> None:
    headers = {"Host": "127.0.0.1:8484", "Origin": origin}
    assert (turned_away(headers, HOME) == "") is let_in


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ({"Authorization": "Bearer right"}, True),
        ({"Authorization": "bearer  right"}, True),
        ({"x-palimpsest-token": "right"}, True),
        ({"Authorization": "Basic right"}, False),
        ({"Authorization": "right"}, False),
        ({"Authorization": "Bearer wrong"}, False),
        ({"Authorization": "Bearer "}, False),
        ({"x-palimpsest-token": "rightly"}, False),
        ({"x-palimpsest-token": "r\udcffght"}, False),
        ({}, False),
    ],
)
def test_the_token_is_the_whole_token(headers: dict[str, str], let_in: bool) -> None:
    assert is_token(headers, "right") is let_in


def test_an_empty_token_lets_nobody_in() -> None:
    assert not is_token({}, "") and not is_token({"Authorization": "Bearer "}, "")


async def test_only_health_asks_for_no_token(proxy: Running) -> None:
    stranger = Asking(proxy, "")
    assert (await stranger("GET", "health"))["status"] == "ok"
    for method, path in [
        ("GET", "metrics"),
        ("GET", "api/status"),
        ("GET", "api/facts"),
        ("DELETE", "api/facts/abcd"),
        ("POST", "api/forget"),
        ("GET", "api/config"),
        ("GET", "api/nothing"),
    ]:
        told = await stranger(method, path, status=401)
        assert "token" in told["error"] and proxy.edge.token not in str(told)


async def test_a_web_page_gets_nothing_even_with_the_token(ask: Asking) -> None:
    assert "page" in (await ask("GET", "api/facts", status=403, Origin="http://evil.example"))["error"]
    assert "called" in (await ask("GET", "api/facts", status=403, Host="evil.example"))["error"]
    assert "called" in (await ask("GET", "health", status=403, Host="evil.example"))["error"]


async def test_the_token_lies_in_a_file_that_only_its_owner_can_read(proxy: Running) -> None:
    home = proxy.edge.settings.home
    assert stat.S_IMODE((home / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert (home / "token").read_text().strip() == proxy.edge.token


async def test_every_fault_is_a_sentence_in_json(ask: Asking) -> None:
    assert "nothing at" in (await ask("GET", "api/nothing", status=404))["error"]
    told = await ask("PUT", "api/search", status=405)
    assert "GET" in told["error"]
