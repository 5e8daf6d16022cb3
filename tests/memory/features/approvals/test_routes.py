"""Candidates over HTTP: listed, shown, approved as they were shown, rejected, deferred."""

from __future__ import annotations

from typing import Any

from tests.proxy.api.asking import Asking

HERE = "project=boat"


async def put_forward(ask: Asking, text: str = "Always squash before a merge") -> dict[str, Any]:
    """A candidate that a person put forward."""
    held = await ask("POST", f"api/remember?{HERE}", {"text": text}, status=201)
    told = await ask("POST", f"api/facts/{held['id']}/promote", {"to": "project"}, status=201)
    found: dict[str, Any] = told["candidate"]
    return found


async def test_a_candidate_is_shown_confirmed_and_taken_back(ask: Asking) -> None:
    assert await ask("GET", "api/candidates") == {"candidates": []}
    made = await put_forward(ask)
    [listed] = (await ask("GET", f"api/candidates?{HERE}"))["candidates"]
    assert listed == made and listed["why"].endswith("in 1 session")
    assert (await ask("GET", "health"))["candidates"] == 1
    assert (await ask("GET", "api/status"))["stored"]["candidates"] == 1
    assert (await ask("GET", f"api/candidates/{made['id'][:8]}"))["evidence"][0]["text"] == made["text"]
    path = f"api/candidates/{made['id']}"
    would = await ask("POST", f"{path}/approve", {"text": "Squash before merging"})
    assert not would["done"] and "projects.boat.folder" in would["notes"][0]
    fault = await ask("POST", f"{path}/approve", {"confirm": would["confirm"]}, status=409)
    assert "changed" in fault["error"], "other words are something else"
    done = await ask("POST", f"{path}/approve", {"text": "Squash before merging", "confirm": would["confirm"]})
    assert done["done"] and done["candidate"]["state"] == "approved"
    assert await ask("GET", "api/candidates") == {"candidates": []}
    assert (await ask("GET", "health"))["candidates"] == 0
    [fact] = (await ask("GET", f"api/facts?{HERE}"))["facts"]
    assert (fact["layer"], fact["origin"], fact["text"]) == ("project", "person", "Squash before merging")
    back = await ask("POST", f"{path}/undo", {})
    assert (await ask("POST", f"{path}/undo", {"confirm": back["confirm"]}))["done"]
    [fact] = (await ask("GET", f"api/facts?{HERE}"))["facts"]
    assert fact["layer"] == "user-project"


async def test_rejected_and_deferred(ask: Asking) -> None:
    made = await put_forward(ask)
    path = f"api/candidates/{made['id']}"
    assert (await ask("POST", f"{path}/defer", {}))["state"] == "deferred"
    told = await ask("POST", f"{path}/reject", {"why": "only for now"})
    assert (told["state"], told["reason"]) == ("rejected", "only for now")
    assert [each["state"] for each in (await ask("GET", "api/candidates?state=all"))["candidates"]] == ["rejected"]


async def test_what_is_asked_wrongly_is_told(ask: Asking) -> None:
    made = await put_forward(ask)
    await ask("GET", "api/candidates/nothing-like-it", status=404)
    await ask("GET", f"api/candidates/{made['id']}?user=eve", status=404)
    await ask("POST", f"api/candidates/{made['id']}/approve?user=eve", {}, status=404)
    await ask("POST", f"api/candidates/{made['id']}/approve", {"to": "user"}, status=422)
    await ask("POST", f"api/candidates/{made['id']}/approve", {"text": ""}, status=422)
    fault = await ask("POST", f"api/candidates/{made['id']}/approve", {"to": "org"}, status=409)
    assert "organisation" in fault["error"]
    fact = made["evidence"][0]
    await ask("POST", f"api/facts/{fact}/promote", {"to": "everybody"}, status=422)
    await ask("POST", f"api/facts/{fact}/promote", {}, status=422)
    await ask("POST", f"api/facts/{fact}/promote", {"to": "user-project"}, status=409)


async def test_a_fact_rises_to_all_projects_at_once(ask: Asking) -> None:
    held = await ask("POST", f"api/remember?{HERE}", {"text": "I prefer short answers"}, status=201)
    risen = (await ask("POST", f"api/facts/{held['id']}/promote", {"to": "user"}))["fact"]
    assert risen["layer"] == "user"
    assert [each["id"] for each in (await ask("GET", "api/facts?project=car"))["facts"]] == [risen["id"]]
