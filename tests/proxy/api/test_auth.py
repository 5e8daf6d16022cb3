"""Nobody comes in without the token, no web page, and nobody who calls us by a foreign name."""

from __future__ import annotations

import stat

import pytest

from proxy.api.auth import is_token
from tests.proxy.api.asking import Asking
from tests.running import Running


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
    assert "not allowed" in (await ask("GET", "api/facts", status=403, Host="evil.example"))["error"]
    assert "not allowed" in (await ask("GET", "health", status=403, Host="evil.example"))["error"]


async def test_the_token_lies_in_a_file_that_only_its_owner_can_read(proxy: Running) -> None:
    home = proxy.edge.settings.home
    assert stat.S_IMODE((home / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert (home / "token").read_text().strip() == proxy.edge.token


async def test_every_fault_is_a_sentence_in_json(ask: Asking) -> None:
    assert "nothing at" in (await ask("GET", "api/nothing", status=404))["error"]
    told = await ask("PUT", "api/search", status=405)
    assert "GET" in told["error"]
