"""Which names are ours, and which web pages may ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from proxy.auth.origins import cors_headers, is_own_host, is_preflight, preflight_headers, refusal_reason
from proxy.settings import ServerSettings

HOME = ServerSettings()
EVERYWHERE = ServerSettings(host="0.0.0.0")
OPEN = ServerSettings(
    hosts=("host.docker.internal",), origins=("http://localhost:3000", "HTTPS://Chat.Example/", "vscode-webview://*")
)


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("127.0.0.1:8484", True),
        ("127.0.0.1", True),
        ("127.9.9.9:1", True),
        ("localhost:8484", True),
        ("LOCALHOST", True),
        ("localhost.:8484", True),
        ("palimpsest.localhost:8484", True),
        ("[::1]:8484", True),
        ("", False),
        ("evil.example", False),
        ("evil.localhost", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example:8484", False),
        ("host.docker.internal:8484", False),
        ("10.0.0.1", False),
        ("0.0.0.0:8484", False),
        ("[::1", False),
        ("user@evil.example", False),
        ("localhost@evil.example", False),
        ("evil.example@localhost", False),
    ],
)
def test_on_a_loopback_address_only_loopback_names_are_ours(host: str, ours: bool) -> None:
    assert is_own_host(host, HOME) is ours


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("10.0.0.1:8484", True),
        ("[fe80::1]:8484", True),
        ("evil.example", False),
        ("localhost", True),
        ("0.0.0.0:8484", False),
    ],
)
def test_on_every_address_any_address_is_ours_but_no_foreign_name(host: str, ours: bool) -> None:
    assert is_own_host(host, EVERYWHERE) is ours


def test_the_name_that_we_were_told_to_listen_on_is_ours_and_so_are_those_of_the_settings() -> None:
    assert is_own_host("memory.lan:8484", ServerSettings(host="memory.lan"))
    assert is_own_host("Host.Docker.Internal:8484", OPEN)
    assert not is_own_host("docker.internal", OPEN)


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ({}, True),
        ({"Origin": "http://127.0.0.1:8484"}, True),
        ({"Origin": "http://127.0.0.1:8484", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Mode": "cors"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "Same-Site"}, False),
        ({"Sec-Fetch-Site": "whatever"}, False),
        ({"Sec-Fetch-Site": ""}, False),
        ({"Origin": "http://127.0.0.1:8484", "Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://127.0.0.1:9999"}, False),
        ({"Origin": "http://localhost:8484"}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "ftp://127.0.0.1:8484"}, False),
        ({"Origin": "http://[::1"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ""}, False),
        ({"Origin": "http://localhost:3000"}, False),
    ],
)
def test_only_a_page_of_our_own_may_ask(headers: dict[str, str], let_in: bool) -> None:
    assert (refusal_reason({"Host": "127.0.0.1:8484", **headers}, HOME) == "") is let_in


@pytest.mark.parametrize(
    ("origin", "let_in"),
    [
        ("http://localhost:3000", True),
        ("https://chat.example", True),
        ("vscode-webview://1a2b", True),
        ("http://localhost:3001", False),
        ("http://chat.example", False),
        ("https://chat.example.evil.example", False),
        ("https://chat.example:444", False),
        ("vscode-webview2://1a2b", False),
    ],
)
def test_a_page_of_the_settings_may_ask_from_wherever_it_is_and_is_told_so(origin: str, let_in: bool) -> None:
    headers = {"Host": "127.0.0.1:8484", "Origin": origin, "Sec-Fetch-Site": "cross-site"}
    assert (refusal_reason(headers, OPEN) == "") is let_in
    assert cors_headers(headers, OPEN).get("Access-Control-Allow-Origin") == (origin if let_in else None)
    assert refusal_reason({**headers, "Host": "evil.example"}, OPEN)


def test_a_preflight_is_answered_for_allowed_pages_only() -> None:
    asked = {
        "Origin": "http://localhost:3000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
        "Access-Control-Request-Private-Network": "true",
    }
    assert is_preflight("OPTIONS", asked) and not is_preflight("POST", asked) and not is_preflight("OPTIONS", {})
    told = preflight_headers(asked, OPEN)
    assert told["Access-Control-Allow-Headers"] == "authorization, content-type"
    assert (told["Access-Control-Allow-Methods"], told["Access-Control-Allow-Private-Network"]) == ("POST", "true")
    assert "Access-Control-Allow-Credentials" not in told
    assert preflight_headers({**asked, "Origin": "http://evil.example"}, OPEN) == {}


@pytest.mark.parametrize(
    "wrong",
    [{"origins": [each]} for each in ("*", "null", "https://*", "http://*.example", "file://*", "chat.example", "")]
    + [{"hosts": [each]} for each in ("*", "", "http://host", "host:8484", "*.example", "a/b")]
    + [{"require_key": "sometimes"}],
)
def test_settings_name_no_page_and_no_host_of_anybodys(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ServerSettings.model_validate(wrong)


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=20))
def test_whatever_the_headers_say_a_page_of_another_site_is_never_let_in(host: str, origin: str, site: str) -> None:
    headers = {"Host": host, "Origin": f"https://{origin}.example", "Sec-Fetch-Site": site}
    assert refusal_reason(headers, HOME)
