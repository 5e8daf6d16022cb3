from memory.conversation import Form, Image, Message, Opaque, Role, Text, ToolCall, ToolResult
from memory.edits import Append, Drop, Insert, Replace
from memory.services.transfer.session_view import edited

ASKED = Message(Role.USER, (Text("Look."), Image("https://a.example/b.png")), b"1", "Look.")
CALLED = Message(Role.ASSISTANT, (ToolCall("c", "read", '{"path": "a"}'),), b"2")
RESULT = Message(Role.TOOL, (ToolResult("c", (Text("whole"), Image("x")), True),), b"3")
OTHER = Message(Role.OTHER, (Opaque("x", "{}"),), b"4")
ALL = (ASKED, CALLED, RESULT, OTHER)


def test_without_edits_it_is_the_messages() -> None:
    assert edited(ALL, ()) == ALL


def test_contents_are_replaced_and_ids_stay() -> None:
    edits = (Replace(0, 1, "a picture"), Replace(1, 0, "{}"), Replace(2, 0, "short"), Replace(3, 0, "no"))
    asked, called, result, other = edited(ALL, edits)
    assert asked.parts == (Text("Look."), Text("a picture"))
    assert called.parts == (ToolCall("c", "read", "{}"),)
    assert result.parts == (ToolResult("c", (Text("short"),), True),)
    assert other == OTHER and asked.digest == ASKED.digest


def test_what_is_appended_stands_behind_what_was_replaced_whatever_came_first() -> None:
    edits = (Append(2, "; remembered", Form.SUFFIX), Replace(2, 0, "short"), Append(0, "more", Form.PART))
    asked, _, result, _ = edited(ALL, edits)
    assert result.parts == (ToolResult("c", (Text("short; remembered"),), True),)
    assert asked.parts[-1] == Text("more")


def test_a_suffix_without_a_text_before_it_is_a_part() -> None:
    (asked,) = edited((ASKED,), (Append(0, "more", Form.SUFFIX),))
    assert asked.parts == (*ASKED.parts, Text("more"))


def test_messages_leave_and_hidden_rounds_are_not_shown() -> None:
    assert edited(ALL, (Drop(1), Drop(2), Insert(0, "{}"))) == (ASKED, OTHER)


def test_a_part_that_is_not_there_is_passed_over() -> None:
    assert edited((ASKED,), (Replace(0, 7, "x"),)) == (ASKED,)
