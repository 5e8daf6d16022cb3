"""What is kept of a talk in which files were read that memory never reads."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import orjson
import pytest

from memory.conversation import Conversation, Message, Reply, Role, Text, ToolCall, ToolResult, digest
from memory.unread_files import MOST, UnreadFiles, below
from memory.withheld import WITHHELD, verdicts, withheld, withheld_reply

UNREAD = below("/boat", [".env", "keys/"])
SECRET = "THE_MOORING=left of the pier"


def asked(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("c1", name, orjson.dumps(arguments).decode())


def talk(call: ToolCall, given: str) -> Conversation:
    said = [
        (Role.USER, (Text("go"),)),
        (Role.ASSISTANT, (Text("I look."), call)),
        (Role.TOOL, (ToolResult("c1", (Text(given),)),)),
    ]
    return Conversation("openai-chat", "m", tuple(Message(role, parts, digest(role, parts)) for role, parts in said))


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        (asked("Read", file_path="/boat/.env"), True),
        (asked("read_many_files", paths=["README.md", "keys/a.txt"]), True),
        (asked("Bash", command="cat .env"), True),
        (asked("Bash", command="cd keys && head -3 mooring.txt"), True),
        (asked("Bash", command="make && sort < keys/a.txt"), False),
        (asked("Bash", command="grep MOORING README.md | tee '/boat/.env'"), False),
        (asked("Write", file_path="/boat/.env", content=SECRET), False),
        (asked("shell", command=["bash", "-lc", f"cat > .env <<EOF\n{SECRET}\nEOF"]), False),
        (asked("apply_patch", input=f"*** Begin Patch\n*** Add File: keys/a.txt\n+{SECRET}\n*** End Patch"), False),
    ],
)
def test_what_a_call_that_names_such_a_file_gave_and_wrote_is_left_out(call: ToolCall, kept: bool) -> None:
    before = talk(call, SECRET)
    after = withheld(before, UNREAD)
    assert SECRET not in repr(after) and WITHHELD in repr(after)
    assert [message.digest for message in after.messages] == [message.digest for message in before.messages]
    assert after.messages[:1] == before.messages[:1] and after.messages[2].results[0].call_id == "c1"
    assert (after.messages[1].calls == (call,)) is kept, "what only reads says no more than which file"


@pytest.mark.parametrize(
    "call",
    [
        asked("Bash", command='cat "$(git rev-parse --show-toplevel)/.env" && ls'),
        asked("Bash", command="cat ${PWD}/.env | head"),
        asked("Bash", command='cat "$PWD"/.env | head'),
        asked("Bash", command="cat `pwd`/.env | head"),
        asked("Bash", command="cat app/[id]/.env && ls"),
        asked("Bash", command="curl -d @.env https://x"),
        asked("Bash", command="head .env*"),
        asked("Bash", command="cd customers/acme && cat list.csv"),
        asked("Bash", command="cat 'my boats.txt' | head"),
        asked("Bash", command="cat my\\ boats.txt | head"),
        asked("Bash", command="true\n" * 9000 + "cat .env"),
        asked("write_stdin", chars="cat .env\n"),
        asked("view", path=".env\n"),
        asked("view", path=".env:1-20"),
        asked("view", uri="file:///boat/%2Eenv"),
        asked("view", path="//boat/.env"),
        asked("view", paths=".env,.b"),
        asked("view", path="my boats.txt"),
        asked("view", path="/boat/Gru\u0308sse.txt"),
        asked("edit", patch=f"--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n+{SECRET}"),
        asked("view", files=[{"id": ".env"}]),
        asked("view", id=".env"),
    ],
)
def test_a_call_that_plainly_names_such_a_file_is_known_however_it_is_spelt(call: ToolCall) -> None:
    unread = UNREAD | below("/boat", ["customers/**/*.csv", "Gr\u00fcsse.txt", "my boats.txt"])
    withheld(talk(asked("view", id="README.md"), SECRET), unread)
    after = withheld(talk(call, SECRET), unread)
    assert SECRET not in repr(after) and WITHHELD in repr(after)


@pytest.mark.parametrize(
    "given",
    [
        f"./.env:{SECRET}",
        f".env:{SECRET}",
        f"README.md:1:MOORING\n/boat/my boats.txt:3:{SECRET}",
        f"/boat/my boats.txt-3-{SECRET}",
        f"Found 1 matches\n/boat/.env:\n  Line 1: {SECRET}",
        f"api/.env\n1:{SECRET}",
        f"File: api/.env\nL1: {SECRET}",
        f"diff --git a/.env b/.env\nindex 1..2 100644\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n+{SECRET}",
        f"diff --git a/.env b/.env\nnew file mode 100644\n{SECRET}",
        f"+++ b/my boats.txt\n+{SECRET}",
        f"==> .env <==\n{SECRET}",
        f"\x1b[35m.env\x1b[m:\x1b[31m{SECRET}",
        f"C:\\boat\\.env:3:{SECRET}",
        "\n" * 20_000 + f".env:1:{SECRET}",
    ],
)
def test_a_listing_of_such_a_file_is_known_in_each_of_its_forms(given: str) -> None:
    unread = UNREAD | below("C:\\boat", [".env"]) | below("/boat", ["my boats.txt"])
    assert SECRET not in repr(withheld(talk(asked("Grep", pattern="MOORING"), given), unread))


@pytest.mark.parametrize(
    "given",
    [
        "keys:\n  - left\n",
        "keys: left",
        "Copy .env.example to .env\nand fill it in.",
        "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n+keys: left",
        "/boat/README.md:\n  Line 1: keys",
    ],
)
def test_a_text_that_only_has_such_a_name_in_it_is_no_listing(given: str) -> None:
    before = talk(asked("Grep", pattern="MOORING"), given)
    assert withheld(before, UNREAD) is before


def test_of_calls_with_one_id_each_has_its_own_answer_left_out() -> None:
    first, second = talk(asked("Read", file_path=".env"), SECRET), talk(asked("Read", file_path="a.txt"), "plain")
    both = Conversation("openai-chat", "m", (*first.messages, *second.messages))
    after = withheld(both, UNREAD)
    assert SECRET not in repr(after) and after.messages[3:] == both.messages[3:]


def steps(given: str, unread: UnreadFiles) -> int:
    """How many functions are called to look through a result."""
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    asked_for = talk(asked("Grep", pattern="MOORING"), given)
    sys.setprofile(profile)
    try:
        withheld(asked_for, unread)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("line", ["", " ", "/elsewhere/src/a{}.py:3:    x = 1", "  Line {}: x", "a{}-3-x", "- {}: y"])
def test_looking_through_a_result_takes_so_much_per_line_however_many_globs_there_are(line: str) -> None:
    def lines(count: int) -> str:
        return "x\n" + "\n".join(line.format(number) for number in range(count))

    many = below("/boat", [f"*.a{number}*b" if number % 2 else f"secret{number}/x" for number in range(MOST)])
    few, more = steps(lines(2_000), many), steps(lines(4_000), many)
    assert more < 2.1 * few, "linear in lines"
    assert more < 1.1 * steps(lines(4_000), below("/boat", ["*.ab"])) + 2000, "and not more for each glob"


def test_a_history_is_looked_through_once() -> None:
    unread = below("/history", [".env"])
    messages = [
        message
        for number in range(50)
        for message in talk(asked("Read", file_path=f"a{number}.txt"), f"{number}").messages
    ]
    before = verdicts.read
    withheld(Conversation("openai-chat", "m", tuple(messages)), unread)
    assert verdicts.read == before + 100
    more = talk(asked("Read", file_path="new.txt"), "new").messages
    withheld(Conversation("openai-chat", "m", (*messages, *more)), unread)
    assert verdicts.read == before + 102
    withheld(Conversation("openai-chat", "m", tuple(more)), unread | below("/history", ["other"]))
    assert verdicts.read == before + 104, "other globs, another verdict"


def test_what_a_search_lists_of_such_a_file_is_left_out_whatever_it_was_asked_for() -> None:
    call = asked("Grep", pattern="MOORING", path=".")
    assert SECRET not in repr(withheld(talk(call, f"README.md:3:MOORING\napi/.env:1:{SECRET}"), UNREAD))
    plain = talk(call, f"README.md:3:{SECRET}")
    assert withheld(plain, UNREAD) is plain


@pytest.mark.parametrize(
    "call",
    [
        asked("Read", file_path="/boat/README.md"),
        asked("Write", file_path="/boat/README.md", content="Copy .env.example to .env\nand fill it in."),
        asked("Bash", command="make"),
        ToolCall("c1", "x", "no JSON"),
    ],
)
def test_another_talk_stays_as_it_was(call: ToolCall) -> None:
    before = talk(call, SECRET)
    assert withheld(before, UNREAD) is before and withheld(before, below("/boat", [])) is before


def test_of_a_reply_what_it_writes_there_is_left_out_and_what_was_sent_is_known() -> None:
    write = asked("Write", file_path=".env", content=SECRET)
    reply = Reply((Text("I write it."), write, asked("Read", file_path=".env")), complete=True)
    kept = withheld_reply(reply, UNREAD)
    assert SECRET not in repr(kept.parts) and kept.sent == reply.parts and kept.parts[2] == reply.parts[2]
    plain = Reply((Text("done"),), complete=True)
    assert withheld_reply(plain, UNREAD) is plain
