"""A format that is one file and one entry has memory: it reads, is written into, is journaled, and teaches."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from aiohttp import web

from proxy import wire
from proxy.api.render_messages import rendered
from tests.fake_provider import fake_provider
from tests.proxy.wire.stub_talk import StubTalk
from tests.running import running

TOLD = "Please remember: the billing service is deployed on port 7443."
ASKED = "On which port is the billing service deployed?"
HERE = {"x_palimpsest_project": "demo", "x_palimpsest_session": "s1"}


async def _answers(request: web.Request) -> web.Response:
    return web.json_response({"answer": "Good.", "used": {"in": 5, "out": 2}})


def _said(text: str) -> bytes:
    return orjson.dumps({"model": "m", "turns": [{"by": "person", "text": text}], "zz": 1e3})


async def test_one_file_and_one_entry_are_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(wire.DIALECTS, "/stub/talk", StubTalk())
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        provider.answer = _answers
        status, reply, _ = await proxy.post("/stub/talk", _said(TOLD), **HERE)
        assert status == 200 and orjson.loads(reply)["answer"] == "Good."
        assert provider.last.path == "/stub/talk" and provider.last.body == _said(TOLD)
        await proxy.learned()
        _, _, headers = await proxy.post("/stub/talk", _said(ASKED), **{**HERE, "x_palimpsest_session": "s2"})
        assert headers["x-palimpsest-status"].startswith("remembered")
        forwarded = provider.last.body
        assert b"7443" in forwarded and forwarded.endswith(b'"zz":1000.0}')
        assert orjson.loads(forwarded)["turns"][0]["text"].startswith(ASKED)
    view = StubTalk().read(forwarded, str)
    assert rendered(StubTalk.name, view.conversation.messages)[0]["content"].startswith(ASKED)
