"""What is kept of a talk in which files were read that memory never reads."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from memory.conversation import Conversation, Message, Reply, Role, Text, ToolCall, ToolResult, digest
from memory.unread_files import below
from memory.withheld import WITHHELD, withheld, withheld_reply

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
        (asked("read_many_files", paths=["README.md", "keys/a.txt"]), False),
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
