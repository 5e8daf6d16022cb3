"""``palimpsest open``: the address that lets one browser in."""

from __future__ import annotations

import webbrowser
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import pytest

from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run


def test_the_address_is_printed_and_lets_a_browser_in_once(server: RunningServer) -> None:
    plain = run("open", "--print", "--plain").out.strip()
    assert plain.startswith(f"{server.url}/palimpsest/open?ticket=")
    opener = build_opener(ProxyHandler({}), HTTPCookieProcessor())
    with opener.open(plain) as reply:
        assert reply.url == f"{server.url}/palimpsest/" and b"Learnt today" in reply.read()


def test_the_page_has_a_name_of_its_own(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    port = server.url.rpartition(":")[2]
    told = run("open", "--json").json
    assert told["url"].startswith(f"http://palimpsest.localhost:{port}/palimpsest/open?ticket=")
    assert told["seconds"] == 60
    opened: list[str] = []

    def browser(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", browser)
    assert "opened" in run("open").out and opened[0].startswith("http://palimpsest.localhost")
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    told_of = run("open")
    assert "yourself" in told_of.err and told_of.out.startswith("http://palimpsest.localhost")


def test_without_a_server_there_is_nothing_to_open() -> None:
    told = run("open")
    assert told.code == 2 and "no server runs" in told.err
