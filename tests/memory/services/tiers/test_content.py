"""A handle brings back what it stands for, in the tier that was asked for, to the person whose it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memory.conversation import Image, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, digest
from memory.edits import ContentTier, handle
from memory.ports import JournaledMessage, Lesson, Overview
from memory.scope import Scope
from memory.services.person.commands import Ambiguous, NotFound
from memory.services.tiers.content import Contents, NoHandle
from memory.stores.journal import SqliteJournal, SqlJournal
from tests.memory.stores.derived_facts import ANN, AT, BOB, SECRET, exchange, fact, open_journal, session, user

MADE = Overview(900, "a log of 90 lines", "line 1\n…\nline 90", 12)


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqlJournal]:
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


def message(role: Role, *parts: Part) -> Message:
    return Message(role, parts, digest(role, parts))


async def test_every_tier_is_given_and_the_whole_where_there_is_no_lower_one(journal: SqlJournal) -> None:
    said = message(Role.TOOL, ToolResult("c1", (Text("one"), Text("two"))), Text("short"))
    await journal.commit(exchange("e1", [said]))
    only_a_line = Overview(5, "a line", "", 0)
    await journal.write_overviews(1, "u:/ann", {(said.digest, 0): MADE, (said.digest, 1): only_a_line})
    contents = Contents(journal)
    name = handle(said.digest, 0)
    told = {tier: await contents.content(name, tier, ANN) for tier in ContentTier}
    assert [(told[tier].text, told[tier].tier) for tier in ContentTier] == [
        (MADE.line, ContentTier.L0),
        (MADE.text, ContentTier.L1),
        ("one\ntwo", ContentTier.L2),
    ]
    assert (told[ContentTier.L2].handle, told[ContentTier.L2].kind, told[ContentTier.L2].role) == (
        name,
        "result",
        "tool",
    )
    assert (told[ContentTier.L2].tokens, told[ContentTier.L2].line) == (900, MADE.line)
    lowest = [await contents.content(handle(said.digest, 1), tier, ANN) for tier in ContentTier]
    assert [(each.text, each.tier) for each in lowest] == [
        ("a line", ContentTier.L0),
        ("short", ContentTier.L2),
        ("short", ContentTier.L2),
    ]


async def test_every_kind_of_part_is_given_whole(journal: SqlJournal) -> None:
    parts = (
        Reasoning("hm", "sig"),
        ToolCall("c1", "write", '{"a": 1}'),
        Image("https://x.test/a.png"),
        Opaque("file", '{"b":1e0}'),
        ToolResult("c0", (Text("seen"), Image("data:image/png;base64,AAAA"), Opaque("x", "{}"))),
    )
    said = message(Role.ASSISTANT, *parts)
    await journal.commit(exchange("e1", [said]))
    found = [
        await Contents(journal).content(f"#{handle(said.digest, i)}", ContentTier.L2, ANN) for i in range(len(parts))
    ]
    assert [(each.kind, each.text, each.name) for each in found] == [
        ("reasoning", "hm", ""),
        ("call", '{"a": 1}', "write"),
        ("image", "https://x.test/a.png", ""),
        ("other", '{"b":1e0}', ""),
        ("result", "seen\n[picture PNG]\n{}", ""),
    ]
    assert found[4].images == ("data:image/png;base64,AAAA",)


async def test_another_person_has_no_such_content(journal: SqlJournal) -> None:
    said = user("mine")
    await journal.commit(exchange("e1", [said]))
    for scope in (BOB, Scope(), Scope(org="acme", user="ann"), Scope(project="boat")):
        with pytest.raises(NotFound):
            await Contents(journal).content(handle(said.digest, 0), ContentTier.L2, scope)
        with pytest.raises(NotFound):
            await Contents(journal).pin(handle(said.digest, 0), scope, AT)
    assert (await Contents(journal).content(handle(said.digest, 0), ContentTier.L2, Scope(user="ann"))).text == "mine"


async def test_what_is_no_handle_unknown_or_out_of_range_is_said(journal: SqlJournal) -> None:
    said = user("mine")
    await journal.commit(exchange("e1", [said]))
    contents = Contents(journal)
    for text in ("", "f-code", "0a1b", "zz1b2c3d4e5f.0", "0a1b2c3d4e5f.x"):
        with pytest.raises(NoHandle, match="is no handle"):
            await contents.content(text, ContentTier.L2, ANN)
    with pytest.raises(NotFound, match="there is no content"):
        await contents.content("000000000000.0", ContentTier.L2, ANN)
    with pytest.raises(NotFound, match="its message has 1 parts"):
        await contents.content(handle(said.digest, 1), ContentTier.L2, ANN)


class TwoAlike(SqliteJournal):
    """A journal in which every beginning stands for two messages."""

    async def messages_by_digest(self, person: str, prefix: str, limit: int = 2) -> list[JournaledMessage]:
        return [JournaledMessage(user("a")), JournaledMessage(user("b"))]


async def test_a_beginning_of_several_handles_is_refused_and_names_them(tmp_path: Path) -> None:
    journal = TwoAlike(tmp_path / "j" / "journal.db", lambda text: text)
    try:
        with pytest.raises(Ambiguous) as refused:
            await Contents(journal).content("0a1b2c3d.3", ContentTier.L2, ANN)
    finally:
        await journal.close()
    assert refused.value.ids == (f"{user('a').digest.hex()}.3", f"{user('b').digest.hex()}.3")


async def test_a_message_without_its_secret_says_so(journal: SqlJournal) -> None:
    said = user(f"use {SECRET}")
    await journal.commit(exchange("e1", [said]))
    found = await Contents(journal).content(handle(said.digest, 0), ContentTier.L2, ANN)
    assert found.redacted
    assert SECRET not in found.text


async def test_what_was_forgotten_is_not_given_any_more(journal: SqlJournal) -> None:
    said = user("the launch code is marmalade")
    await journal.commit(exchange("e1", [said]))
    one = fact("a code", source=said.digest)
    await journal.learn(Lesson(1, (one,)))
    await journal.forget([one.id], AT)
    with pytest.raises(NotFound, match="it was forgotten"):
        await Contents(journal).content(handle(said.digest, 0), ContentTier.L2, ANN)


async def test_a_pinned_content_is_pinned_under_its_handle_until_it_is_let_go(journal: SqlJournal) -> None:
    said = user("mine")
    await journal.commit(exchange("e1", [said], of=session("s1")))
    name = handle(said.digest, 0)
    assert await Contents(journal).pin(said.digest.hex()[:8], ANN, AT) == name
    assert await journal.pinned("s1") == {name}
    assert await Contents(journal).pin(name, ANN, None) == name
    assert await journal.pinned("s1") == frozenset()
