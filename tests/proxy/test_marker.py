"""A folder says how far memory takes part in it; what comes with a clone can only make it less."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import orjson
import pytest
import pytest_asyncio

from memory.conversation import Conversation, Reply
from memory.session import Mode
from memory.stores.messages import opened
from memory.unread_files import UnreadFiles
from memory.withheld import WITHHELD
from proxy.commit import LARGE_TO_LEAVE_OUT, LEAVING_OUT
from proxy.marker import LARGEST, NAME, TRUSTED, Markers, TrustedNames, TrustedProjects
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as started:
        yield started


def test_the_strictest_file_on_the_way_counts_and_a_change_at_once(tmp_path: Path) -> None:
    inner = tmp_path / "clients" / "acme"
    inner.mkdir(parents=True)
    markers = Markers()
    assert markers.of(str(inner)).mode is Mode.ON and markers.of(None).mode is Mode.ON
    (tmp_path / NAME).write_text('memory = "read-only"\n')
    assert markers.of(str(inner)).mode is Mode.READ_ONLY
    (inner / NAME).write_text('memory = "on"\n')
    assert markers.of(str(inner)).mode is Mode.READ_ONLY, "a file further down gives nothing back"
    (inner / NAME).write_text('memory = "off" # and no more')
    assert markers.of(str(inner)).mode is Mode.OFF and "off" in markers.of(str(inner)).why
    assert markers.of(str(inner.parent)).mode is Mode.READ_ONLY
    (inner / NAME).unlink()
    (tmp_path / NAME).unlink()
    assert markers.of(str(inner)).mode is Mode.ON


@pytest.mark.parametrize(
    "text",
    [
        "memory = yes",
        'memory = "never"',
        "memory = 3",
        'shared = "another"',
        'never_read = ".env"',
        'never_read = ["../.env"]',
        'shared_with = ["acme/boats"]',
        'project = "acme/lib"\nshared_with = "acme/boats"',
        'project = "acme/lib"\nshared_with = [""]',
        "project = 3",
        'project = ""',
        "\x00",
        "[[",
    ],
)
def test_a_file_that_cannot_be_understood_switches_memory_off(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    found = Markers().of(str(tmp_path))
    assert found.mode is Mode.OFF and "cannot be understood" in found.why and found.why.isprintable()


def test_a_project_counts_once_the_person_trusts_this_file_with_this_name(tmp_path: Path) -> None:
    inner = tmp_path / "work" / "api"
    inner.mkdir(parents=True)
    kept = TrustedProjects(tmp_path / "home" / "trusted.json")
    markers, file = Markers(TrustedProjects(tmp_path / "home" / "trusted.json")), inner.parent / NAME
    file.write_text('project = "acme/secret"\nmemory = "on"\n')
    assert markers.of(str(inner)).project is None
    kept.write({str(file): "acme/secret"})
    assert markers.of(str(inner)).project == "acme/secret" and markers.of(str(tmp_path)).project is None
    file.write_text('project = "acme/other-secret"\n')
    assert markers.of(str(inner)).project is None, "another name is another question"
    file.write_text('project = "acme/secret"\n')
    (inner / NAME).write_text('project = "evil"\n')
    assert markers.of(str(inner)).project == "acme/secret", "what came with a clone below it changes nothing"
    kept.write({str(file): "acme/secret", str(inner / NAME): "evil"})
    assert markers.of(str(inner)).project == "evil", "the nearest that is trusted counts"
    (tmp_path / "home" / "trusted.json").write_text("[")
    assert markers.of(str(inner)).project == "evil", "a damaged file changes nothing"
    (tmp_path / "home" / "trusted.json").unlink()
    assert markers.of(str(inner)).project is None


def test_all_that_is_never_read_on_the_way_counts(tmp_path: Path) -> None:
    inner = tmp_path / "api"
    inner.mkdir()
    (tmp_path / NAME).write_text('never_read = [".env", "/keys"]\n')
    (inner / NAME).write_text('never_read = ["*.pem"]\n')
    unread = Markers().of(str(inner)).unread
    assert all(unread.matches(str(tmp_path / each)) for each in (".env", "api/.env", "keys/a", "api/a.pem"))
    assert not any(unread.matches(str(tmp_path / each)) for each in ("a.pem", "api/keys/a", "README.md"))
    assert not Markers().of(str(tmp_path)).unread.matches(str(inner / "a.pem"))


def test_a_file_that_is_too_large_switches_memory_off(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("#" * (LARGEST - 1) + "\n")
    assert Markers().of(str(tmp_path)).mode is Mode.ON
    (tmp_path / NAME).write_text("#" * (LARGEST - 1) + '\nmemory = "off"\n')
    found = Markers().of(str(tmp_path))
    assert found.mode is Mode.OFF and "64 KiB" in found.why


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path) -> None:
    inner = tmp_path / "real" / "api"
    inner.mkdir(parents=True)
    (tmp_path / "way").mkdir()
    link = tmp_path / "way" / "link"
    link.symlink_to(inner)
    markers, file = Markers(TrustedProjects(tmp_path / "trusted.json")), inner / NAME
    file.write_text('project = "acme/boats"')
    TrustedProjects(tmp_path / "trusted.json").write({str(file): "acme/boats"})
    assert [markers.of(str(each)).project for each in (inner, link, link / "src")] == ["acme/boats"] * 3
    for above in (tmp_path / "way", tmp_path / "real"):
        (above / NAME).write_text('memory = "off"')
        assert markers.of(str(link)).mode is Mode.OFF, "the way to it counts, and where it lies"
        (above / NAME).unlink()


def test_what_is_trusted_is_for_this_user_to_read(tmp_path: Path) -> None:
    (tmp_path / "trusted.new").write_text("left over, and open")
    (tmp_path / "trusted.new").chmod(0o666)
    TrustedProjects(tmp_path / TRUSTED).write({"/boat": "acme/boats"})
    assert stat.S_IMODE((tmp_path / TRUSTED).stat().st_mode) == 0o600


async def test_a_trusted_folder_has_its_projects_memories_and_a_clone_has_not(
    provider: FakeProvider, tmp_path: Path
) -> None:
    folder, clone = tmp_path / "boat", tmp_path / "clone"
    for each in (folder, clone):
        each.mkdir()
        (each / NAME).write_text('project = "acme/boats"')
    async with running(provider, tmp_path / "home") as proxy:
        said = {"text": "We always use pnpm instead of npm here."}
        await asking(proxy)("POST", "api/remember?project=acme/boats", said, status=201)
        TrustedProjects(tmp_path / "home" / TRUSTED).write({str(folder / NAME): "acme/boats"})
        await _said(proxy, "Do we use npm or pnpm here?", clone, "s1")
        assert b"instead of npm" not in provider.requests[-1].body
        await _said(proxy, "Do we use npm or pnpm here?", folder, "s2")
        assert b"instead of npm" in provider.requests[-1].body
        told = await asking(proxy)("GET", f"api/project?directory={folder}")
        assert told["project"] == "acme/boats"


def test_what_is_shared_counts_for_the_names_that_the_person_trusts_as_the_file_says_them_now(tmp_path: Path) -> None:
    trusted, file = tmp_path / "home" / TRUSTED, tmp_path / "lib" / NAME
    file.parent.mkdir()
    markers, kept = Markers(TrustedProjects(trusted)), TrustedProjects(trusted)
    file.write_text('project = "acme/lib"\nshared_with = ["acme/boats", "acme/web"]\n')
    assert markers.shared_with("acme/boats") == ()
    kept.write({str(file): "acme/lib"})
    assert markers.shared_with("acme/boats") == (), "its project alone was trusted"
    kept.write({str(file): TrustedNames("acme/lib", ("acme/boats",))})
    assert markers.shared_with("acme/boats") == ("acme/lib",)
    assert markers.shared_with("acme/web") == (), "this one was not trusted"
    assert markers.shared_with("acme/lib") == ()
    assert markers.of(str(file.parent)).project == "acme/lib"
    for text in (
        'project = "acme/lib"\n',
        'project = "acme/lib"\nshared_with = ["acme/web"]\n',
        'project = "acme/other"\nshared_with = ["acme/boats"]\n',
        'project = "acme/lib"\nshared_with = ["acme/boats"]\nmemory = "off"\n',
        "[",
    ):
        file.write_text(text)
        assert markers.shared_with("acme/boats") == (), text
    file.unlink()
    assert markers.shared_with("acme/boats") == ()


def test_what_is_switched_off_further_up_is_shared_with_nobody(tmp_path: Path) -> None:
    trusted, file = tmp_path / "home" / TRUSTED, tmp_path / "private" / "lib" / NAME
    file.parent.mkdir(parents=True)
    file.write_text('project = "acme/lib"\nshared_with = ["acme/boats"]\n')
    TrustedProjects(trusted).write({str(file): TrustedNames("acme/lib", ("acme/boats",))})
    markers = Markers(TrustedProjects(trusted))
    assert markers.shared_with("acme/boats") == ("acme/lib",)
    (tmp_path / "private" / NAME).write_text('memory = "off"\n')
    assert markers.shared_with("acme/boats") == ()


async def test_what_is_remembered_of_a_shared_project_is_recalled_where_it_is_shared_and_nowhere_else(
    provider: FakeProvider, tmp_path: Path
) -> None:
    lib, boat, other = tmp_path / "lib", tmp_path / "boat", tmp_path / "other"
    for folder, text in (
        (lib, 'project = "acme/lib"\nshared_with = ["acme/boats"]'),
        (boat, 'project = "acme/boats"'),
        (other, 'project = "acme/other"'),
    ):
        folder.mkdir()
        (folder / NAME).write_text(text)
    async with running(provider, tmp_path / "home") as proxy:
        said = {"text": "Our linter is called Quillfish."}
        kept = (await asking(proxy)("POST", "api/remember?project=acme/lib", said, status=201))["id"]
        theirs = {"text": "The harbour master is called Brinewort."}
        await asking(proxy)("POST", "api/remember?project=acme/boats", theirs, status=201)
        trusted = TrustedProjects(tmp_path / "home" / TRUSTED)
        trusted.write({str(each / NAME): f"acme/{name}" for each, name in ((boat, "boats"), (other, "other"))})
        await _said(proxy, "Which linter do we use, and how is it named?", boat, "s1")
        assert b"Quillfish" not in provider.requests[-1].body, "the person has not said so"
        names = TrustedNames("acme/lib", ("acme/boats",))
        trusted.write({str(lib / NAME): names, str(boat / NAME): "acme/boats", str(other / NAME): "acme/other"})
        await _said(proxy, "What is our linter called?", boat, "s2")
        assert b"Quillfish" in provider.requests[-1].body
        why = await asking(proxy)("GET", "api/why?project=acme/boats")
        assert any("Quillfish" in each["text"] for each in why["added"])
        await _said(proxy, "Tell me how our linter is called.", other, "s3")
        assert b"Quillfish" not in provider.requests[-1].body
        await _said(proxy, "What is the harbour master called?", lib, "s4")
        assert b"Brinewort" not in provider.requests[-1].body, "it is shared one way"
        await asking(proxy)("POST", "api/forget?project=acme/lib", {"ids": [kept]})
        await _said(proxy, "What is our linter called?", boat, "s2")
        assert b"Quillfish" not in provider.requests[-1].body


def test_odd_folders_are_no_fault(tmp_path: Path) -> None:
    os.symlink(tmp_path / "circle", tmp_path / "circle")
    for odd in ("relative", "~/boat", "C:\\boat", str(tmp_path / "circle"), "/" + "a/" * 300, "/a\0b", "/nowhere"):
        assert Markers().of(odd).mode is Mode.ON, odd


async def _said(proxy: Running, text: str, folder: Path, session: str) -> str:
    messages = [{"role": "system", "content": f"Working directory: {folder}"}, {"role": "user", "content": text}]
    _, _, told = await proxy.post(
        "/v1/chat/completions", {"model": "gpt-4o-mini", "messages": messages}, x_session_id=session
    )
    await proxy.learned()
    return told["x-palimpsest-status"]


async def test_nothing_is_learned_or_given_in_such_a_folder(provider: FakeProvider, tmp_path: Path) -> None:
    folder = tmp_path / "boat"
    (folder / "src").mkdir(parents=True)
    async with running(provider, tmp_path / "home") as proxy:
        await _said(proxy, "We always use pnpm instead of npm here. Please remember that.", folder, "s1")
        assert (await _said(proxy, "Do we use npm or pnpm here?", folder, "s2")).startswith("remembered")
        (folder / NAME).write_text('memory = "off"')
        status = await _said(proxy, "Do we use npm or pnpm here? The safe opens at noon.", folder, "s3")
        assert status == f"off; {NAME} says off" and b"instead of npm" not in provider.requests[-1].body
        sub = await _said(
            proxy, "We decided to use PostgreSQL 16 for billing. Please remember that.", folder / "src", "s4"
        )
        assert sub.startswith("off")
        (folder / NAME).write_text('memory = "read-only"')
        assert (await _said(proxy, "Do we use npm or pnpm here, again?", folder, "s5")).startswith("remembered")
        await _said(proxy, "We decided to use Redis 7 for the cache. Please remember that.", folder, "s6")
        facts = (await asking(proxy)("GET", "api/facts"))["facts"]
        assert [each["text"] for each in facts] == ["We always use pnpm instead of npm here."], orjson.dumps(facts)
        prompt = {
            "client": "cursor",
            "session": "h",
            "event": "prompt",
            "text": "npm or pnpm?",
            "directory": str(folder),
        }
        (folder / NAME).write_text('memory = "off"')
        assert (await asking(proxy)("POST", "api/hook", prompt))["text"] == ""
        session = {
            "runtime": "codex", "session": "old", "path": "/v1/chat/completions", "directory": str(folder),
            "messages": [{"role": "user", "content": "The mascot is an otter"}], "at": ["2026-03-04T15:30:00Z"],
        }  # fmt: skip
        told = await asking(proxy)("POST", "api/import/session", session, status=403)
        assert NAME in told["error"]


async def test_what_is_never_read_is_kept_nowhere_and_reaches_the_provider(
    provider: FakeProvider, tmp_path: Path
) -> None:
    folder, secret = tmp_path / "boat", "The mooring lies left of the pier"
    folder.mkdir()
    (folder / NAME).write_text('never_read = [".env", "keys/"]')
    system = {"role": "system", "content": f"Working directory: {folder}"}
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{folder}/.env"}}'}},
        {"id": "c2", "type": "function", "function": {"name": "bash", "arguments": '{"command": "cat keys/a | sort"}'}},
    ]
    messages = [
        system,
        {"role": "user", "content": "Where do we moor? We decided to use PostgreSQL 16 for billing."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": f"MOORING={secret}."},
        {"role": "tool", "tool_call_id": "c2", "content": f"{secret}, says the key."},
    ]
    async with running(provider, tmp_path / "home") as proxy:
        body = {
            "model": "gpt-4o-mini",
            "messages": messages,
            "tools": [{"type": "function", "function": {"name": "bash"}}],
        }
        status, _, _ = await proxy.post("/v1/chat/completions", body, x_session_id="s1")
        assert status == 200 and provider.last.body.count(secret.encode()) == 2
        # What the provider was told is told again in the same bytes.
        messages += [{"role": "assistant", "content": "OK."}, {"role": "user", "content": "And which database?"}]
        await proxy.post("/v1/chat/completions", body, x_session_id="s1")
        assert provider.requests[-1].body.startswith(provider.requests[-2].body.split(b'"tools"')[0][:-2])
        await proxy.learned()
        facts = (await asking(proxy)("GET", "api/facts"))["facts"]
        assert any("PostgreSQL" in each["text"] for each in facts), "the rest is learned from"
        exported = orjson.dumps(await asking(proxy)("GET", "api/log"))
        assert secret.encode() not in exported
        [session] = {each["session"] for each in (await asking(proxy)("GET", "api/log"))["receipts"]}
        shown = orjson.dumps(await asking(proxy)("GET", f"api/sessions/{session}"))
        assert secret.encode() not in shown
    with closing(sqlite3.connect(tmp_path / "home" / "journal.db")) as journal:
        kept = [opened(body, whole=True) for (body,) in journal.execute("SELECT body FROM messages")]
    assert kept and not any(secret.encode() in each for each in kept)
    assert any(WITHHELD.encode() in each for each in kept)


@pytest.mark.parametrize("size", [10, LARGE_TO_LEAVE_OUT])
async def test_where_it_cannot_be_left_out_memory_takes_no_part_in_the_request(
    size: int, provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(conversation: Conversation, unread: UnreadFiles) -> Conversation:
        raise ValueError("no verdict")

    (tmp_path / NAME).write_text('never_read = [".env"]')
    said = "We decided to use PostgreSQL 16 for billing. Please remember that." + " " * size
    async with running(provider, tmp_path / "home") as proxy:
        with monkeypatch.context() as patched:
            patched.setattr("proxy.preparing.withheld", fails)
            status = await _said(proxy, said, tmp_path, "s1")
        assert status.startswith("degraded") and proxy.edge.degradations.counts == {LEAVING_OUT: 1}
        assert said.encode() in provider.last.body
        await proxy.learned()
        assert (await asking(proxy)("GET", "api/facts"))["facts"] == []
        assert (await asking(proxy)("GET", "api/log"))["receipts"] == []
        assert not (await _said(proxy, said, tmp_path, "s1")).startswith("degraded")


async def test_where_leaving_it_out_is_late_memory_takes_no_part_in_the_request(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / NAME).write_text('never_read = [".env"]')
    async with running(provider, tmp_path / "home") as proxy:
        assert proxy.edge.memory is not None
        monkeypatch.setattr(type(proxy.edge.memory.preparation), "time_limit", lambda *of: 0.0)
        status = await _said(proxy, "We use Redis." + " " * LARGE_TO_LEAVE_OUT, tmp_path, "s1")
        assert status.startswith("degraded") and proxy.edge.degradations.counts == {LEAVING_OUT: 1}
        assert (await asking(proxy)("GET", "api/log"))["receipts"] == []


async def test_a_reply_of_which_it_cannot_be_left_out_is_not_kept(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(reply: Reply, unread: UnreadFiles) -> Reply:
        raise ValueError("no verdict")

    monkeypatch.setattr("proxy.commit.withheld_reply", fails)
    (tmp_path / NAME).write_text('never_read = [".env"]')
    async with running(provider, tmp_path / "home") as proxy:
        await _said(proxy, "Which database?", tmp_path, "s1")
        assert proxy.edge.degradations.counts == {LEAVING_OUT: 1}
        [receipt] = (await asking(proxy)("GET", "api/log"))["receipts"]
        shown = await asking(proxy)("GET", f"api/sessions/{receipt['session']}")
        assert "assistant" not in orjson.dumps(shown).decode()
