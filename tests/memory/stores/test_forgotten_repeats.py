"""What is forgotten goes from every line that repeats it, and nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Message, Role, Text, ToolCall, ToolResult, digest
from memory.ports import Lesson, Overview
from memory.stores.forgotten_repeats import RepeatEraser
from memory.stores.journal import SqlJournal
from memory.stores.messages import MAX_TEXT_CHARS
from tests.memory.stores.derived_facts import AT, assistant, exchange, fact, open_journal, owner, user

WORDS = "The vault opens with the word marmalade."
WORD = st.sampled_from(["vault", "opens", "word", "the", "door", "copper", "Tom"])


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqlJournal]:
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


def test_only_the_lines_that_hold_a_text_go() -> None:
    repeats = RepeatEraser([WORDS])
    assert repeats.without(f"one\n> **{WORDS}** (so it is)\nthree") == "one\nthree"
    assert repeats.without("before\nthe vault opens with\nthe word «Marmalade»\nbehind") == "before\nbehind"
    assert repeats.without("the vault opens with the word jam") == "the vault opens with the word jam"
    assert repeats.without(WORDS) == ""
    assert repeats.without("") == ""


def test_long_sentences_and_commands_of_a_text_are_looked_for_and_short_ones_are_not() -> None:
    long = "It was Grace who wrote the word on the yellow paper."
    repeats = RepeatEraser([f"So be it. {long} It works with `open --door vault --office harbour --word x`."])
    assert repeats.without(f"So be it.\n{long}") == "So be it."
    assert repeats.without("$ open --door vault --office harbour --word x\nopen") == "open"
    assert not RepeatEraser(["vault", "a b"]) and RepeatEraser(["vault"]).without("vault") == "vault"


@given(st.lists(WORD, min_size=2, max_size=6), st.lists(st.lists(WORD, max_size=5), max_size=6))
def test_no_text_that_is_looked_for_is_left_wherever_the_lines_break(text: list[str], lines: list[list[str]]) -> None:
    looked_for = " ".join(text)
    left = RepeatEraser([looked_for]).without("\n".join(" ".join(line) for line in lines))
    if len(looked_for) >= 8:
        for line in left.split("\n"):
            assert f" {looked_for.casefold()} " not in f" {line.casefold()} "
    assert all(line.split() in lines for line in left.split("\n") if line)


async def test_a_tools_output_and_a_call_that_repeat_it_keep_their_other_lines(journal: SqlJournal) -> None:
    said, note = user(WORDS), {"path": "notes.md", "lines": ["Tom has the key.", WORDS], "n": 3}
    call = ToolCall("c1", "write", orjson.dumps(note).decode())
    parts = (ToolResult("c1", (Text(f"Tom has the key.\n{WORDS}\nGrace has the paper."),)),)
    calls = Message(Role.ASSISTANT, (call,), digest(Role.ASSISTANT, (call,)))
    printed = Message(Role.TOOL, parts, digest(Role.TOOL, parts))
    await journal.commit(exchange("e1", [said], "I see."))
    one = fact(WORDS, source=said.digest)
    await journal.learn(Lesson(1, (one,)))
    await journal.commit(exchange("e2", [said, assistant("I see."), calls, printed], f"{WORDS} So I wrote it."))
    overview = Overview(9, f"3 lines · {WORDS}", f"Tom has the key.\n{WORDS}", 9)
    await journal.write_overviews(0, "u:/ann", {(printed.digest, 0): overview})
    await journal.forget([one.id], AT, [owner()])
    [row] = await journal._db.read(lambda c: c.execute("SELECT line, overview FROM overviews").fetchall())
    assert tuple(row) == ("[forgotten]", "Tom has the key.")
    [kept] = await journal.messages_by_digest("u:/ann", printed.digest.hex())
    assert kept.message.results[0].text == "Tom has the key.\nGrace has the paper." and kept.redacted
    [kept] = await journal.messages_by_digest("u:/ann", calls.digest.hex())
    [left] = kept.message.parts
    assert isinstance(left, ToolCall)
    assert orjson.loads(left.arguments) == note | {"lines": ["Tom has the key.", "[forgotten]"]}


async def test_what_repeats_it_in_the_middle_of_a_text_that_nobody_reads_whole_goes_too(journal: SqlJournal) -> None:
    said, line = user(WORDS), "an unremarkable line of a log\n"
    many = MAX_TEXT_CHARS // len(line)
    parts = (ToolResult("c1", (Text(f"{line * many}{WORDS}\n{line * many}"),)),)
    printed = Message(Role.TOOL, parts, digest(Role.TOOL, parts))
    await journal.commit(exchange("e1", [said], "I see."))
    one = fact(WORDS, source=said.digest)
    await journal.learn(Lesson(1, (one,)))
    await journal.commit(exchange("e2", [said, assistant("I see."), printed], "So it ran."))
    [kept] = await journal.messages_by_digest("u:/ann", printed.digest.hex())
    assert kept.message.parts == parts and not kept.redacted, "all of it is in the journal"
    await journal.forget([one.id], AT, [owner()])
    [kept] = await journal.messages_by_digest("u:/ann", printed.digest.hex())
    assert kept.message.results[0].text == (line * (2 * many)).rstrip() and kept.redacted
