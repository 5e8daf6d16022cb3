"""Which message is the newest: what a client itself wrote behind it, and drops again, is not."""

import pytest

from memory.conversation import Image, Message, Part, Role, Text, ToolResult, digest, newest_of


def message(role: Role, *parts: Part, spoken: str = "") -> Message:
    return Message(role, parts, digest(role, parts), spoken)


ASKED = message(Role.USER, Text("Use tabs."), spoken="Use tabs.")
ANSWERED = message(Role.ASSISTANT, Text("Yes."))
RESULT = message(Role.TOOL, ToolResult("c1", (Text("ok"),)))
EMPTY_RESULT = message(Role.USER, ToolResult("c1", ()))
NOTE = message(Role.USER, Text("<note>"))
PICTURE = message(Role.USER, Image("a.png"))
RULES = message(Role.SYSTEM, Text("Be brief."))


@pytest.mark.parametrize(
    ("messages", "newest"),
    [
        ([], -1),
        ([ASKED], 0),
        ([ASKED, NOTE], 0),
        ([ASKED, NOTE, NOTE], 0),
        ([ASKED, ANSWERED, RESULT, NOTE], 2),
        ([ASKED, ANSWERED, EMPTY_RESULT, NOTE], 2),
        ([ASKED, ANSWERED, NOTE], 2),
        ([NOTE, NOTE], 1),
        ([RULES, NOTE], 1),
        ([RULES, ASKED, RULES], 1),
        ([NOTE, ASKED, RULES, NOTE], 1),
        ([ASKED, ANSWERED, RESULT, RULES], 2),
        ([ASKED, ANSWERED, RULES], 2),
        ([RULES], 0),
        ([ASKED, PICTURE], 1),
        ([ASKED, ANSWERED], 1),
    ],
)
def test_the_newest_message_stands_before_what_the_client_only_passes_along(
    messages: list[Message], newest: int
) -> None:
    assert newest_of(messages) == newest
