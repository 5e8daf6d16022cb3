"""What was remembered may be anybody's text: on a page it is text and nothing else."""

from __future__ import annotations

import re

import pytest

from proxy.web.rendering import visible
from tests.fake_provider import FakeProvider
from tests.memory.features.approvals.test_routes import put_forward
from tests.proxy.api.asking import asking
from tests.proxy.web.browsing import Browser
from tests.running import Running

HOSTILE = (
    "The cluster is called heron<img src=x onerror='window.hacked=1'>.",
    'We decided on </textarea></form><script>window.hacked=1</script><a href="javascript:window.hacked=1">heron</a>.',
    "I prefer <svg onload=window.hacked=1><use href='data:image/svg+xml,x'/></svg> \" onfocus=window.hacked=1 a='.",
    "Always write {{ 7*7 }} {% raw %} ${7*7} #{7*7} and [heron](javascript:window.hacked=1) <!-- -->.",
    "The heron <style>body{display:none}</style><iframe src=//evil.example></iframe><base href=//evil.example>.",
)
TURNED = "The heron \u202eeldruh\u202c \u200b\u2066x\u2069 \U000e0041\U000e0042 waits."

ELEMENTS = frozenset(("script", "img", "svg", "iframe", "style", "base", "object", "embed", "use", "link", "meta"))
"""What a text could do something with."""


async def plant(proxy: Running, provider: FakeProvider) -> list[str]:
    """Say, remember and put such texts forward; the paths of some memories' pages."""
    ask = asking(proxy)
    found = []
    for text in (*HOSTILE, TURNED):
        told = await ask("POST", "api/remember?project=loom", {"text": text}, status=201)
        found.append(f"memory/{told['id']}")
    made = await put_forward(ask, f"Always {HOSTILE[0]}")
    name = "<img src=x onerror=window.hacked=1>"
    provider.reply = f"Heron {HOSTILE[1]}"
    await proxy.chat(f"Which heron? {HOSTILE[2]}", session=name, project=name, model=name)
    await proxy.learned()
    provider.reply = "OK."
    return [*found, *(f"{path}/{page}" for path in found[:2] for page in ("wrong", "forget")), f"review/{made['id']}"]


async def test_a_text_is_a_text_on_every_page(proxy: Running, provider: FakeProvider, browser: Browser) -> None:
    planted = await plant(proxy, provider)
    plain = await browser.get("status")
    frame = [each for each in plain.elements if each[0] in ELEMENTS]
    pages = ("", "memory", "memory?q=heron", "review", "page?project=loom", "page?project=boat", "why", "sessions")
    seen = 0
    for path in (*planted, *pages, f"{planted[-1]}/edit", f"{planted[-1]}/approve"):
        page = await browser.get(path)
        seen += "window.hacked" in page.raw
        ours = [(tag, told) for tag, told in page.elements if tag in ELEMENTS and told.get("class") != "plot"]
        extra = [each for each in ours if each not in frame and each[0] not in ("script", "svg")]
        assert extra == [], (path, extra)
        for tag, told in page.elements:
            assert not [name for name in told if name.startswith("on") or name == "style"], (path, tag, told)
            target = told.get("href") or told.get("src") or told.get("action") or ""
            assert target.startswith(("/palimpsest/", "#")) or not target, (path, tag, told)
        for src in (told.get("src") or "" for tag, told in page.elements if tag == "script"):
            assert src.startswith("/palimpsest/static/"), path
        assert not re.search("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\x1b]", page.raw), path
    assert seen > 8, "the texts are there"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred\x07", "a␛[31mred␇"),
        ("left\u202eright", "left�right"),
        ("a\x7f\x9b1m", "a␡�1m"),
        ("tag\U000e0041", "tag�"),
        ("\ud800", "�"),
        ("lines\nand\ttabs", "lines\nand\ttabs"),
        ("naïve 日本 👩‍👩‍👧 العربية", "naïve 日本 👩‍👩‍👧 العربية"),
    ],
)
def test_what_would_hide_or_command_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
