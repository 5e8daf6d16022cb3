"""A person edits the files of the page, and memory follows."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory.fact import Fact, Origin, State, Stream
from memory.ports import Vector
from memory.scope import Scope
from memory.stores.errors import StoreFault
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

SCOPE = Scope(None, "local", "loom")
OWNERS = SCOPE.owners()
SAID = ("I avoid dairy, always.", "I am allergic to nuts.", "We decided to keep PostgreSQL as the database.")


async def taught(proxy: Running) -> dict[Stream, Path]:
    """The files of a page on which three facts stand."""
    memory = proxy.edge.memory
    assert memory is not None
    for number, said in enumerate(SAID):
        await proxy.chat(said, session=f"s{number}")
    await proxy.learned()
    await memory.pages.page(SCOPE)
    return {stream: file for stream, (file, _) in (await memory.pages.files(SCOPE)).items()}


async def facts(proxy: Running, state: State = State.ACTIVE) -> dict[str, Fact]:
    assert proxy.edge.memory is not None
    found = await proxy.edge.memory.commands.facts(OWNERS, states=frozenset({state}))
    return {fact.text: fact for fact in found}


async def test_lines_that_are_added_changed_and_deleted_are_taken_back(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        files = await taught(proxy)
        identity = files[Stream.IDENTITY]
        text = identity.read_text()
        assert "- I avoid dairy, always." in text
        text = text.replace("- I am allergic to nuts.\n", "- I live on a boat in Bergen.\n")
        identity.write_text(text.replace("dairy, always", "dairy and eggs"))
        page = await memory.pages.text(SCOPE)
        assert "dairy and eggs" in page
        assert "boat in Bergen" in page
        assert "nuts" not in page
        now = await facts(proxy)
        assert now["I avoid dairy and eggs."].origin is Origin.PERSON
        assert now["I live on a boat in Bergen."].owner == "u:/local"
        old = (await facts(proxy, State.SUPERSEDED))["I avoid dairy, always."]
        assert now["I avoid dairy and eggs."].supersedes == (old.id,)
        gone = (await facts(proxy, State.ARCHIVED))["I am allergic to nuts."]
        # What was deleted stays off, also when it is said again; confirmed by its person, it comes back.
        await proxy.chat("Hello.", "Hi.", "I am allergic to nuts.", session="s9")
        await proxy.learned()
        assert "nuts" not in await memory.pages.text(SCOPE)
        await memory.fact_reviser.confirm(gone.id, OWNERS)
        assert "nuts" in await memory.pages.text(SCOPE)
        # And the next session begins with what the person wrote.
        await proxy.chat("What is new?", session="s10")
        assert b"boat in Bergen" in provider.last.body


async def test_what_an_edit_changes_ends_and_what_it_may_contradict_is_noted(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        known = ("We use yarn.", "The gate opens at 6 in the morning.", "Our CI runs on Jenkins.", "We build at night.")
        yarn, gate, jenkins, night = [await memory.commands.remember(text, SCOPE) for text in known]
        await memory.pages.page(SCOPE)
        file, text = (await memory.pages.files(SCOPE))[Stream.PROJECTS]
        assert "- We build at night.\n" in text
        more = "Our CI moved from Jenkins to Woodpecker.", "We switched from yarn to pnpm."
        doubtful = "The gate opens at 7 in the morning.", "The marina opens at 8.", "The marina opens at 9."
        added = "".join(f"- {line}\n" for line in (*more, *doubtful))
        file.write_text(text.replace("build at night.", "build at night and at noon.") + added)
        page = await memory.pages.text(SCOPE)
        now, ended = await facts(proxy), await facts(proxy, State.SUPERSEDED)
        assert ended.keys() == {yarn.text, jenkins.text, night.text}
        assert now["We build at night and at noon."].supersedes == (night.id,)
        assert [now[line].supersedes for line in more] == [(jenkins.id,), (yarn.id,)]
        gate_then, one, other = (now[line] for line in doubtful)
        assert gate_then.contradicts == (gate.id,) and now[gate.text].contradicts == (gate_then.id,)
        assert one.contradicts == (other.id,) and other.contradicts == (one.id,)
        assert "to pnpm" in page and jenkins.text not in page


async def test_an_edit_is_taken_though_what_is_known_cannot_be_searched(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await memory.commands.remember("We use yarn.", SCOPE)
        await memory.pages.page(SCOPE)
        file, text = (await memory.pages.files(SCOPE))[Stream.PROJECTS]

        async def away(query: object) -> Any:
            raise StoreFault("the Qdrant server is away")

        memory.recall.index.search = away  # type: ignore[method-assign]
        file.write_text(f"{text}- We switched from yarn to pnpm.\n")
        assert "to pnpm" in await memory.pages.text(SCOPE)
        assert {"We use yarn.", "We switched from yarn to pnpm."} <= (await facts(proxy)).keys()


async def test_a_slow_embedder_holds_nobody_up_while_edits_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await memory.commands.remember("We use yarn.", SCOPE)
        await memory.pages.page(SCOPE)
        file, text = (await memory.pages.files(SCOPE))[Stream.PROJECTS]
        embedder, on_the_loop, aside = memory.recall.embedder, list[str](), list[str]()
        embed = embedder.documents

        def documents(texts: Sequence[str]) -> Vector:
            (on_the_loop if threading.current_thread() is threading.main_thread() else aside).extend(texts)
            return embed(texts)

        monkeypatch.setattr(embedder, "documents", documents)
        monkeypatch.setattr(type(embedder), "quick", False)
        file.write_text(f"{text}- The marina opens at 8.\n- The bar opens at 9.\n")
        await memory.pages.text(SCOPE)
        assert "The bar opens at 9." in aside and not on_the_loop


async def test_nonsense_is_kept_as_text_and_told_with_file_and_line(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = asking(proxy)
        files = await taught(proxy)
        file = files[Stream.IDENTITY]
        before = await facts(proxy)
        file.write_bytes(file.read_bytes() + b"- ???\n- \xff\xfe\x00 junk of bytes\n")
        told = await ask("GET", "api/page?project=loom")
        assert [fault.partition(" ")[0] for fault in told["faults"]] == ["identity.md:5:", "identity.md:6:"]
        assert "- ???" in told["own"]
        assert await facts(proxy) == before
        assert file.read_text().count("\n") == 4


async def test_an_emptied_file_of_many_lines_is_an_accident(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        for name in ("dairy", "pork", "beef", "shellfish", "peanuts", "gluten"):
            await memory.commands.remember(f"I avoid {name}, always.", Scope(None, "local"), pinned=True)
        await memory.pages.page(SCOPE)
        file, text = (await memory.pages.files(SCOPE))[Stream.IDENTITY]
        kept = file.with_name("identity.md.kept")
        file.write_text("")
        assert (await memory.pages.text(SCOPE)).count("I avoid") == 6
        assert file.read_text() == text
        assert "6 of 6 lines are gone" in memory.pages.faults(SCOPE)[0]
        assert kept.exists()
        await memory.pages.unmake()
        assert not kept.exists()


async def test_an_edit_through_the_api_and_one_that_memory_has_not_seen_before_a_forget(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        ask = asking(proxy)
        files = await taught(proxy)
        told = await ask("GET", "api/page?project=loom")
        [projects] = [each for each in told["files"] if each["stream"] == "projects"]
        changed = projects["text"] + "- The release manager is Priya.\n"
        told = await ask("PUT", "api/page?project=loom", {"files": {"projects": changed}})
        assert "Priya" in told["text"]
        assert (await facts(proxy))["The release manager is Priya."].layer == "user-project"
        await ask("PUT", "api/page?project=loom", {"files": {"nowhere": "x"}}, status=422)
        await ask("PUT", "api/page?project=loom", {"files": {"projects": 7}}, status=422)
        await ask("PUT", "api/page?project=loom", {}, status=422)
        files[Stream.PROJECTS].write_text(changed + "- We release on Thursdays.\n")
        await memory.pages.unmake()
        assert "We release on Thursdays." in await memory.pages.own(SCOPE)


async def test_the_page_is_the_same_bytes_in_every_session_until_something_has_changed(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path) as proxy:
            await taught(proxy)
            assert proxy.edge.memory is not None
            first = (await proxy.edge.memory.pages.page(SCOPE)).text
        async with running(provider, tmp_path) as proxy:
            assert proxy.edge.memory is not None
            assert (await proxy.edge.memory.pages.page(SCOPE)).text == first
            provider.reply = "PostgreSQL it is, without dairy."
            await proxy.chat("Which database is it?", session="s8")
            await proxy.learned()
            assert (await proxy.edge.memory.pages.page(SCOPE)).text == first


async def test_ways_of_working_stand_on_the_page_of_the_machine_where_they_were_learned(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path, memory__page__device="boat") as proxy:
            assert proxy.edge.memory is not None
            await proxy.edge.memory.pages.write(SCOPE, None, {Stream.FLOW: "- Look at tabs before you close them.\n"})
            [fact] = (await facts(proxy)).values()
            assert (fact.stream, fact.device) == (Stream.FLOW, "boat")
            assert "tabs" in (await proxy.edge.memory.pages.page(SCOPE)).text
            assert (tmp_path / "pages/local/loom/flow.boat.md").exists()
        async with running(provider, tmp_path, memory__page__device="shore") as proxy:
            assert proxy.edge.memory is not None
            assert "tabs" not in (await proxy.edge.memory.pages.page(SCOPE)).text
            assert (tmp_path / "pages/local/loom/flow.boat.md").exists()


async def test_own_words_of_an_earlier_version_stay_and_what_it_made_goes(tmp_path: Path) -> None:
    folder = tmp_path / "pages" / "local" / "loom"
    folder.mkdir(parents=True)
    begin = "<!-- palimpsest: what follows is made from memory; write above this line and it stays -->"
    (folder / "MEMORY.md").write_text(f"My own words.\n\n{begin}\n# Memory\n- old\n<!-- palimpsest: end -->\n")
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert proxy.edge.memory is not None
        await proxy.edge.memory.pages.page(SCOPE)
        assert (folder / "MEMORY.md").read_text() == "My own words.\n"


async def test_what_was_kept_beside_a_page_outlives_what_somebody_else_forgets(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        identity = (await taught(proxy))[Stream.IDENTITY]
        kept = identity.with_name("identity.md.kept")
        kept.write_text("- What an accident has left.\n")
        other = Scope(None, "doctor 1")
        fact = await memory.commands.remember("The sextant is in the third drawer.", other)
        await memory.commands.forget([fact.id], other.owners())
        assert kept.exists() and identity.exists()
        mine = await memory.commands.remember("The barometer is in the second drawer.", SCOPE)
        await memory.commands.forget([mine.id], OWNERS)
        assert not kept.exists()
