"""Memory's tools over our own endpoint: for whom, how far, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.running import Running, running

NOTE = {"arguments": {"action": "add", "text": "The staging cluster is called heron since the move."}}
SEARCH = {"arguments": {"query": "What is the staging cluster called?"}}


async def test_what_one_project_noted_another_does_not_find(ask: Asking) -> None:
    noted = await ask("POST", "api/tools/memory_note?project=zoo", NOTE)
    assert noted["text"].startswith("Noted as ")
    assert "heron" in (await ask("POST", "api/tools/memory_search?project=zoo", SEARCH))["text"]
    assert "heron" not in (await ask("POST", "api/tools/memory_search?project=farm", SEARCH))["text"]
    assert "heron" not in (await ask("POST", "api/tools/memory_search?project=zoo&user=bob", SEARCH))["text"]
    [fact] = (await ask("GET", "api/facts?project=zoo"))["facts"]
    assert fact["origin"] == "tool"


async def test_a_call_that_is_wrong_is_told_or_refused(ask: Asking) -> None:
    assert "There is no tool" in (await ask("POST", "api/tools/bash", {}))["text"]
    assert "query is missing" in (await ask("POST", "api/tools/memory_search", {}))["text"]
    assert "no field" in (await ask("POST", "api/tools/memory_search", {"query": "x"}, status=422))["error"]
    assert "arguments is not" in (await ask("POST", "api/tools/memory_search", {"arguments": []}, status=422))["error"]


async def test_without_the_token_nothing_is_told(ask: Asking) -> None:
    await replace(ask, token="")("POST", "api/tools/memory_search", SEARCH, status=401)


async def test_while_memory_is_paused_no_notes_are_taken(ask: Asking, proxy: Running) -> None:
    assert proxy.edge.memory is not None
    proxy.edge.memory.pause.begin()
    assert "takes no notes" in (await ask("POST", "api/tools/memory_note?project=zoo", NOTE))["text"]


async def test_a_project_that_is_switched_off_is_asked_nothing(tmp_path: Path) -> None:
    projects = {"zoo": {"memory": "off"}, "farm": {"memory": "read-only"}}
    async with fake_provider() as provider, running(provider, tmp_path, projects=projects) as proxy:
        ask = asking(proxy)
        assert "switched off" in (await ask("POST", "api/tools/memory_search?project=zoo", SEARCH, status=403))["error"]
        assert "takes no notes" in (await ask("POST", "api/tools/memory_note?project=farm", NOTE))["text"]
