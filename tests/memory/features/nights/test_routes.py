"""Nights over HTTP: begun, asked after, listed, looked at, taken back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memory.features.nights.runner import NightRunner
from tests.proxy.api.asking import Asking

SAME = ("Always run the unit tests before a push", "always run all the unit tests before each push")


async def consolidated(ask: Asking, body: dict[str, Any], whose: str = "") -> dict[str, Any]:
    """The night that this begins, when it is over."""
    assert (await ask("POST", f"api/consolidate{whose}", body, status=202)) == {"began": True}
    while True:
        told = await ask("GET", f"api/consolidate{whose}")
        if told["night"] is not None and told["night"]["finished"]:
            night: dict[str, Any] = told["night"]
            return night
        await asyncio.sleep(0.02)


async def test_a_night_is_planned_done_listed_and_taken_back(ask: Asking) -> None:
    assert (await ask("GET", "api/consolidate")) == {"running": False, "night": None}
    for text in SAME:
        await ask("POST", "api/remember", {"text": text}, status=201)
    dry = await consolidated(ask, {"dry_run": True})
    assert [each["number"] for each in dry["nights"]] == [0]
    assert (await ask("GET", "api/nights")) == {"nights": []}
    done = await consolidated(ask, {"since": "2020-01-01"})
    [night] = done["nights"]
    [change] = night["changes"]
    assert change["action"] == "merge" and {each["state"] for each in change["facts"]} == {"active", "archived"}
    [listed] = (await ask("GET", "api/nights"))["nights"]
    assert listed["changes"] == {"merge": 1} and listed["number"] == night["number"]
    told = await ask("GET", f"api/nights/{night['number']}")
    assert {each["text"] for each in told["changes"][0]["facts"]} == set(SAME)
    assert len((await ask("GET", "api/facts"))["facts"]) == 1
    await ask("POST", f"api/nights/{night['number']}/undo", {})
    assert len((await ask("GET", "api/facts"))["facts"]) == 2
    again = await ask("POST", f"api/nights/{night['number']}/undo", {}, status=409)
    assert "already" in again["error"]


async def test_a_night_of_somebody_else_is_not_there(ask: Asking) -> None:
    for text in SAME:
        await ask("POST", "api/remember?user=bob", {"text": text}, status=201)
    [night] = (await consolidated(ask, {}, "?user=bob"))["nights"]
    told = (await ask("GET", "api/consolidate"))["night"]
    assert told["nights"] == [] and told["others"] == 1
    assert (await ask("GET", "api/nights"))["nights"] == []
    await ask("GET", f"api/nights/{night['number']}", status=404)
    await ask("POST", f"api/nights/{night['number']}/undo", {}, status=404)


async def test_what_changes_is_told_when_all_is_done(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in SAME:
        await ask("POST", "api/remember", {"text": text}, status=201)
    [night] = (await consolidated(ask, {}))["nights"]
    assert night["changes"]
    monkeypatch.setattr(NightRunner, "running", True)
    told = await ask("GET", "api/consolidate")
    assert told["running"] and told["night"]["nights"] == [] and told["night"]["looked"] == 2


async def test_everybody_is_consolidated_where_nobody_is_named(ask: Asking) -> None:
    for user in ("", "?user=bob"):
        for text in SAME:
            await ask("POST", f"api/remember{user}", {"text": text}, status=201)
    told = await consolidated(ask, {})
    assert len(told["nights"]) == 1 and told["others"] == 1
    assert len((await ask("GET", "api/facts?user=bob"))["facts"]) == 1


async def test_what_makes_no_sense_is_refused_in_words(ask: Asking) -> None:
    told = await ask("POST", "api/consolidate", {"since": "yesterday"}, status=422)
    assert "2026-03-01" in told["error"]
    await ask("POST", "api/consolidate", {"dry_run": "yes"}, status=422)
    await ask("GET", "api/nights/first", status=422)
    await ask("GET", "api/nights/7", status=404)
