"""The page of an organisation, and what its members submit and approve on the page Review."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from proxy.auth.client_keys import SHAPE
from tests.fake_provider import FakeProvider
from tests.proxy.api.asking import Asking, asking
from tests.proxy.web.browsing import Browser, Html, let_in
from tests.proxy.web.test_own_token import logged_in
from tests.running import Running, running

RULE, SHARED = "Always squash before a merge, says Rosa.", "Squash before a merge."


@pytest_asyncio.fixture
async def proxy(provider: FakeProvider, tmp_path: Path) -> AsyncIterator[Running]:
    async with running(provider, tmp_path / "home", org="acme") as started:
        yield started


async def joins(ask: Asking, user: str, role: str) -> str:
    """The key of somebody who is made a member."""
    await ask("POST", "api/members", {"user": user, "role": role}, status=201)
    body = {"name": f"{user}-page", "user": user, "org": "acme", "scopes": ["memory", "members"]}
    return str((await ask("POST", "api/keys", body, status=201))["key"])


@pytest.fixture
async def people(proxy: Running, ask: Asking) -> dict[str, Browser]:
    """The browsers of an owner, a maintainer and a member."""
    roles = {"ada": "owner", "eve": "maintainer", "bob": "member"}
    return {user: (await logged_in(proxy, await joins(ask, user, role)))[0] for user, role in roles.items()}


def offered(page: Html, action: str) -> bool:
    return any(each.action.partition("?")[0].endswith(action) for each in page.forms)


async def test_an_owner_adds_gives_roles_and_removes(people: dict[str, Browser]) -> None:
    ada = people["ada"]
    page = await ada.get("organisation")
    assert "Nights" not in page.text and page.text.count("Organisation") > 1
    page = await ada.submit(page, "organisation/members", user="dan", role="member")
    assert "dan is member of acme." in page.text
    page = await ada.submit(page, "members/dan/role", role="maintainer", project="loom")
    assert "dan is maintainer in loom." in page.text and "loom: maintainer" in page.text
    form = next(each for each in page.forms if each.fields.get("project") == "loom")
    page = await ada.post(form.action, form.fields)
    assert "no role of their own in loom" in page.text
    page = await ada.submit(page, "members/bob/remove")
    assert "bob is no member any more. These open nothing any more: bob-page." in page.text
    await people["bob"].get("organisation", 401)
    assert "the only owner" in (await ada.submit(page, "members/ada/remove", 409)).text
    assert "it is one of" in (await ada.submit(page, "organisation/members", 422, user="x", role="king")).text


async def test_a_member_looks_and_issues_their_own_keys(people: dict[str, Browser]) -> None:
    bob = people["bob"]
    page = await bob.get("organisation")
    assert "maintainer" in page.text and not offered(page, "organisation/members") and "eve-page" not in page.text
    form = page.form("organisation/keys")
    given = {**form.fields, "name": "phone", "memory": "yes", "days": "30"}
    told = await bob.post(form.action, given)
    assert "not shown again" in told.text and SHAPE.search(told.text)
    page = await bob.get("organisation")
    assert "phone" in page.text and SHAPE.search(page.raw) is None
    assert "phone opens nothing any more" in (await bob.submit(page, "keys/phone/revoke")).text
    token = {"form": form.fields["form"]}
    for path in ("organisation/members", "organisation/members/eve/role", "organisation/members/eve/remove"):
        refused = await bob.post(f"/palimpsest/{path}", {**token, "user": "x", "role": "owner"}, 403)
        assert "managed by its owners" in refused.text
    refused = await bob.post(form.action, {**given, "user": "ada"}, 403)
    assert "issue keys for yourself" in refused.text
    assert "days is a number" in (await bob.post(form.action, {**given, "days": "0"}, 422)).text


async def test_a_member_submits_and_a_maintainer_approves(people: dict[str, Browser], ask: Asking) -> None:
    bob, eve, ada = people["bob"], people["eve"], people["ada"]
    held = await ask("POST", "api/remember?user=bob&project=loom", {"text": RULE}, status=201)
    page = await bob.submit(await bob.get(f"memory/{held['id']}"), f"memory/{held['id']}/promote", to="project")
    assert page.form("submit").fields["text"] == RULE
    assert "Nothing waits for you" in (await eve.get("review")).text
    page = await bob.submit(page, "submit", text=SHARED, to="project")
    assert f"Submitted: {SHARED}" in page.text and offered(page, "undo")
    review = await eve.get("review")
    assert SHARED in review.text and "submitted by bob" in review.text and "1 candidate waiting" in review.raw
    assert "Rosa" not in review.text
    link = next(each for each in review.links if each.endswith("/approve"))
    would = await eve.get(link.removeprefix("/palimpsest/"))
    assert "Rosa" not in would.text
    one = await ada.get(link.removeprefix("/palimpsest/").removesuffix("/approve"))
    assert "1 memory of those who said it" in one.text
    page = await eve.submit(would, "approve")
    assert f"Approved: {SHARED}" in page.text and "by eve" in page.text
    page = await bob.get("organisation")
    assert SHARED in page.text and "approved by eve" in page.text and "submitted by bob" in page.text
    seen = await bob.get("review")
    assert "by eve" in seen.text and not offered(seen, "/undo")


async def test_what_was_submitted_takes_the_place_of_nothing_that_waits(
    people: dict[str, Browser], ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.web.review.WAITING", 2)
    monkeypatch.setattr("proxy.web.today.EACH", 2)
    bob, words, ids = people["bob"], ("squash", "rebase", "sign", "tag", "lint"), list[str]()
    for place, word in enumerate(words):
        said = {"text": f"Always {word} before a merge."}
        held = await ask("POST", "api/remember?user=bob&project=loom", said, status=201)
        to = {"to": "project"}
        put = await ask("POST", f"api/facts/{held['id']}/promote?user=bob&project=loom", to, status=201)
        ids.append(put["candidate"]["id"])
        if place < 2:
            await ask("POST", f"api/candidates/{ids[-1]}/submit?user=bob&project=loom", {})
    page = await bob.get("review")
    waits = page.text.partition("Submitted")[0]
    assert "sign" in waits and "tag" in waits and "1 more waits behind these" in waits
    assert "squash" in page.text and "squash" not in waits and "3 candidates waiting" in page.raw
    assert [each in (await bob.get("")).raw for each in ids] == [False, False, True, True, False]
    # Whoever maintains it sees it at once, and is told how many there are.
    page = await people["eve"].get("review")
    assert "squash" in page.text and "rebase" in page.text and "2 candidates waiting" in page.raw
    assert "behind these" not in page.text
    # What another person waits for stands before what is somebody's own.
    said = {"text": "Always bisect before a fix."}
    held = await ask("POST", "api/remember?user=eve&project=loom", said, status=201)
    await ask("POST", f"api/facts/{held['id']}/promote?user=eve&project=loom", {"to": "project"}, status=201)
    page = await people["eve"].get("review")
    assert "squash" in page.text and "rebase" in page.text and "1 more waits behind these" in page.text


async def test_who_submitted_takes_it_back(people: dict[str, Browser], ask: Asking) -> None:
    bob, eve = people["bob"], people["eve"]
    held = await ask("POST", "api/remember?user=bob&project=loom", {"text": RULE}, status=201)
    page = await bob.submit(await bob.get(f"memory/{held['id']}"), f"memory/{held['id']}/promote", to="project")
    page = await bob.submit(page, "submit", text=SHARED, to="org")
    assert "for the organisation" in (await eve.get("review")).text
    await bob.submit(page, "undo")
    assert SHARED not in (await eve.get("review")).text


async def test_who_runs_the_server_sees_every_organisation(proxy: Running, ask: Asking) -> None:
    browser = await let_in(proxy)
    page = await browser.get("organisation")
    assert "Nobody is a member yet" in page.text
    page = await browser.submit(page, "organisation/members", user="ada", role="owner")
    assert "ada is owner of acme." in page.text
    page = await browser.submit(
        await browser.get("organisation?org=globex"), "organisation/members", user="m", role="owner"
    )
    assert page.url.endswith("org=globex") and "m is owner of globex" in page.text
    assert "globex" in (await browser.get("organisation")).text
    assert "/palimpsest/organisation" in (await browser.get("settings")).links


async def test_whom_the_first_member_closes_memory_to_is_named(provider: FakeProvider, tmp_path: Path) -> None:
    entry = {"key": "a-configured-key", "user": "carl", "org": "acme"}
    async with running(provider, tmp_path / "named", credentials=[entry], org="acme") as proxy:
        browser = await let_in(proxy)
        page = await browser.get("organisation")
        assert "The first member closes this organisation's memory" in page.text and "carl" in page.text
        page = await browser.submit(page, "organisation/members", user="ada", role="owner")
        assert "Without memory, as the settings' credentials name them" in page.text and "carl" in page.text
        page = await browser.submit(page, "organisation/members", user="carl", role="member")
        assert "Without memory" not in page.text


async def test_where_there_is_no_organisation_it_stands_in_no_menu(provider: FakeProvider, tmp_path: Path) -> None:
    async with running(provider, tmp_path / "alone") as proxy:
        browser = await let_in(proxy)
        assert "Organisation" not in (await browser.get("")).text
        assert "No organisation is named" in (await browser.get("organisation")).text
        assert (await asking(proxy)("GET", "api/members"))["org"] is None
