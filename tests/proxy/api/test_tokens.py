"""What a token is for, how it ends, and what is written down of who used it."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proxy.auth.tokens import FILE, TokenRole, TokenStore, new_token, read_tokens, write_tokens
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking
from tests.running import Running, running

NOW = datetime.now(UTC)


def issued(proxy: Running, role: TokenRole, user: str | None = None, **more: Any) -> Asking:
    """A client with a token of its own."""
    text, made = new_token(f"{role}-{user}-{len(more)}", role, NOW, user, **more)
    file = proxy.edge.settings.home / FILE
    write_tokens(file, [*read_tokens(file), made])
    return Asking(proxy, text)


async def test_a_users_token_reaches_that_users_memories_and_nothing_else(proxy: Running, ask: Asking) -> None:
    await ask("POST", "api/remember?user=ann", {"text": "Ann's cat is called Zorro."}, status=201)
    await ask("POST", "api/remember?user=bob", {"text": "Bob's dog is called Rex."}, status=201)
    ann = issued(proxy, TokenRole.USER, "ann")
    told = await ann("GET", "api/facts")
    assert [each["text"] for each in told["facts"]] == ["Ann's cat is called Zorro."]
    assert [each["text"] for each in (await ann("GET", "api/facts?user=ann"))["facts"]] == [
        "Ann's cat is called Zorro."
    ]
    for path in ("api/facts?user=bob", "api/facts?org=acme", "api/export?user=bob", "api/log?user=bob"):
        assert "is not for that" in (await ann("GET", path, status=403))["error"]
    for path in ("api/config", "api/status", "api/backups", "api/audit", "api/nights", "api/embedder", "metrics"):
        assert "for admins" in (await ann("GET", path, status=403))["error"]
    for path in (
        "api/pause",
        "api/reindex",
        "api/consolidate",
        "api/candidates/abcdef/approve",
        "api/facts/abcdef/promote",
    ):
        assert "for admins" in (await ann("POST", path, {}, status=403))["error"]
    rex = (await ask("GET", "api/facts?user=bob"))["facts"][0]["id"]
    await ann("GET", f"api/facts/{rex}", status=404)
    await ann("POST", "api/forget", {"ids": [rex]}, status=404)
    mine = await ann("POST", "api/remember", {"text": "Ann lives in Lisbon."}, status=201)
    assert mine["owner"] == "u:/ann"
    await ann("POST", "api/forget", {"ids": [mine["id"]]})


async def test_one_that_may_only_read_changes_nothing(proxy: Running, ask: Asking) -> None:
    held = await ask("POST", "api/remember?user=ann", {"text": "Ann's cat is called Zorro."}, status=201)
    for reader in (issued(proxy, TokenRole.READ, "ann"), issued(proxy, TokenRole.READ)):
        path = "api/facts?user=ann"
        assert len((await reader("GET", path))["facts"]) == 1
        assert (await reader("POST", "api/provenance?user=ann", {"since": "2020-01-01"}))["ids"] == [held["id"]]
        for method, changing in (
            ("POST", "api/remember"),
            ("POST", "api/forget"),
            ("DELETE", f"api/facts/{held['id']}"),
            ("PATCH", f"api/facts/{held['id']}"),
            ("PUT", "api/page"),
            ("POST", "api/quarantine"),
            ("POST", "api/pause"),
        ):
            assert "may only read" in (await reader(method, f"{changing}?user=ann", {}, status=403))["error"]
    assert len((await ask("GET", "api/facts?user=ann"))["facts"]) == 1


async def test_an_admins_token_does_all_that_the_data_folders_does(proxy: Running) -> None:
    admin = issued(proxy, TokenRole.ADMIN)
    await admin("POST", "api/remember?user=ann", {"text": "Ann's cat is called Zorro."}, status=201)
    await admin("GET", "api/config")


async def test_a_token_ends_when_it_expires_and_when_it_is_revoked(proxy: Running) -> None:
    late = issued(proxy, TokenRole.USER, "ann", until=NOW - timedelta(seconds=1))
    assert "has expired" in (await late("GET", "api/facts", status=401))["error"]
    ann = issued(proxy, TokenRole.USER, "ann", until=NOW + timedelta(hours=1))
    await ann("GET", "api/facts")
    file = proxy.edge.settings.home / FILE
    write_tokens(file, [msgspec.structs.replace(each, revoked_at=NOW) for each in read_tokens(file)])
    assert "was revoked" in (await ann("GET", "api/facts", status=401))["error"]
    file.unlink()
    assert "asks for a token" in (await ann("GET", "api/facts", status=401))["error"]


async def test_who_asked_what_is_written_down_without_a_text(proxy: Running, ask: Asking) -> None:
    held = await ask("POST", "api/remember?user=ann", {"text": "Ann's cat is called Zirkonfalke."}, status=201)
    ann = issued(proxy, TokenRole.USER, "ann")
    await ann("GET", "api/search?text=Zirkonfalke")
    await ann("GET", f"api/facts/{held['id']}")
    await ann("GET", "api/config", status=403)
    await ann("POST", "api/forget", {"ids": [held["id"]]})
    await ask("GET", "api/status")
    found = (await ask("GET", "api/audit"))["audit"]
    assert [(each["who"], each["what"], each["memory"], each["user"], each["status"]) for each in found] == [
        ("user-ann-0", "POST api/forget", "", "ann", 200),
        ("user-ann-0", "GET api/config", "", "ann", 403),
        ("user-ann-0", "GET api/facts/{id}", held["id"], "ann", 200),
        ("user-ann-0", "GET api/search", "", "ann", 200),
        ("owner", "POST api/remember", "", "", 201),
    ]
    assert len((await ask("GET", "api/audit?who=owner"))["audit"]) == 2
    assert len((await ask("GET", "api/audit?what=forget"))["audit"]) == 1
    assert "zirkonfalke" not in str(await ask("GET", "api/audit")).lower()
    with closing(sqlite3.connect(proxy.edge.settings.home / "journal.db")) as connection:
        for change in ("DELETE FROM audit", "UPDATE audit SET who = 'nobody'"):
            with pytest.raises(sqlite3.IntegrityError, match="only ever added to"):
                connection.execute(change)


async def test_the_status_that_is_written_down_is_the_one_that_was_answered(proxy: Running, ask: Asking) -> None:
    await ask("GET", "api/facts/xxxx", status=404)
    await ask("POST", "api/forget", {"ids": ["xxxx"]}, status=404)
    await ask("POST", "api/nights/99/undo", status=404)
    await ask("POST", "api/remember", {"text": ""}, status=422)
    found = (await ask("GET", "api/audit"))["audit"]
    assert [each["status"] for each in found] == [422, 404, 404, 404]


async def test_a_token_never_goes_to_a_provider(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        token = issued(proxy, TokenRole.ADMIN).token
        body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
        await proxy.post("/v1/chat/completions", body, Authorization=f"Bearer {token}", x_other=token)
        await proxy.post(f"/v1/chat/completions?key={token}", body)
        assert not [each for each in provider.requests if token in str(each.headers) + each.path]


def test_only_hashes_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    text, made = new_token("ci", TokenRole.READ, NOW)
    write_tokens(tmp_path / FILE, [made])
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert text not in (tmp_path / FILE).read_text()
    known = TokenStore(tmp_path / FILE)
    assert known.of(text) == made and known.of(text[:-1] + "g") is None and known.of(made.hash) is None
    (tmp_path / FILE).write_text("{")  # damaged: those from before hold
    assert known.of(text) == made


async def test_who_has_memories_is_told_to_who_may_see_everybodys(proxy: Running, ask: Asking) -> None:
    for user in ("ada", "bob"):
        await ask("POST", f"api/remember?user={user}", {"text": "The mast is oak."}, status=201)
    assert [each["user"] for each in (await ask("GET", "api/holders"))["others"]] == ["ada", "bob"]
    told = await issued(proxy, TokenRole.USER, "ada")("GET", "api/holders")
    assert (told["mine"], told["others"]) == (1, [])
