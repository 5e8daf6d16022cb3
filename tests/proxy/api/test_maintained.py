"""What is shared in an organisation, and who may change it, whatever the way: the page, quarantine, a model's notes."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from memory.candidate import CandidateState
from memory.clock import local_now
from memory.conversation import Role, Text, digest
from memory.edits import handle
from memory.fact import Origin
from memory.research import Research
from memory.scope import Layer, Scope
from memory.services.tool_calls import ToolCaller
from proxy.auth.tokens import TokenRole
from proxy.web.page import _mark
from tests.proxy.api import test_members
from tests.proxy.api.asking import Asking, asking
from tests.proxy.api.test_keys import say
from tests.proxy.api.test_members import SHARED, approved, member, put_forward
from tests.proxy.api.test_tokens import issued
from tests.running import Running

proxy = test_members.proxy


async def with_rule(proxy: Running) -> tuple[Asking, Asking, dict[str, Any]]:
    """A member, a maintainer, and a rule of theirs."""
    bob, eve = await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    await approved(eve, await put_forward(proxy, "eve"))
    [rule] = (await bob("GET", "api/rules"))["rules"]
    return bob, eve, rule


async def rules(person: Asking) -> list[dict[str, Any]]:
    return list((await person("GET", "api/rules"))["rules"])


async def test_a_member_puts_nothing_shared_into_quarantine_nor_takes_it_out(proxy: Running) -> None:
    bob, eve, rule = await with_rule(proxy)
    mine = await bob("POST", "api/remember?project=loom", {"text": "The loom stands in the hall."}, status=201)
    told = await bob("POST", "api/quarantine", {"origins": ["person"]})
    assert mine["id"] in told["ids"] and rule["id"] not in told["ids"]
    assert [each["id"] for each in await rules(bob)] == [rule["id"]]
    assert rule["id"] in (await eve("POST", "api/quarantine", {"origins": ["person"]}))["ids"]
    assert (await bob("POST", "api/quarantine", {"release": True}))["ids"] == [mine["id"]]
    cookie = await page_cookie(proxy, bob)
    await sent(proxy, cookie, "quarantine/release", {"session": rule["session"]})
    assert await rules(eve) == []
    await eve("POST", "api/quarantine", {"release": True})
    assert [each["id"] for each in await rules(bob)] == [rule["id"]]


async def page_cookie(proxy: Running, person: Asking) -> str:
    headers = {"Origin": proxy.url, "Sec-Fetch-Site": "same-origin"}
    url, data = f"{proxy.url}/palimpsest/login", {"token": person.token}
    async with proxy.client.post(url, data=data, headers=headers, allow_redirects=False) as reply:
        return reply.headers["Set-Cookie"].split(";")[0]


async def sent(proxy: Running, cookie: str, path: str, form: dict[str, str], status: int = 303) -> None:
    headers = {"Origin": proxy.url, "Sec-Fetch-Site": "same-origin", "Cookie": cookie}
    async with proxy.client.get(f"{proxy.url}/palimpsest/review", headers=headers) as reply:
        found = re.search(r'name="form" value="([^"]+)"', await reply.text())
    assert found is not None
    url = f"{proxy.url}/palimpsest/{path}"
    async with proxy.client.post(url, data=form | {"form": found[1]}, headers=headers, allow_redirects=False) as reply:
        assert reply.status == status, await reply.text()


async def test_what_was_submitted_and_is_in_quarantine_is_shown_to_nobody(proxy: Running) -> None:
    bob, eve = await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    id = await put_forward(proxy, "bob")
    await bob("POST", f"api/candidates/{id}/submit", {"text": SHARED})
    assert (await eve("GET", "api/candidates?submitted=yes"))["candidates"]
    await bob("POST", "api/quarantine", {"origins": ["person"]})
    assert (await eve("GET", "api/candidates?submitted=yes"))["candidates"] == []
    await eve("POST", f"api/candidates/{id}/approve", {}, status=404)
    await bob("POST", "api/quarantine", {"release": True})
    assert (await eve("GET", "api/candidates?submitted=yes"))["candidates"]


async def test_what_who_runs_the_server_puts_into_quarantine_is_released_by_nobody_below(proxy: Running) -> None:
    ask, bob = asking(proxy), await member(proxy, "bob")
    mine = await bob("POST", "api/remember?project=loom", {"text": "The loom stands in the hall."}, status=201)
    query, chosen = "api/quarantine?org=acme&user=bob", {"origins": ["person"]}
    # It is theirs to release no more when they had put it there themselves before, either.
    await bob("POST", "api/quarantine", chosen)
    assert (await ask("POST", query, chosen))["ids"] == [mine["id"]]
    assert (await bob("GET", "api/quarantine"))["ids"] == [mine["id"]]
    told = await bob("POST", "api/quarantine", {"release": True}, status=403)
    assert "who runs the server" in told["error"]
    await sent(proxy, await page_cookie(proxy, bob), "quarantine/release", {"session": mine["session"]}, status=403)
    assert (await ask("POST", query, {"release": True}))["ids"] == [mine["id"]]
    await ask("POST", query, {**chosen, "for_review": True})
    assert (await bob("POST", "api/quarantine", {"release": True}))["ids"] == [mine["id"]]
    assert (await bob("GET", "api/search?text=loom"))["results"]


async def test_what_an_owner_puts_into_quarantine_of_what_is_shared_is_released_by_no_maintainer(
    proxy: Running,
) -> None:
    _, eve, rule = await with_rule(proxy)
    ada = await member(proxy, "ada")
    own = await ada("POST", "api/remember", {"text": "The hall opens at nine."}, status=201)
    await ada("POST", "api/quarantine", {"origins": ["person"]})
    assert await rules(eve) == []
    await eve("POST", "api/quarantine", {"release": True}, status=403)
    ask = asking(proxy)
    # What is her own is hers to release whatever she becomes.
    await ask("PATCH", "api/members/eve?org=acme", {"role": "owner"})
    await ask("PATCH", "api/members/ada?org=acme", {"role": "member"})
    assert (await ada("POST", "api/quarantine", {"release": True}))["ids"] == [own["id"]]
    await eve("POST", "api/quarantine", {"release": True})
    assert [each["id"] for each in await rules(eve)] == [rule["id"]]


async def test_what_is_in_quarantine_by_whomever_is_forgotten_with_its_person(proxy: Running) -> None:
    ask, bob = asking(proxy), await member(proxy, "bob")
    mine = await bob("POST", "api/remember?project=loom", {"text": "The loom stands in the hall."}, status=201)
    query = "org=acme&user=bob"
    await ask("POST", f"api/quarantine?{query}", {"origins": ["person"]})
    assert (await bob("GET", f"api/facts/{mine['id']}"))["quarantined"]
    gone = await bob("POST", "api/forget", {"ids": [mine["id"]]})
    assert gone["forgotten"]["facts"] == [mine["id"]]


async def test_what_waits_for_quarantine_is_cancelled_by_who_may_set_it(
    proxy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, bob, eve = asking(proxy), await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    memory = proxy.edge.memory
    assert memory is not None
    monkeypatch.setattr("memory.services.person.quarantine.LEARN_SECONDS", 0.0)
    await memory.learner.stop()
    for number in range(4):
        await say(proxy, f"We decided to oil shuttle {number}.", bob.token, f"s{number}", x_palimpsest_project="loom")
    monkeypatch.setattr(memory.learner, "catch_up", asyncio.Event().wait)
    chosen: dict[str, Any] = {"origins": ["user"]}
    for query, setter in (("?org=acme&user=bob", ask), ("", bob)):
        assert (await setter("POST", f"api/quarantine{query}", chosen))["behind"]
    assert len(await memory.quarantine.pending()) == 2
    for other in (bob, eve):
        await other("POST", "api/quarantine", {"release": True})
        # Their own they take back, and nothing of who runs the server.
        [left] = await memory.quarantine.pending()
        assert left.asker.everything
    await ask("POST", "api/quarantine?org=acme&user=bob", chosen | {"release": True})
    assert await memory.quarantine.pending() == []
    # Who maintained what many share cancels nothing of that when they do no more.
    await eve("POST", "api/quarantine", chosen)
    await ask("PATCH", "api/members/eve?org=acme", {"role": "member"})
    await eve("POST", "api/quarantine", {"release": True})
    assert len(await memory.quarantine.pending()) == 1


async def test_who_only_reads_in_a_project_puts_nothing_of_it_away_and_pins_and_decides_nothing(proxy: Running) -> None:
    ask, bob, eve = asking(proxy), await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    assert proxy.edge.memory is not None
    journal, texts = proxy.edge.memory.journal, {"sail": "We decided to mend it.", "loom": "We decided to oil it."}
    handles = {}
    for project, text in texts.items():
        await say(proxy, text, bob.token, project, x_palimpsest_project=project)
        handles[project] = handle(digest(Role.USER, (Text(text),)), 0)
    await proxy.learned()
    own = await put_forward(proxy, "eve", "sail")
    for user in ("bob", "eve"):
        await ask("PATCH", f"api/members/{user}?org=acme", {"role": "read-only", "project": "sail"})
    for body in ({"origins": ["user"]}, {"release": True}):
        told = await bob("POST", "api/quarantine?project=sail", body, status=403)
        assert "may only read in sail" in told["error"]
    told = await bob("PATCH", f"api/content/{handles['sail']}", {"pinned": True}, status=403)
    assert "may only read in sail" in told["error"]
    await bob("PATCH", f"api/content/{handles['loom']}", {"pinned": True})
    # Who approves for the organisation reads in the project all the same: what they said there is not theirs to decide.
    held = await journal.candidates(["up:acme/eve/sail"])
    await journal.decide(replace(held[0], layer=Layer.ORG), CandidateState.WAITING, local_now())
    for act in ("reject", "defer", "approve"):
        told = await eve("POST", f"api/candidates/{own}/{act}", {}, status=403)
        assert "may only read in sail" in told["error"]


async def test_a_change_that_is_refused_says_why_to_who_may_see_the_thing(proxy: Running) -> None:
    bob, eve, rule = await with_rule(proxy)
    mine = await bob("POST", "api/remember?project=sail", {"text": "The sail is mended in May."}, status=201)
    await asking(proxy)("PATCH", "api/members/bob?org=acme", {"role": "read-only", "project": "sail"})
    mallory = issued(proxy, TokenRole.USER, "mallory", org="globex")
    for id, why in ((rule["id"], "only their maintainers change"), (mine["id"], "may only read in sail")):
        for method, path, body in (
            ("DELETE", f"api/facts/{id}", None),
            ("PATCH", f"api/facts/{id}", {"pinned": True}),
            ("POST", f"api/facts/{id[:9]}/update", {"text": "It is open."}),
            ("POST", f"api/facts/{id}/confirm", {}),
            ("POST", f"api/facts/{id}/dismiss", {}),
            ("POST", f"api/facts/{id}/refute", {}),
            ("POST", f"api/facts/{id}/take-back", {}),
            ("POST", f"api/facts/{id}/promote", {"to": "user"}),
            ("POST", "api/forget", {"ids": [id]}),
        ):
            told = await bob(method, path, body, status=403)
            assert why in told["error"], (method, path)
            if not path.endswith("promote"):
                await mallory(method, path, body, status=404)
        await sent(proxy, await page_cookie(proxy, bob), f"memory/{id}/pin", {"pinned": "yes"}, 403)
    assert await rules(eve) == [rule]
    await bob("DELETE", "api/facts/0e000000-0000", status=404)


async def test_a_key_for_members_alone_is_shown_no_rules(proxy: Running) -> None:
    bob, _, _ = await with_rule(proxy)
    made = await bob("POST", "api/keys", {"name": "desk", "scopes": ["members"]}, status=201)
    for person, shown in ((Asking(proxy, made["key"]), False), (bob, True)):
        headers = {"Cookie": await page_cookie(proxy, person)}
        async with proxy.client.get(f"{proxy.url}/palimpsest/organisation", headers=headers) as reply:
            text = await reply.text()
        assert reply.status == 200 and "Members" in text
        assert ("7741" in text) is shown


async def page_file(person: Asking, words: str) -> tuple[str, str]:
    """The stream and the text of the page's file that says something."""
    files = (await person("GET", "api/page?project=loom"))["files"]
    [found] = [(each["stream"], each["text"]) for each in files if words in each["text"]]
    return found


async def test_a_member_edits_no_line_of_the_page_that_is_shared(proxy: Running) -> None:
    bob, eve, rule = await with_rule(proxy)
    await bob("POST", "api/remember?project=loom", {"text": "We decided to oil the shuttle in June."}, status=201)
    stream, text = await page_file(bob, "vault code")
    [shared] = [line for line in text.splitlines(True) if "vault code" in line]
    other = next(each for each in ("tasks", "identity") if each != stream)
    for files in (
        {stream: text.replace(shared, "")},
        {stream: text.replace("on Fridays", "on Sundays")},
        {stream: text.replace(shared, "").replace("June", "July")},
        {other: f"# Mine\n{shared}"},
    ):
        told = await bob("PUT", "api/page?project=loom", {"files": files, "own": "Mine."}, status=403)
        assert "only their maintainers change that" in told["error"] and "vault code" in told["error"]
        assert await rules(eve) == [rule]
    assert (await page_file(bob, "vault code"))[1] == text
    assert (await bob("GET", "api/page?project=loom"))["own"] == ""
    # What is their own is changed beside it, and a maintainer changes both.
    await bob("PUT", "api/page?project=loom", {"files": {stream: text.replace("June", "July")}})
    stream, text = await page_file(bob, "July")
    assert "vault code" in text and await rules(eve) == [rule]
    stream, text = await page_file(eve, "vault code")
    await eve("PUT", "api/page?project=loom", {"files": {stream: text.replace(shared, "")}})
    assert await rules(bob) == []


async def test_the_form_of_the_page_keeps_to_the_same(proxy: Running) -> None:
    bob, eve, rule = await with_rule(proxy)
    stream, text = await page_file(bob, "vault code")
    form = {stream: text.replace("on Fridays", "on Sundays"), f"{stream}.mark": _mark(text)}
    await sent(proxy, await page_cookie(proxy, bob), "page?project=loom", form, 403)
    assert await rules(eve) == [rule]


async def noted(person: Asking, action: str, id: str, text: str = "", query: str = "project=loom") -> dict[str, Any]:
    arguments = {"action": action, "id": id} | ({"text": text} if text else {})
    return dict(await person("POST", f"api/tools/memory_note?{query}", {"arguments": arguments}))


async def test_a_model_notes_beside_what_is_shared_unless_its_person_maintains_it(proxy: Running) -> None:
    bob, eve, rule = await with_rule(proxy)
    for action in ("update", "supersede"):
        told = await noted(bob, action, rule["id"], f"The vault code is never changed, says {action}.")
        assert "only their maintainers change that" in told["text"]
        [beside] = [id for id in told["memories"] if id != rule["id"]]
        mine = await bob("GET", f"api/facts/{beside}")
        assert (mine["owner"], mine["supersedes"], mine["contradicts"]) == ("up:acme/bob/loom", [], [])
    assert (await noted(bob, "confirm", rule["id"]))["failed"]
    assert await rules(eve) == [rule]
    # Nor does a model in a session of theirs, or of somebody who is no member.
    assert proxy.edge.memory is not None
    for user in ("bob", "carl"):
        caller = ToolCaller(Scope("acme", user, "loom"), "s1", Origin.ASSISTANT)
        arguments = {"action": "supersede", "id": rule["id"], "text": f"The vault is shut, {user} says."}
        await proxy.edge.memory.tools.answer("memory_note", arguments, caller)
        assert await rules(eve) == [rule]
    assert not (await noted(eve, "confirm", rule["id"]))["failed"]
    whole = await noted(asking(proxy), "confirm", rule["id"], query="org=acme&user=bob&project=loom")
    assert not whole["failed"]


async def test_shared_research_is_deleted_by_its_person_and_maintainers(proxy: Running) -> None:
    bob, eve = await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    dan, memory = await member(proxy, "dan"), proxy.edge.memory
    assert memory is not None
    first, second = (f"0d00000{number}-0000-4000-8000-000000000000" for number in (1, 2))
    for id, question in ((first, "Which ports are open?"), (second, "Who wove the red cloth?")):
        found = Research(id, "p:acme/loom", "u:acme/bob", question, local_now(), local_now())
        await memory.journal.write_research([found])
    for id in (first, second):
        assert "shared with others" in (await dan("DELETE", f"api/research/{id}?project=loom", status=403))["error"]
    await bob("DELETE", f"api/research/{first}?project=loom")
    await eve("DELETE", f"api/research/{second}?project=loom")
