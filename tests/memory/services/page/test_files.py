"""A page is made once and kept, also when it is empty or when nobody waited for it to the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from memory.fact import Fact, Origin, State
from memory.learning.outcome import ended
from memory.ports import Lesson, PublishFailed
from memory.scope import Layer, Scope
from memory.services.manual_facts import in_own_words
from memory.services.page import files
from memory.services.page.edits import PageEditor, SimilarFacts
from memory.services.page.files import PageFiles
from memory.settings import PageSettings
from memory.stores.journal import SqliteJournal
from tests import fresh_journal

T = TypeVar("T")
SCOPE = Scope(None, "ada", "loom")
KNOWN = in_own_words(
    "The mooring is number twelve.", SCOPE.owners()[0], Layer.USER_PROJECT, "f1", datetime(2026, 1, 1, tzinfo=UTC)
)


async def nobody(owner: str, text: str, more: Iterable[Fact] = (), /) -> list[tuple[Fact, float, float]]:
    return []


def pages_of(
    journal: SqliteJournal,
    folder: Path,
    near: SimilarFacts = nobody,
    resting: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> PageFiles:
    def now() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
        return await awaitable, ""

    edits = PageEditor(journal, near, guard, lambda: "new", now, "here", resting)
    return PageFiles(PageSettings(), journal, folder / "pages", now, edits, "here")


def held_up(journal: SqliteJournal) -> tuple[asyncio.Event, asyncio.Event]:
    """Have facts that were read for a page wait: the events are that they were read, and that it may go on."""
    begun, go_on = asyncio.Event(), asyncio.Event()
    read = journal.page_facts

    async def slow(*args: Any) -> Any:
        found = await read(*args)
        begun.set()
        await go_on.wait()
        return found

    journal.page_facts = slow  # type: ignore[method-assign,assignment]
    return begun, go_on


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    fresh_journal.put(tmp_path / "journal.db")
    opened = SqliteJournal(tmp_path / "journal.db", lambda text: text)
    yield opened
    await opened.close()


async def test_an_empty_page_is_not_made_again_for_every_session(tmp_path: Path, journal: SqliteJournal) -> None:
    asked = 0
    read = journal.page_facts

    async def counted(*args: Any) -> Any:
        nonlocal asked
        asked += 1
        return await read(*args)

    journal.page_facts = counted  # type: ignore[method-assign,assignment]
    pages = pages_of(journal, tmp_path)
    for _ in range(3):
        assert (await pages.page(SCOPE)).text == ""
    assert asked == 1
    pages.changed(frozenset(SCOPE.owners()))
    await pages.refresh()
    assert asked == 2


async def test_who_begins_a_session_has_what_was_learnt_right_before(tmp_path: Path, journal: SqliteJournal) -> None:
    pages = pages_of(journal, tmp_path)
    assert (await pages.page(SCOPE)).text == ""
    await journal.learn(Lesson(0, (KNOWN,)))
    pages.changed(frozenset(SCOPE.owners()))
    assert KNOWN.text in (await pages.page(SCOPE)).text


async def test_a_page_that_takes_long_to_make_is_given_as_it_was(
    tmp_path: Path, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", 0)
    pages = pages_of(journal, tmp_path)
    await pages.page(SCOPE)
    await journal.learn(Lesson(0, (KNOWN,)))
    begun, go_on = held_up(journal)
    pages.changed(frozenset(SCOPE.owners()))
    assert (await pages.page(SCOPE)).text == ""
    go_on.set()
    await pages.settle()
    assert begun.is_set()
    assert KNOWN.text in (await pages.page(SCOPE)).text


@pytest.mark.parametrize("here", [True, False])
async def test_what_is_forgotten_while_a_request_waits_is_not_given(
    tmp_path: Path, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    await journal.learn(Lesson(0, (KNOWN,)))
    pages = pages_of(journal, tmp_path)
    assert KNOWN.text in (await pages.page(SCOPE)).text
    begun, go_on = held_up(journal)
    pages.changed(frozenset(SCOPE.owners()))
    monkeypatch.setattr(files, "FRESH_SECONDS", 5)
    waiting = asyncio.create_task(pages.page(SCOPE))
    await begun.wait()
    await journal.forget([KNOWN.id], KNOWN.recorded_at)
    await pages.unmake() if here else pages.drop()
    go_on.set()
    assert KNOWN.text not in (await waiting).text


async def test_who_joins_a_page_that_was_begun_before_something_was_forgotten_does_not_get_it(
    tmp_path: Path, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", 0)
    await journal.learn(Lesson(0, (KNOWN,)))
    pages = pages_of(journal, tmp_path)
    begun, go_on = held_up(journal)
    first = asyncio.create_task(pages.page(SCOPE))
    await begun.wait()
    await journal.forget([KNOWN.id], KNOWN.recorded_at)
    pages.drop()
    joining = asyncio.create_task(pages.page(SCOPE))
    asyncio.get_running_loop().call_soon(go_on.set)
    assert KNOWN.text not in (await joining).text
    assert KNOWN.text not in (await first).text


async def test_a_persons_words_stay_though_the_page_is_being_made(tmp_path: Path, journal: SqliteJournal) -> None:
    pages = pages_of(journal, tmp_path)
    await pages.page(SCOPE)
    begun, go_on = held_up(journal)
    pages.changed(frozenset(SCOPE.owners()))
    making = asyncio.create_task(pages.refresh())
    await begun.wait()
    writing = asyncio.create_task(pages.write(SCOPE, "The gate is green."))
    asyncio.get_running_loop().call_soon(go_on.set)
    await asyncio.gather(making, writing)
    assert await pages.own(SCOPE) == "The gate is green."


async def test_a_page_that_cannot_be_made_keeps_no_other_from_being_made(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    pages, other = pages_of(journal, tmp_path), Scope(None, "bob", "loom")
    for scope in (SCOPE, other):
        await pages.page(scope)
    read, asked = journal.page_facts, []

    async def broken(owners: Sequence[str], most: int) -> Any:
        asked.append(owners)
        if tuple(owners) == SCOPE.owners():
            raise OSError("no room")
        return await read(owners, most)

    journal.page_facts = broken  # type: ignore[method-assign,assignment]
    pages.changed(frozenset({*SCOPE.owners(), *other.owners()}))
    with pytest.raises(OSError, match="no room"):
        await pages.refresh()
    assert other.owners() in [tuple(each) for each in asked]
    assert await pages.text(other) == ""


async def test_a_page_that_cannot_be_made_anew_is_given_as_it_was_and_tried_again(
    tmp_path: Path, journal: SqliteJournal, caplog: pytest.LogCaptureFixture
) -> None:
    pages = pages_of(journal, tmp_path)
    await pages.page(SCOPE)
    await journal.learn(Lesson(0, (KNOWN,)))
    read = journal.page_facts

    async def broken(*args: Any) -> Any:
        raise OSError("no room")

    journal.page_facts = broken  # type: ignore[method-assign,assignment]
    pages.changed(frozenset(SCOPE.owners()))
    assert (await pages.page(SCOPE)).text == ""
    assert "no room" in caplog.text
    journal.page_facts = read  # type: ignore[method-assign]
    assert KNOWN.text in (await pages.page(SCOPE)).text


async def test_who_gives_up_waiting_for_a_page_does_not_end_its_making(tmp_path: Path, journal: SqliteJournal) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    read = journal.page_facts

    async def slow(*args: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await read(*args)

    journal.page_facts = slow  # type: ignore[method-assign,assignment]
    pages = pages_of(journal, tmp_path)
    impatient = asyncio.create_task(pages.page(SCOPE))
    await begun.wait()
    impatient.cancel()
    await asyncio.wait({impatient})
    begun.clear()
    go_on.set()
    await pages.page(SCOPE)
    assert not begun.is_set()


async def test_what_changes_while_a_page_is_made_for_the_first_time_makes_it_out_of_date(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    asked = 0
    read = journal.page_facts

    async def slow(*args: Any) -> Any:
        nonlocal asked
        asked += 1
        found = await read(*args)
        begun.set()
        await go_on.wait()
        return found

    journal.page_facts = slow  # type: ignore[method-assign,assignment]
    pages = pages_of(journal, tmp_path)
    first = asyncio.create_task(pages.page(SCOPE))
    await begun.wait()
    pages.changed(frozenset(SCOPE.owners()))
    go_on.set()
    await first
    await pages.refresh()
    assert asked == 2


async def test_a_page_that_is_made_while_something_is_forgotten_is_made_again_without_it(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    await journal.learn(Lesson(0, (KNOWN,)))
    begun, go_on = held_up(journal)
    pages = pages_of(journal, tmp_path)
    first = asyncio.create_task(pages.page(SCOPE))
    await begun.wait()
    await journal.forget([KNOWN.id], KNOWN.recorded_at)
    await pages.unmake()
    go_on.set()
    assert KNOWN.text not in (await first).text
    await pages.refresh()
    assert KNOWN.text not in (await pages.page(SCOPE)).text
    assert not any(KNOWN.text in file.read_text() for file in (tmp_path / "pages").rglob("*.md"))


async def test_who_brings_pages_up_to_date_waits_for_the_one_that_is_being_made(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    await journal.learn(Lesson(0, (KNOWN,)))
    begun, go_on = held_up(journal)
    pages = pages_of(journal, tmp_path)
    first = asyncio.create_task(pages.page(SCOPE))
    await begun.wait()
    await journal.forget([KNOWN.id], KNOWN.recorded_at)
    await pages.unmake()
    asyncio.get_running_loop().call_soon(go_on.set)
    await pages.refresh()
    await first
    assert KNOWN.text not in (await pages.page(SCOPE)).text
    assert not any(KNOWN.text in file.read_text() for file in (tmp_path / "pages").rglob("*.md"))


async def test_an_edit_does_not_bring_back_what_is_forgotten_while_it_is_compared(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    await journal.learn(Lesson(0, (KNOWN,)))

    async def forgetting(owner: str, text: str, more: Iterable[Fact] = (), /) -> list[tuple[Fact, float, float]]:
        await journal.forget([KNOWN.id], KNOWN.recorded_at)
        return []

    pages = pages_of(journal, tmp_path, forgetting)
    await pages.page(SCOPE)
    [(file, text)] = [each for each in (await pages.files(SCOPE)).values() if KNOWN.text in each[1]]
    file.write_text(text.replace("number twelve", "number thirteen"))
    assert "number thirteen" in await pages.text(SCOPE)
    assert [fact.text for fact in await journal.facts([KNOWN.id, "new"])] == ["The mooring is number thirteen."]


async def test_nothing_is_forgotten_between_the_reading_and_the_writing_of_an_edit(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    await journal.learn(Lesson(0, (KNOWN,)))
    alone, asked, learn = asyncio.Lock(), list[asyncio.Task[None]](), journal.learn

    async def forget() -> None:
        async with alone:
            await journal.forget([KNOWN.id], KNOWN.recorded_at)

    async def written(lesson: Lesson) -> None:
        asked.append(asyncio.create_task(forget()))
        if not alone.locked():
            await asked[0]
        await learn(lesson)

    pages = pages_of(journal, tmp_path, resting=lambda: alone)
    await pages.page(SCOPE)
    [(file, text)] = [each for each in (await pages.files(SCOPE)).values() if KNOWN.text in each[1]]
    journal.learn = written  # type: ignore[method-assign]
    file.write_text(text.replace("number twelve", "number thirteen"))
    await pages.text(SCOPE)
    await asyncio.gather(*asked)
    assert [fact.id for fact in await journal.facts([KNOWN.id, "new"])] == ["new"]


async def test_what_becomes_of_a_fact_while_an_edit_is_compared_with_it_stays_so(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    gate = replace(KNOWN, id="f2", text="The gate opens at 6 in the morning.")
    await journal.learn(Lesson(0, (KNOWN, gate)))

    async def meanwhile(owner: str, text: str, more: Iterable[Fact] = (), /) -> list[tuple[Fact, float, float]]:
        await journal.update(ended(replace(gate, pinned=True), KNOWN.recorded_at))
        return [(gate, 0.9, 0.9)]

    pages = pages_of(journal, tmp_path, meanwhile)
    await pages.page(SCOPE)
    [(file, text)] = [each for each in (await pages.files(SCOPE)).values() if KNOWN.text in each[1]]
    file.write_text(f"{text}- The gate opens at 7 in the morning.\n")
    await pages.text(SCOPE)
    [now, new] = await journal.facts([gate.id, "new"])
    assert (now.state, now.pinned, now.contradicts) == (State.SUPERSEDED, True, (new.id,))


async def test_a_file_that_an_editor_marked_as_unicode_says_what_it_said(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    await journal.learn(Lesson(0, (KNOWN,)))
    pages = pages_of(journal, tmp_path)
    await pages.page(SCOPE)
    [(file, text)] = [each for each in (await pages.files(SCOPE)).values() if KNOWN.text in each[1]]
    file.write_text("\ufeff" + text.replace("\n", "\r\n"), newline="")
    await pages.text(SCOPE)
    assert await journal.find_facts(SCOPE.owners(), "") == [KNOWN]


async def test_pages_of_those_who_asked_last_are_kept_and_the_others_are_made_again(
    tmp_path: Path, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_CACHED_PAGES", 2)
    made: list[str] = []
    read = journal.page_facts

    async def counted(owners: Sequence[str], limit: int) -> list[Fact]:
        made.append(owners[0][-1])
        return await read(owners, limit)

    journal.page_facts = counted  # type: ignore[method-assign]
    pages = pages_of(journal, tmp_path)
    for project in "ababacabcb":
        await pages.page(Scope(None, "ada", project))
    assert made == ["a", "b", "c", "b", "c"]
    assert "own words" in await written(pages, Scope(None, "ada", "a"))


async def written(pages: PageFiles, scope: Scope) -> str:
    await pages.write(scope, "My own words.")
    for project in "bcd":
        await pages.page(Scope(None, "ada", project))
    return await pages.text(scope)


async def test_pages_with_own_words_that_are_made_at_once_are_all_noted(tmp_path: Path, journal: SqliteJournal) -> None:
    scopes = [Scope(None, "ada", f"p{number}") for number in range(5)]
    pages = pages_of(journal, tmp_path)
    for scope in scopes:
        pages.path(scope).parent.mkdir(parents=True)
        pages.path(scope).write_text("The gate code hangs in the hall.\n")
    await asyncio.gather(*map(pages.text, scopes))
    assert sorted(await pages.with_own_words()) == [f"up:/ada/p{number}" for number in range(5)]


@pytest.mark.parametrize("name", ["MEMORY.md", "projects.md"])
async def test_a_folder_in_a_files_place_is_told_and_costs_nothing(
    tmp_path: Path, journal: SqliteJournal, name: str
) -> None:
    await journal.learn(Lesson(0, (KNOWN,)))
    pages = pages_of(journal, tmp_path)
    [(file, _)] = [each for each in (await pages.files(SCOPE)).values() if KNOWN.text in each[1]]
    other = file.with_name("tasks.md")
    other.write_text("- The anchor is in the shed.\n")
    (file.parent / name).unlink(missing_ok=True)
    (file.parent / name / "within").mkdir(parents=True)
    assert KNOWN.text in await pages.text(SCOPE)
    [told] = pages.faults(SCOPE)
    assert told.startswith(f"{file.parent / name} is a folder")
    with pytest.raises(PublishFailed, match="is a folder"):
        await pages.write(SCOPE, "My own words.")
    # Forgetting takes out what was made, and leaves what nobody has taken back yet.
    await pages.unmake()
    assert not file.is_file() or KNOWN.text not in file.read_text()
    assert other.read_text() == "The anchor is in the shed.\n"
    (file.parent / name / "within").rmdir()
    (file.parent / name).rmdir()
    assert "The anchor is in the shed." in await pages.text(SCOPE)
    assert pages.faults(SCOPE) == ()
    assert [fact.text for fact in await journal.find_facts(SCOPE.owners(), "")] != [KNOWN.text]


async def test_a_folder_where_the_marks_lie_makes_nothing_a_persons_own_word(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    learnt = replace(KNOWN, origin=Origin.USER, pinned=True)
    await journal.learn(Lesson(0, (learnt,)))
    pages = pages_of(journal, tmp_path)
    [(file, _)] = [each for each in (await pages.files(SCOPE)).values() if learnt.text in each[1]]
    (file.parent / ".made.json").unlink()
    (file.parent / ".made.json").mkdir()
    pages = pages_of(journal, tmp_path)
    assert learnt.text in await pages.text(SCOPE)
    assert ".made.json is a folder" in pages.faults(SCOPE)[0]
    assert await journal.find_facts(SCOPE.owners(), "") == [learnt]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Scope("north", "kim", "depot"), Scope("south", "kim", "depot")),
        (Scope("north", "kim", "depot"), Scope(None, "kim", "depot")),
        (Scope("north", "kim", "depot"), Scope(None, "north/kim", "depot")),
        (Scope("north-kim", "x", "depot"), Scope("north", "kim-x", "depot")),
    ],
)
def test_no_two_people_have_one_folder(one: Scope, other: Scope, tmp_path: Path) -> None:
    pages = PageFiles.__new__(PageFiles)
    pages._folder, pages._device = tmp_path, "here"
    assert pages.path(one) != pages.path(other)
