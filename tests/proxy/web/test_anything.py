"""Whatever stands in an address or a form, the answer is a page, and none says that something failed here."""

from __future__ import annotations

import itertools
from urllib.parse import quote

import pytest

from proxy.web import FORMS, PAGES
from tests.proxy.web.browsing import ROOT, Browser

ODD = (
    "%00%00%00%00",
    "....",
    "%2e%2e%2f%2e%2e%2fetc",
    "a" * 3000,
    quote("дом ☃ 日本"),
    "%ff%fe%fd%fc",
    "%ed%a0%80aaa",
    "abcd%0d%0aSet-Cookie:x",
    "99999999999999999999",
    "-1",
    "' OR 1=1 --".replace(" ", "%20"),
    "%25",
    "r:00000000",
)
PATHS = ("", "memory", "page", "research", "settings", "sessions", "news", "why", "open", "static/keys.js")
KEYS = ("q", "project", "kind", "origin", "state", "from", "to", "since", "trail", "changed", "v", "ticket")


@pytest.mark.parametrize("odd", ODD)
async def test_any_address_is_answered(odd: str, browser: Browser) -> None:
    for path in PAGES:
        page = await browser.get(path.replace("{id}", odd).replace("{number}", odd).replace("{handle}", odd), 0)
        assert page.status < 500, (path, page.text)
        assert page.headers.get("Set-Cookie") is None
    # Each key at each path, with every fourth of the odd values.
    turn = ODD.index(odd) % 4
    for path, key in list(itertools.product(PATHS, KEYS))[turn::4]:
        assert (await browser.get(f"{path}?{key}={odd}", 0)).status < 500, (path, key)


@pytest.mark.parametrize(
    "odd", ["\x00", "x" * 100_000, "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), ""]
)
async def test_any_form_is_answered(odd: str, browser: Browser) -> None:
    token = (await browser.get("memory")).form("memory").fields["form"]
    for path in FORMS:
        if path == "logout":
            continue
        fields = dict.fromkeys(("text", "to", "why", "confirm", "pinned", "own", "identity", "own.mark"), odd)
        where = ROOT + path.replace("{id}", "abcd1234").replace("{number}", "7")
        for query in ("", "?project=loom", "?project=%00"):
            assert (await browser.post(where + query, {**fields, "form": token}, 0)).status < 500, path
