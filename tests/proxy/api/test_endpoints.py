"""Every endpoint before a real proxy with real stores: what it does, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.ports import Lesson
from proxy.api import responses
from tests.proxy.api.asking import Asking
from tests.running import Running


async def remembered(ask: Asking, text: str, query: str = "", **more: Any) -> dict[str, Any]:
    return await ask("POST", f"api/remember{query}", {"text": text, **more}, status=201)


async def test_what_is_remembered_is_found_at_once(ask: Asking) -> None:
    fact = await remembered(ask, "The staging cluster is called heron")
    found = await ask("GET", "api/search?text=what+is+the+staging+cluster+called")
    assert [each["id"] for each in found["results"]] == [fact["id"]]
    assert fact["origin"] == "person" and fact["owner"] == "u:/local"
    assert found["results"][0]["why"] and found["results"][0]["score"] > 0


async def test_a_fact_of_one_project_is_not_seen_from_another(ask: Asking) -> None:
    await remembered(ask, "The mascot is an otter", "?project=zoo")
    for path in ("api/search?text=mascot+otter&project=farm", "api/facts?project=farm"):
        told = await ask("GET", path)
        assert not told.get("results") and not told.get("facts")
    assert len((await ask("GET", "api/facts?project=zoo"))["facts"]) == 1
    assert len((await ask("GET", "api/facts"))["facts"]) == 1
    assert (await ask("GET", "api/facts?user=somebody"))["facts"] == []


@pytest.mark.parametrize("text", ["", "&text=heron"])
async def test_facts_are_listed_by_who_said_them(text: str, ask: Asking) -> None:
    fact = await remembered(ask, "The staging cluster is called heron")
    assert [each["id"] for each in (await ask("GET", f"api/facts?origin=person{text}"))["facts"]] == [fact["id"]]
    assert (await ask("GET", f"api/facts?origin=file,web{text}"))["facts"] == []
    assert "origin" in (await ask("GET", f"api/facts?origin=nobody{text}", status=422))["error"]


async def test_what_is_remembered_twice_is_one_fact(ask: Asking) -> None:
    first = await remembered(ask, "Deploys happen on Tuesdays")
    second = await remembered(ask, "  deploys happen on   tuesdays ", pinned=True)
    assert first["id"] == second["id"] and second["pinned"]
    assert len((await ask("GET", "api/facts"))["facts"]) == 1


async def test_a_secret_is_not_remembered(ask: Asking, proxy: Running) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    fact = await remembered(ask, f"The token for CI is {secret}")
    assert secret not in str(fact) and secret not in str(await ask("GET", "api/facts"))
    database = proxy.edge.settings.home / "journal.db"
    stored = b"".join(file.read_bytes() for file in database.parent.glob("journal.db*"))
    assert secret.encode() not in stored


async def test_a_fact_is_looked_up_pinned_and_deleted_by_the_beginning_of_its_id(ask: Asking) -> None:
    fact = await remembered(ask, "The mailing list moved to lists.example.org")
    short = fact["id"][:8]
    assert (await ask("GET", f"api/facts/{short}"))["text"] == fact["text"]
    assert (await ask("PATCH", f"api/facts/{short}", {"pinned": True}))["pinned"] is True
    assert (await ask("PATCH", f"api/facts/{short}", {"pinned": False}))["pinned"] is False
    assert (await ask("DELETE", f"api/facts/{short}"))["forgotten"]["facts"] == [fact["id"]]
    assert "no memory" in (await ask("GET", f"api/facts/{short}", status=404))["error"]
    assert (await ask("GET", "api/search?text=mailing+list"))["results"] == []


async def test_a_beginning_that_stands_for_several_is_refused(ask: Asking, proxy: Running) -> None:
    assert proxy.edge.memory is not None
    fact = await remembered(ask, "Two is a number")
    [held] = await proxy.edge.memory.journal.facts([fact["id"]])
    twins = tuple(replace(held, id=f"aaaabbbb-0000-4000-8000-00000000000{number}") for number in range(2))
    await proxy.edge.memory.journal.learn(Lesson(0, twins, documents={held.owner: 2}))
    told = await ask("GET", "api/facts/aaaabbbb", status=409)
    assert len(told["ids"]) == 2


async def test_restricted_facts_show_their_text_only_by_id(ask: Asking) -> None:
    fact = await remembered(ask, "Keep this secret: the merger with Foobar closes in May")
    listed = (await ask("GET", "api/facts"))["facts"]
    assert [each["id"] for each in listed] == [fact["id"]]
    assert fact["sensitivity"] == "restricted" and "merger" not in str(listed)
    assert "merger" in (await ask("GET", f"api/facts/{fact['id']}"))["text"]


async def test_forgetting_by_a_query_shows_first_and_takes_nothing(ask: Asking) -> None:
    keep = await remembered(ask, "The harbour office opens at nine")
    gone = await remembered(ask, "The lighthouse keeper is called Ines")
    preview = await ask("POST", "api/forget", {"query": "lighthouse keeper"})
    assert [each["id"] for each in preview["would_forget"]] == [gone["id"]]
    assert len((await ask("GET", "api/facts"))["facts"]) == 2
    told = await ask("POST", "api/forget", {"ids": [gone["id"]]})
    assert told["forgotten"]["facts"] == [gone["id"]]
    assert [each["id"] for each in (await ask("GET", "api/facts"))["facts"]] == [keep["id"]]


async def test_forgetting_tells_what_stays_in_a_persons_own_words_on_the_page(ask: Asking) -> None:
    await ask("PUT", "api/page?project=loom", {"own": "- Ines keeps the lighthouse.\n- The lighthouse keeper is Ines."})
    fact = await remembered(ask, "the lighthouse keeper is Ines", "?project=loom")
    [first, second] = (await ask("POST", "api/forget", {"query": "Lighthouse"}))["would_stay"]
    assert "MEMORY.md:1 " in first and second.endswith("- The lighthouse keeper is Ines.")
    assert (await ask("POST", "api/forget?project=mole", {"query": "lighthouse"}))["would_stay"] == []
    assert (await ask("POST", "api/forget", {"ids": [fact["id"]]}))["faults"] == [second]
    assert (await ask("POST", "api/forget", {"query": "lighthouse"}))["would_stay"] == [first, second]


async def test_what_is_forgotten_is_gone_from_a_session_that_goes_on(ask: Asking, proxy: Running) -> None:
    """From the facts, the journal, the page, the ledger, and from what the same client's next request brings."""
    said = "My sister Wilhelmina lives in Trondheim."
    await proxy.chat(said, session="one")
    await proxy.learned()
    await proxy.chat("Where does my sister live?", session="two")
    await proxy.learned()
    preview = (await ask("POST", "api/forget", {"query": "Wilhelmina"}))["would_forget"]
    assert preview
    await ask("POST", "api/forget", {"ids": [each["id"] for each in preview]})
    assert (await ask("POST", "api/forget", {"query": "Wilhelmina"}))["would_forget"] == []
    provider_saw = await proxy.chat("Where does my sister live?", "OK.", "Tell me again where she lives", session="two")
    assert b"Wilhelmina" not in provider_saw
    await proxy.chat(said, "OK.", "And what else is new?", session="one")
    await proxy.learned()
    assert "Wilhelmina" not in str(await ask("GET", "api/facts?state=all"))
    pages = [file.read_text() for file in proxy.edge.settings.home.glob("pages/*/*/MEMORY.md")]
    assert not any("Wilhelmina" in page for page in pages)
    receipts = (await ask("GET", "api/log"))["receipts"]
    assert "Wilhelmina" not in str([await ask("GET", f"api/log/{each['id']}") for each in receipts])


async def test_a_forget_tells_how_much_is_not_learned_yet(
    ask: Asking, proxy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = proxy.edge.memory
    assert memory is not None
    fact = await remembered(ask, "The lighthouse keeper is called Ines")
    told = await ask("POST", "api/forget", {"query": "zebra"})
    assert (told["would_forget"], told["behind"]) == ([], 0)
    monkeypatch.setattr("memory.services.person.commands.LEARN_SECONDS", 0.0)
    await memory.learner.stop()
    for number in range(4):
        await proxy.chat(f"I prefer the branch zebra for service {number}.", session=f"pending-{number}")
    assert (await ask("POST", "api/forget", {"query": "zebra"}))["behind"] == 3
    assert (await ask("POST", "api/forget", {"ids": [fact["id"]]}))["behind"] == 2
    await memory.learner.catch_up()
    told = await ask("POST", "api/forget", {"query": "zebra"})
    assert len(told["would_forget"]) >= 4 and told["behind"] == 0


async def test_the_page_is_read_and_its_own_part_written(ask: Asking) -> None:
    await remembered(ask, "Always answer in British English.", "?project=zoo", pinned=True)
    page = await ask("GET", "api/page?project=zoo")
    assert "British English" in page["text"] and page["own"] == ""
    page = await ask("PUT", "api/page?project=zoo", {"own": "The zoo closes on Mondays."})
    assert page["own"] == "The zoo closes on Mondays."
    assert page["text"].index("Mondays") < page["text"].index("British English")
    page = await ask("PUT", "api/page?project=zoo", {"own": ""})
    assert page["own"] == "" and "British English" in page["text"]
    assert "project is missing" in (await ask("GET", "api/page", status=422))["error"]


async def test_the_log_tells_what_was_added_to_a_request(ask: Asking, proxy: Running) -> None:
    await proxy.chat("By the way, the staging cluster is called heron these days.", session="tells")
    await proxy.learned()
    await proxy.chat("What is the staging cluster called?", session="asks")
    await proxy.learned()
    line = (await ask("GET", "api/log?limit=1"))["receipts"][0]
    assert line["shown"] >= 1 and line["bytes_added"] > 0 and line["milliseconds"] > 0
    whole = await ask("GET", f"api/log/{line['id'][:8]}")
    assert whole["shown"][0]["why"] and "heron" in whole["shown"][0]["text"] and whole["steps"]
    assert "no receipt" in (await ask("GET", "api/log/ffff", status=404))["error"]


async def test_pause_and_resume(ask: Asking, proxy: Running) -> None:
    assert (await ask("POST", "api/pause"))["paused"] is True
    assert (await ask("GET", "api/status"))["memory"] == "paused"
    await proxy.chat("Please always use tabs in this project.", session="paused")
    await proxy.learned()
    assert (await ask("GET", "api/facts"))["facts"] == []
    assert (await ask("GET", "api/status"))["stored"]["exchanges"] == 0
    assert (await ask("POST", "api/resume"))["paused"] is False
    assert (await ask("GET", "api/status"))["memory"] == "on"


async def test_status_counts_what_is_stored(ask: Asking) -> None:
    await remembered(ask, "Deploys happen on Tuesdays")
    status = await ask("GET", "api/status")
    assert status["status"] == "ok" and status["stored"]["facts"] == 1 and status["waiting"] == 0
    assert status["embedder"]["name"] and status["reindexing"] is None


async def test_the_index_is_filled_anew_while_it_is_searched(ask: Asking, proxy: Running) -> None:
    fact = await remembered(ask, "The staging cluster is called heron")
    assert (await ask("POST", "api/reindex", status=202))["began"]
    while proxy.edge.beside:
        await next(iter(proxy.edge.beside))
    progress = await ask("GET", "api/reindex")
    assert progress["running"] is False and progress["progress"]["finished"] and not progress["progress"]["fault"]
    assert [each["id"] for each in (await ask("GET", "api/search?text=staging+cluster"))["results"]] == [fact["id"]]
    later = await remembered(ask, "The production cluster is called egret")
    found = (await ask("GET", "api/search?text=production+cluster"))["results"]
    assert later["id"] in [each["id"] for each in found]


async def test_an_embedder_that_cannot_be_had_changes_nothing(ask: Asking, proxy: Running) -> None:
    fact = await remembered(ask, "The staging cluster is called heron")
    assert "there is no embedder" in (await ask("POST", "api/embedder", {"use": "magic"}, status=422))["error"]
    await ask("POST", "api/embedder", {"use": "fastembed:nothing/here"}, status=202)
    while proxy.edge.beside:
        await next(iter(proxy.edge.beside))
    assert "fastembed" in (await ask("GET", "api/embedder"))["progress"]["fault"]
    assert [each["id"] for each in (await ask("GET", "api/search?text=staging+cluster"))["results"]] == [fact["id"]]
    assert not (proxy.edge.settings.home / "embedder").exists()
    assert any("filled anew" in each for each in (await ask("GET", "health"))["why"])


async def test_the_embedder_that_was_changed_to_is_chosen_for_the_next_start(ask: Asking, proxy: Running) -> None:
    await ask("POST", "api/embedder", {"use": "static"}, status=202)
    while proxy.edge.beside:
        await next(iter(proxy.edge.beside))
    assert (proxy.edge.settings.home / "embedder").read_text() == "static\n"


async def test_the_configuration_is_told_without_its_secrets(ask: Asking) -> None:
    rows = {row["key"]: row for row in (await ask("GET", "api/config"))["settings"]}
    assert rows["server.host"]["value"] == "127.0.0.1" and rows["memory.recall.tokens"]["source"] == "default"


BAD: tuple[tuple[str, str, Any, int], ...] = (
    ("GET", "api/search", None, 422),
    ("GET", "api/search?text=x&limit=0", None, 422),
    ("GET", "api/search?text=x&limit=1_0", None, 422),
    ("GET", "api/search?text=x&limit=99999999999999999999", None, 422),
    ("GET", "api/search?text=" + "x" * 4001, None, 422),
    ("GET", "api/search?text=a%00b", None, 422),
    ("GET", "api/search?text=x&project=", None, 400),
    ("GET", "api/search?text=x&user=" + "u" * 201, None, 400),
    ("GET", "api/facts?kind=wish", None, 422),
    ("GET", "api/facts?state=gone", None, 422),
    ("GET", "api/facts/abc", None, 422),
    ("GET", "api/facts/%F0%9F%A6%A6%F0%9F%A6%A6%F0%9F%A6%A6%F0%9F%A6%A6", None, 422),
    ("GET", "api/log?limit=-1", None, 422),
    ("PATCH", "api/facts/abcdef", {}, 422),
    ("PATCH", "api/facts/abcdef", {"pinned": "yes"}, 422),
    ("PATCH", "api/facts/abcdef", {"pinned": True}, 404),
    ("POST", "api/remember", {}, 422),
    ("POST", "api/remember", {"text": "   "}, 422),
    ("POST", "api/remember", {"text": 7}, 422),
    ("POST", "api/remember", {"text": "x", "kind": "wish"}, 422),
    ("POST", "api/remember", {"text": "x", "owner": "u:/bob"}, 422),
    ("POST", "api/remember", b"{", 400),
    ("POST", "api/remember", b"[1]", 400),
    ("POST", "api/remember", b'{"text": "\xff"}', 400),
    ("POST", "api/remember", b'{"text": "\\ud800"}', 400),
    ("POST", "api/remember", b"x" * (2**20 + 1), 413),
    ("POST", "api/forget", {}, 422),
    ("POST", "api/forget", {"ids": []}, 422),
    ("POST", "api/forget", {"ids": [1]}, 422),
    ("POST", "api/forget", {"ids": ["abcd"], "query": "x"}, 422),
    ("POST", "api/forget", {"ids": ["abcd"]}, 404),
    ("PUT", "api/page?project=x", {}, 422),
    ("PUT", "api/page?project=x", {"own": "x" * 20_001}, 422),
    ("POST", "api/embedder", {}, 422),
    ("POST", "api/reindex", {"x": 1}, 422),
)


async def test_bad_input_is_refused_in_a_sentence(ask: Asking) -> None:
    for method, path, body, status in BAD:
        told = await ask(method, path, body, status=status)
        assert told["error"] and "Traceback" not in told["error"]


async def test_a_folder_is_told_its_project(ask: Asking, tmp_path: Path) -> None:
    told = await ask("GET", f"api/project?directory={tmp_path}")
    assert told["project"] == str(tmp_path)
    assert "absolute" in (await ask("GET", "api/project?directory=boat", status=422))["error"]


async def test_of_requests_and_sessions_only_the_named_persons_are_told(ask: Asking, proxy: Running) -> None:
    for user in ("ada", "bob"):
        _, _, headers = await proxy.post(
            "/v1/chat/completions",
            {"model": "m", "messages": [{"role": "user", "content": f"I am {user}, hello."}]},
            x_palimpsest_user=user,
            x_session_id=f"of-{user}",
        )
        id = headers["x-palimpsest-receipt"]
    await proxy.learned()
    assert len((await ask("GET", "api/log"))["receipts"]) == 2
    assert [each["id"] for each in (await ask("GET", "api/log?user=bob"))["receipts"]] == [id]
    assert (await ask("GET", "api/log?user=bob&org=acme"))["receipts"] == []
    assert (await ask("GET", f"api/log/{id}"))["id"] == (await ask("GET", f"api/log/{id[:8]}?user=bob"))["id"] == id
    assert "no receipt" in (await ask("GET", f"api/log/{id}?user=ada", status=404))["error"]
    everybody = (await ask("GET", "api/sessions"))["sessions"]
    mine = (await ask("GET", "api/sessions?user=bob"))["sessions"]
    assert len(everybody) == 2 and len(mine) == 1
    for user, count in (("ada", 1), ("bob", 1), ("eve", 0)):
        assert len((await ask("GET", f"api/sessions?user={user}&limit=1"))["sessions"]) == count


async def test_what_takes_too_long_is_told_so_and_when_to_come_again(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = await remembered(ask, "The staging cluster is called heron")
    monkeypatch.setattr(responses, "WITHIN", 0.0)
    told = await ask("POST", "api/forget", {"ids": [fact["id"]]}, status=503)
    assert "took longer" in told["error"] and "ask again later" in told["error"]
    monkeypatch.undo()
    await ask("POST", "api/forget", {"ids": [fact["id"]]})
