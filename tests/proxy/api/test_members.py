"""Members of an organisation: who manages them, who approves what holds for others, and what is shown of others'."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from memory.candidate import CandidateKind, Proposal
from memory.clock import local_now
from memory.research import Research
from proxy.auth.client_keys import SHAPE
from proxy.auth.tokens import TokenRole
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.proxy.api.test_keys import say
from tests.proxy.api.test_tokens import issued
from tests.running import Running, running

SECRET = "We decided that the vault code 7741 is changed on Fridays, because Rosa said so."
SHARED = "Change vault codes every week."
ALL = ["calls", "memory", "members"]


@pytest.fixture
async def proxy(database_options: dict[str, str], tmp_path: Path) -> AsyncIterator[Running]:
    """A server of acme, whose owner is ada."""
    options: dict[str, Any] = {"credentials": [{"key": "a-configured-key", "user": "carl", "org": "acme"}]}
    options |= database_options
    async with fake_provider() as provider, running(provider, tmp_path / "home", **options) as proxy:
        await asking(proxy)("POST", "api/members?org=acme", {"user": "ada", "role": "owner"}, status=201)
        yield proxy


async def member(proxy: Running, user: str, role: str = "member", scopes: list[str] = ALL) -> Asking:
    """Somebody who is made a member in a role, with a key of their own."""
    ask = asking(proxy)
    if user != "ada":
        await ask("POST", "api/members?org=acme", {"user": user, "role": role}, status=201)
    body = {"name": f"key of {user}", "user": user, "org": "acme", "scopes": scopes}
    return Asking(proxy, (await ask("POST", "api/keys", body, status=201))["key"])


async def put_forward(proxy: Running, user: str, project: str = "loom", id: str = "1") -> str:
    """What somebody has said in a project, as a candidate of theirs."""
    ask = asking(proxy)
    query = f"user={user}&org=acme&project={project}"
    held = await ask("POST", f"api/remember?{query}", {"text": SECRET, "kind": "decision"}, status=201)
    assert proxy.edge.memory is not None
    proposal = Proposal(
        f"0c000000-0000-4000-8000-00000000000{id}",
        CandidateKind.KNOWLEDGE,
        held["id"],
        SECRET,
        SECRET,
        "decision",
        3,
        3,
        (held["id"],),
    )
    [made] = await proxy.edge.memory.journal.propose(f"up:acme/{user}/{project}", [proposal], local_now())
    return made


async def approved(person: Asking, id: str, status: int = 200) -> dict[str, Any]:
    would = await person("POST", f"api/candidates/{id}/approve", {})
    return await person("POST", f"api/candidates/{id}/approve", {"confirm": would["confirm"]}, status=status)


async def test_owners_manage_members_and_all_see_who_is_one(proxy: Running) -> None:
    ada, bob = await member(proxy, "ada"), await member(proxy, "bob")
    await ada("POST", "api/members", {"user": "eve", "role": "read-only"}, status=201)
    told = await ada("PATCH", "api/members/bob", {"role": "maintainer", "project": "loom"})
    assert (told["role"], told["projects"], told["added_by"]) == ("member", {"loom": "maintainer"}, "owner")
    told = await bob("GET", "api/members")
    roles = {each["user"]: each["role"] for each in told["members"]}
    assert roles == {"ada": "owner", "bob": "member", "eve": "read-only"} and told["organisations"] == ["acme"]
    assert told["members"][2]["added_by"] == "ada"
    for method, path, body in (
        ("POST", "api/members", {"user": "bob2"}),
        ("PATCH", "api/members/bob", {"role": "owner"}),
        ("DELETE", "api/members/ada", None),
    ):
        assert "managed by its owners" in (await bob(method, path, body, status=403))["error"]
    await ada("GET", "api/members?org=other", status=403)
    assert "the only owner" in (await ada("DELETE", "api/members/ada", status=409))["error"]
    assert (
        "in a project one is"
        in (await ada("PATCH", "api/members/bob", {"role": "owner", "project": "loom"}, status=422))["error"]
    )
    await ada("PATCH", "api/members/nobody", {"role": "member"}, status=404)
    found = (await asking(proxy)("GET", "api/audit?what=members"))["audit"]
    assert ("key of ada", "PATCH api/members/{user}", "bob", "ada", 200) in [
        (each["who"], each["what"], each["memory"], each["user"], each["status"]) for each in found
    ]


async def test_a_key_ends_with_its_member_and_learns_as_its_role_says(proxy: Running) -> None:
    ask, bob = asking(proxy), await member(proxy, "bob", "read-only")
    lesson = "We decided to use PostgreSQL 16 for the ledger, because the reports need window functions."
    assert "shows no key" not in await say(proxy, lesson, bob.token)
    await proxy.learned()
    assert (await bob("GET", "api/facts"))["facts"] == []
    assert "may only read in acme" in (await bob("POST", "api/remember", {"text": lesson}, status=403))["error"]
    await ask("PATCH", "api/members/bob?org=acme", {"role": "member"})
    await ask("PATCH", "api/members/bob?org=acme", {"role": "read-only", "project": "sail"})
    for project in ("sail", "loom"):
        await say(proxy, lesson, bob.token, project, x_palimpsest_project=project)
    await proxy.learned()
    assert {each["owner"] for each in (await bob("GET", "api/facts"))["facts"]} == {"up:acme/bob/loom"}
    told = await ask("DELETE", "api/members/bob?org=acme")
    assert told["keys"] == ["key of bob"]
    await bob("GET", "api/facts", status=401)
    assert "shows no key" in await say(proxy, lesson, bob.token)
    assert (
        "no member of acme"
        in (await ask("POST", "api/keys", {"name": "again", "user": "bob", "org": "acme"}, status=409))["error"]
    )
    token = issued(proxy, TokenRole.USER, "carl", org="acme")
    await ask("POST", "api/members?org=acme", {"user": "carl"}, status=201)
    told = await ask("DELETE", "api/members/carl?org=acme")
    assert told["tokens"] == ["user-carl-1"] and "credentials name them" in told["stays"][0]
    await token("GET", "api/facts", status=401)


async def test_a_configured_key_opens_memory_for_members_alone_and_in_their_role(proxy: Running) -> None:
    ask, key = asking(proxy), "a-configured-key"
    lesson = "We decided to use PostgreSQL 16 for the ledger, because the reports need window functions."

    async def learnt() -> set[str]:
        await proxy.learned()
        return {each["owner"] for each in (await ask("GET", "api/facts?org=acme&user=carl"))["facts"]}

    # The organisation has members, and carl is none: his model calls go on, and nothing else.
    assert "shows no key" in await say(proxy, lesson, key, "before", x_palimpsest_project="loom")
    assert await learnt() == set()
    assert (await ask("GET", "api/members?org=acme"))["named"] == ["carl"]
    await ask("POST", "api/members?org=acme", {"user": "carl"}, status=201)
    assert (await ask("GET", "api/members?org=acme"))["named"] == []
    await ask("PATCH", "api/members/carl?org=acme", {"role": "read-only", "project": "sail"})
    for project in ("sail", "loom"):
        await say(proxy, lesson, key, project, x_palimpsest_project=project)
    assert await learnt() == {"up:acme/carl/loom"}
    await ask("DELETE", "api/members/carl?org=acme")
    await say(proxy, "We decided to weave with MariaDB.", key, "after", x_palimpsest_project="loom")
    await proxy.learned()
    assert "MariaDB" not in str(await ask("GET", "api/facts?org=acme&user=carl"))


async def test_a_configured_key_for_several_users_is_bound_by_whom_it_names(tmp_path: Path) -> None:
    several = [{"key": "key-of-several-1", "user": "*", "org": "acme"}, {"key": "key-of-globex-2", "user": "*"}]
    async with fake_provider() as provider, running(provider, tmp_path / "home", credentials=several) as proxy:
        ask = asking(proxy)
        named = {"x_palimpsest_project": "loom", "x_palimpsest_user": "carl"}
        assert "no member" not in await say(proxy, "We weave.", "key-of-several-1", "a", **named)
        await ask("POST", "api/members?org=acme", {"user": "ada", "role": "owner"}, status=201)
        assert "carl is no member of acme" in await say(proxy, "We weave.", "key-of-several-1", "b", **named)
        named["x_palimpsest_user"] = "ada"
        assert "no member" not in await say(proxy, "We weave.", "key-of-several-1", "c", **named)
        # What is of no organisation has no members.
        assert "no member" not in await say(proxy, "We weave.", "key-of-globex-2", "d", **named)


async def test_a_key_does_what_it_is_for(proxy: Running) -> None:
    calls = await member(proxy, "bob", scopes=["calls"])
    await calls("GET", "api/facts", status=401)
    memory = await member(proxy, "eve", scopes=["memory"])
    await memory("GET", "api/facts")
    assert "is for memory, and this asks for members" in (await memory("GET", "api/members", status=403))["error"]
    assert "shows no key" in await say(proxy, "hello", memory.token)
    members = await member(proxy, "dan", scopes=["members"])
    assert "asks for memory" in (await members("GET", "api/facts", status=403))["error"]
    told = await members("POST", "api/keys", {"name": "mine", "user": "dan", "scopes": ["memory"]}, status=403)
    assert "issues none that is" in told["error"]
    body = {"name": "some", "user": "dan", "org": "acme", "projects": ["loom"], "scopes": ["calls", "memory"]}
    assert "model calls alone" in (await asking(proxy)("POST", "api/keys", body, status=422))["error"]


async def test_members_issue_their_own_keys_and_owners_the_first_one_of_who_joins(proxy: Running) -> None:
    ada, bob = await member(proxy, "ada"), await member(proxy, "bob")
    await asking(proxy)("POST", "api/keys", {"name": "other", "user": "bob", "org": "other"}, status=201)
    made = await bob("POST", "api/keys", {"name": "phone", "scopes": ["calls"]}, status=201)
    assert SHAPE.fullmatch(made["key"]) and (made["user"], made["org"], made["made_by"]) == ("bob", "acme", "bob")
    assert "for yourself" in (await bob("POST", "api/keys", {"name": "x", "user": "ada"}, status=403))["error"]
    await ada("POST", "api/members", {"user": "eve"}, status=201)
    await ada("POST", "api/keys", {"name": "first", "user": "eve"}, status=201)
    for user in ("eve", "bob"):
        told = await ada("POST", "api/keys", {"name": "second", "user": user}, status=403)
        assert "issues keys for themselves" in told["error"] or "issue keys for themselves" in told["error"]
    assert [each["name"] for each in (await bob("GET", "api/keys"))["keys"]] == ["key of bob", "phone"]
    assert {each["user"] for each in (await ada("GET", "api/keys"))["keys"]} == {"ada", "bob", "eve"}
    await bob("DELETE", "api/keys/first", status=404)
    await ada("DELETE", "api/keys/other", status=404)
    await ada("DELETE", "api/keys/phone")
    assert "shows no key" in await say(proxy, "hello", made["key"])


async def test_members_submit_and_maintainers_approve_without_private_words(proxy: Running) -> None:
    ask, bob = asking(proxy), await member(proxy, "bob")
    eve, dan = await member(proxy, "eve"), await member(proxy, "dan")
    await ask("PATCH", "api/members/eve?org=acme", {"role": "maintainer", "project": "loom"})
    id = await put_forward(proxy, "bob")
    # Nobody else knows of it before it is submitted, and who said it does not decide for others.
    assert (await eve("GET", "api/candidates?submitted=yes"))["candidates"] == []
    await eve("GET", f"api/candidates/{id}", status=404)
    await eve("POST", f"api/candidates/{id}/submit", {}, status=404)
    assert "submit it to them" in (await bob("POST", f"api/candidates/{id}/approve", {}, status=403))["error"]
    told = await bob("POST", f"api/candidates/{id}/submit", {"text": SHARED})
    assert (told["text"], told["submitted_by"], told["yours"], told["yours_to_approve"]) == (SHARED, "bob", True, False)
    for person in (eve, dan):
        [seen] = (await person("GET", "api/candidates?submitted=yes"))["candidates"]
        assert (seen["title"], seen["why"], seen["yours"]) == (SHARED, "3 decisions in 3 sessions", False)
        one = await person("GET", f"api/candidates/{id}")
        assert one["evidence"] == [] and one["withheld"] == 1
        assert (seen["mark"], seen["evidence"], one["mark"]) == ("", [], "")
        assert not any(word in str((seen, one)) for word in ("7741", "Rosa", "Fridays"))
    for act in ("approve", "reject", "defer", "reopen"):
        assert (
            "decided by the maintainers" in (await dan("POST", f"api/candidates/{id}/{act}", {}, status=403))["error"]
        )
    # A project's maintainer does not decide for the organisation.
    await eve("POST", f"api/candidates/{id}/approve", {"to": "org"}, status=403)
    done = await approved(eve, id)
    assert done["done"] and not any(word in str(done) for word in ("7741", "Rosa", "Fridays"))
    for person in (bob, dan):
        [rule] = (await person("GET", "api/rules"))["rules"]
        assert (rule["text"], rule["submitted_by"], rule["approved_by"]) == (SHARED, "bob", "eve")
        assert rule["approved_at"] and "Rosa" not in str(rule["entities"])
    assert (await dan("GET", f"api/candidates/{id}"))["decided_by"] == "eve"
    found = (await ask("GET", "api/audit?what=approve"))["audit"]
    assert (found[0]["who"], found[0]["user"], found[0]["memory"]) == ("key of eve", "eve", id)
    await bob("POST", f"api/candidates/{id}/undo", {}, status=403)
    would = await eve("POST", f"api/candidates/{id}/undo", {})
    await eve("POST", f"api/candidates/{id}/undo", {"confirm": would["confirm"]})
    assert (await dan("GET", "api/rules"))["rules"] == []


async def test_what_many_share_is_changed_by_maintainers_alone(proxy: Running) -> None:
    bob, eve = await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    id = await put_forward(proxy, "eve")
    await approved(eve, id)
    [rule] = (await bob("GET", "api/rules"))["rules"]
    await bob("GET", f"api/facts/{rule['id']}")
    assert rule["id"] in str(await bob("GET", "api/search?text=vault"))
    for method, path, body in (
        ("DELETE", f"api/facts/{rule['id']}", None),
        ("POST", f"api/facts/{rule['id']}/update", {"text": "The vault is open."}),
        ("POST", f"api/facts/{rule['id']}/refute", {}),
        ("POST", "api/forget", {"ids": [rule["id"]]}),
    ):
        assert "only their maintainers" in (await bob(method, path, body, status=403))["error"]
    [exported] = [
        each for each in (await records(eve, rule["owner"])).splitlines() if orjson.loads(each).get("tier") == "shared"
    ]
    forged = orjson.dumps(orjson.loads(exported) | {"id": "0c000000-0000-4000-8000-00000000000a", "text": "No vault."})
    told = await bob("POST", "api/import/records?project=loom", forged)
    assert told["facts"] == 0 and "may not change" in str(told["faults"])
    assert (await eve("POST", "api/import/records?project=loom", forged))["facts"] == 1
    await eve("POST", "api/forget", {"ids": [rule["id"]]})


async def records(person: Asking, owner: str) -> bytes:
    headers = {"Authorization": f"Bearer {person.token}"}
    url = f"{person.running.url}/palimpsest/api/export/fact?owner={quote(owner, safe='')}"
    async with person.running.client.get(url, headers=headers) as reply:
        return await reply.read()


async def test_who_submitted_it_takes_it_back_and_maintainers_reject_it(proxy: Running) -> None:
    bob, eve = await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    id = await put_forward(proxy, "bob")
    await bob("POST", f"api/candidates/{id}/submit", {"to": "org"})
    await bob("POST", f"api/candidates/{id}/reopen", {})
    assert (await eve("GET", "api/candidates?submitted=yes"))["candidates"] == []
    await eve("GET", f"api/candidates/{id}", status=404)
    await bob("POST", f"api/candidates/{id}/submit", {})
    await eve("POST", f"api/candidates/{id}/reject", {"why": "not for all"})
    told = await bob("GET", f"api/candidates/{id}")
    assert (told["state"], told["decided_by"], told["reason"]) == ("rejected", "eve", "not for all")
    assert "only what waits" in (await bob("POST", f"api/candidates/{id}/submit", {}, status=409))["error"]
    # A maintainer approves what is their own without anybody else, and all see who did.
    mine = await put_forward(proxy, "eve", "sail", "2")
    await approved(eve, mine)
    [rule] = (await bob("GET", "api/rules"))["rules"]
    assert (rule["approved_by"], rule["submitted_by"]) == ("eve", "eve")


async def test_another_organisation_sees_nothing_of_it(proxy: Running) -> None:
    ask, bob = asking(proxy), await member(proxy, "bob")
    await ask("POST", "api/members?org=globex", {"user": "mallory", "role": "owner"}, status=201)
    body = {"name": "m", "user": "mallory", "org": "globex", "scopes": ALL}
    mallory = Asking(proxy, (await ask("POST", "api/keys", body, status=201))["key"])
    id = await put_forward(proxy, "bob")
    await bob("POST", f"api/candidates/{id}/submit", {})
    assert (await mallory("GET", "api/candidates?submitted=yes"))["candidates"] == []
    for act in ("approve", "reject", "submit"):
        await mallory("POST", f"api/candidates/{id}/{act}", {}, status=404)
    assert [each["user"] for each in (await mallory("GET", "api/members"))["members"]] == ["mallory"]
    assert [each["name"] for each in (await mallory("GET", "api/keys"))["keys"]] == ["m"]
    assert sorted((await ask("GET", "api/members"))["organisations"]) == ["acme", "globex"]


async def test_nothing_is_changed_while_it_cannot_be_told_who_is_a_member(
    proxy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, dan = await member(proxy, "bob"), await member(proxy, "dan", "read-only")
    ada, eve = await member(proxy, "ada"), await member(proxy, "eve", "maintainer")
    await approved(eve, await put_forward(proxy, "eve"))
    [rule] = (await bob("GET", "api/rules"))["rules"]

    async def away(org: str, user: str) -> None:
        raise OSError("the connection is lost")

    assert proxy.edge.memory is not None
    with monkeypatch.context() as while_away:
        while_away.setattr(proxy.edge.memory.journal, "membership", away)
        for person, method, path, body in (
            (bob, "DELETE", f"api/facts/{rule['id']}", None),
            (dan, "POST", "api/remember", {"text": "Dan drinks tea."}),
            (ada, "POST", "api/members", {"user": "zoe"}),
            (ada, "POST", "api/keys", {"name": "another"}),
        ):
            assert "members cannot be looked up" in (await person(method, path, body, status=503))["error"]
        assert [each["id"] for each in (await bob("GET", "api/rules"))["rules"]] == [rule["id"]]
        await ada("GET", "api/members", status=403)
        await asking(proxy)("POST", "api/remember?org=acme&user=bob", {"text": "Bob drinks tea."}, status=201)
    await bob("POST", "api/remember", {"text": "Bob drinks coffee."}, status=201)


async def test_who_is_no_member_changes_nothing_that_members_share(proxy: Running) -> None:
    ask = asking(proxy)
    carl, zed = (issued(proxy, TokenRole.USER, user, org="acme") for user in ("carl", "zed"))
    early = issued(proxy, TokenRole.USER, "max", org="globex")
    eve = await member(proxy, "eve", "maintainer")
    await approved(eve, await put_forward(proxy, "eve"))
    [rule] = (await eve("GET", "api/rules"))["rules"]
    for person in (carl, zed):
        await person("DELETE", f"api/facts/{rule['id']}", status=403)
        await person("POST", f"api/facts/{rule['id']}/update", {"text": "The vault is open."}, status=403)
    [line] = [line for line in (await records(eve, rule["owner"])).splitlines() if rule["id"] in str(line)]
    forged = orjson.dumps(orjson.loads(line) | {"id": "0c000000-0000-4000-8000-00000000000a", "text": "No vault."})
    assert (await carl("POST", "api/import/records?project=loom", forged))["facts"] == 0
    # Where an organisation has no members, nobody maintains anything.
    of_globex = orjson.dumps(orjson.loads(forged) | {"owner": "p:globex/loom"})
    assert (await early("POST", "api/import/records?project=loom", of_globex))["facts"] == 1
    await ask("DELETE", f"api/facts/{rule['id']}?org=acme&user=eve")


async def test_no_key_issues_one_that_outlives_it(proxy: Running) -> None:
    bob, soon = await member(proxy, "bob"), datetime.now(UTC) + timedelta(hours=1)
    body = {"name": "short", "scopes": ALL, "expires_at": soon.isoformat()}
    short = Asking(proxy, (await bob("POST", "api/keys", body, status=201))["key"])
    for called, wanted, ends in (
        ("for ever", None, soon),
        ("longer", soon + timedelta(days=1), soon),
        ("shorter", soon - timedelta(minutes=1), soon - timedelta(minutes=1)),
    ):
        asked = {"name": called} | ({"expires_at": wanted.isoformat()} if wanted else {})
        made = await short("POST", "api/keys", asked, status=201)
        assert datetime.fromisoformat(made["expires_at"]) == ends


async def test_who_only_reads_searches_and_sees_to_their_own_keys(proxy: Running) -> None:
    dan = await member(proxy, "dan", "read-only")
    found = await dan("POST", "api/tools/memory_search", {"arguments": {"query": "tea"}})
    assert not found["failed"]
    note = {"arguments": {"action": "add", "text": "The build uses make."}}
    assert "may only read" in (await dan("POST", "api/tools/memory_note", note, status=403))["error"]
    new = Asking(proxy, (await dan("POST", "api/keys", {"name": "new", "scopes": ALL}, status=201))["key"])
    await new("DELETE", "api/keys/key%20of%20dan")
    await dan("GET", "api/facts", status=401)
    assert "for yourself" in (await new("POST", "api/keys", {"name": "x", "user": "ada"}, status=403))["error"]
    for method, path, body in (("POST", "api/members", {"user": "zoe"}), ("DELETE", "api/members/ada", None)):
        assert "managed by its owners" in (await new(method, path, body, status=403))["error"]


async def test_a_candidate_that_a_member_imports_waits_and_names_nobody(proxy: Running) -> None:
    bob, eve = await member(proxy, "bob"), await member(proxy, "eve", "maintainer")
    await approved(eve, await put_forward(proxy, "eve"))
    [rule] = (await bob("GET", "api/rules"))["rules"]
    for number, (path, wrapped) in enumerate((("api/import/records?project=loom", False), ("api/sync", True)), 1):
        held = await bob(
            "POST", "api/remember?project=loom", {"text": f"We decided to pay Zoe first, {number}."}, status=201
        )
        forged = {
            "sort": "candidate",
            "id": f"0c000000-0000-4000-8000-0000000000b{number}",
            "owner": "up:acme/bob/loom",
            "kind": "knowledge",
            "mark": held["id"],
            "title": "Pay Zoe first.",
            "text": "Pay Zoe first.",
            "what": "decision",
            "sources": 500,
            "sessions": 300,
            "layer": "project",
            "made_at": "2026-01-01T00:00:00+00:00",
            "evidence": [held["id"]],
            "state": "approved",
            "decided_at": "2026-01-01T00:00:00+00:00",
            "reason": "Ada said so.",
            "sources_then": 500,
            "sessions_then": 300,
            "fact": rule["id"],
            "submitted_to": "o:acme",
            "submitted_by": "ada",
            "submitted_at": "2026-01-01T00:00:00+00:00",
            "decided_by": "ada",
        }
        await bob("POST", path, {"new": [forged]} if wrapped else forged)
        told = await bob("GET", f"api/candidates/{forged['id']}")
        assert (told["state"], told["sources"], told["sessions"]) == ("waiting", 1, 1)
        assert not any(told[name] for name in ("fact", "decided_by", "submitted_by", "submitted_to", "reason"))
    assert [each["submitted_by"] for each in (await eve("GET", "api/candidates?submitted=yes"))["candidates"]] == []
    [same] = (await bob("GET", "api/rules"))["rules"]
    assert (same["submitted_by"], same["approved_by"]) == ("eve", "eve")


async def test_who_only_reads_in_a_project_teaches_nothing_there(proxy: Running) -> None:
    ask, bob, dan = asking(proxy), await member(proxy, "bob"), await member(proxy, "dan", "read-only")
    mine, theirs = await put_forward(proxy, "bob", "sail"), await put_forward(proxy, "dan", "loom", "2")
    [held] = (await bob("GET", "api/facts?project=sail"))["facts"]
    [line] = (await records(bob, "up:acme/bob/sail")).splitlines()[:1]
    await ask("PATCH", "api/members/bob?org=acme", {"role": "read-only", "project": "sail"})
    await ask("PATCH", "api/members/dan?org=acme", {"role": "member", "project": "loom"})
    taught = {"text": "We decided to use PostgreSQL 16."}
    session = {
        "runtime": "claude-code",
        "session": "s1",
        "path": "/v1/messages",
        "messages": [{"role": "user", "content": taught["text"]}],
        "at": ["2026-03-04T15:30:00+00:00"],
    }
    for method, path, body in (
        ("POST", "api/remember", taught),
        ("PUT", "api/page", {"own": "Use PostgreSQL."}),
        ("POST", "api/import/notes", taught | {"at": "2026-03-04T15:30:00+00:00"}),
        ("POST", "api/import/session", session),
    ):
        assert "may only read in sail" in (await bob(method, f"{path}?project=sail", body, status=403))["error"]
    assert "may only read in sail" in (await bob("POST", f"api/candidates/{mine}/submit", {}, status=403))["error"]
    note = {"arguments": {"action": "add", "text": "The build uses make."}}
    assert (await bob("POST", "api/tools/memory_note?project=sail", note))["failed"]
    assert "may only read in sail" in (await bob("DELETE", f"api/facts/{held['id']}", status=403))["error"]
    other = orjson.loads(line) | {"id": "0c000000-0000-4000-8000-00000000000c", "text": "We use MariaDB."}
    told = await bob("POST", "api/import/records?project=sail", orjson.dumps(other))
    assert told["facts"] == 0 and "only read" in str(told["faults"])
    assert (await bob("POST", "api/sync", {"new": [other]}))["new"] == 0
    prompt = {"client": "cursor", "session": "s", "event": "prompt", "text": taught["text"]}
    await bob("POST", "api/hook?project=sail", prompt)
    await bob("POST", "api/hook?project=sail", prompt | {"event": "reply", "text": "Fine."})
    await proxy.learned()
    assert [each["id"] for each in (await bob("GET", "api/facts?project=sail"))["facts"]] == [held["id"]]
    # Elsewhere their role in the organisation holds; and a role in one project says nothing of what is in all.
    await bob("POST", "api/remember?project=loom", taught, status=201)
    await dan("POST", "api/remember?project=loom", taught, status=201)
    await dan("POST", f"api/candidates/{theirs}/submit", {})
    assert "may only read in acme" in (await dan("POST", "api/remember", taught, status=403))["error"]


@pytest.mark.parametrize("proxy", ["sqlite"], indirect=True)
async def test_who_only_reads_in_a_project_decides_and_deletes_nothing_there(proxy: Running) -> None:
    ask, bob = asking(proxy), await member(proxy, "bob")
    id, [held] = await put_forward(proxy, "bob", "sail"), (await bob("GET", "api/facts?project=sail"))["facts"]
    research = "0d000001-0000-4000-8000-000000000000"
    assert proxy.edge.memory is not None
    found = Research(research, "p:acme/sail", "u:acme/bob", "Which ports are open?", local_now(), local_now())
    await proxy.edge.memory.journal.write_research([found])
    await ask("PATCH", "api/members/bob?org=acme", {"role": "read-only", "project": "sail"})

    async def refused_all() -> None:
        for act in ("reject", "defer", "reopen"):
            told = await bob("POST", f"api/candidates/{id}/{act}", {}, status=403)
            assert "may only read in sail" in told["error"]
        await bob("DELETE", f"api/research/{research}?project=sail", status=403)
        await bob("POST", f"api/facts/{held['id']}/promote", {"to": "user"}, status=403)

    await refused_all()
    # Nor do they take back what they submitted before.
    await ask("PATCH", "api/members/bob?org=acme", {"role": "member", "project": "sail"})
    await bob("POST", f"api/candidates/{id}/submit", {})
    await ask("PATCH", "api/members/bob?org=acme", {"role": "read-only", "project": "sail"})
    await refused_all()
    # Who works in the project only lets nothing rise to what they only read.
    await ask("PATCH", "api/members/bob?org=acme", {"role": "member", "project": "sail"})
    await ask("PATCH", "api/members/bob?org=acme", {"role": "read-only"})
    told = await bob("POST", f"api/facts/{held['id']}/promote", {"to": "user"}, status=403)
    assert "may only read in the organisation" in told["error"]
    await bob("POST", f"api/candidates/{id}/reject", {})
    await bob("DELETE", f"api/research/{research}?project=sail")
