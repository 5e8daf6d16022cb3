import orjson
import pytest

from memory.conversation import Form, Image, Opaque, Reasoning, Role, Text, ToolCall, ToolResult
from memory.edits import Append, Drop
from proxy.wire.dialect import RequestView, Unreadable
from proxy.wire.openai_responses import OpenAIResponses
from tests.proxy.wire.shapes import CODEX

RESPONSES = OpenAIResponses()


def read(body: bytes) -> RequestView:
    return RESPONSES.read(body, lambda text: text)


def test_the_items_of_codex_are_read() -> None:
    talk = read(CODEX).conversation
    assert (talk.dialect, talk.model, talk.stream) == ("openai-responses", "gpt-x", True)
    assert talk.tools == ("exec_command", "spawn_agent", "web_search", "apply_patch")
    said = [(message.role, message.parts, message.takes) for message in talk.messages]
    assert said[2:10] == [
        (Role.USER, (Text("Why does the build fail?"),), Form.PART),
        (Role.ASSISTANT, (Reasoning("Look at the log.", "gAAAA=="),), None),
        (Role.ASSISTANT, (ToolCall("call_1", "exec_command", '{"cmd": "make", "n": 1e0}'),), None),
        (Role.ASSISTANT, (ToolCall("call_2", "apply_patch", "*** Begin Patch\n*** End Patch"),), None),
        (Role.TOOL, (ToolResult("call_1", (Text("make: *** [all] Error 2"),)),), Form.SUFFIX),
        (Role.TOOL, (ToolResult("call_2", (Text("Success."), Image("data:image/png;base64,iVBO"))),), Form.PART),
        (Role.ASSISTANT, (Text("A header is missing."),), None),
        (Role.OTHER, (Opaque("compaction", '{"type":"compaction","encrypted_content":"opaque"}'),), None),
    ]
    assert said[10][0] is Role.OTHER
    assert said[11] == (Role.USER, (Text("Then add it."),), Form.PART)


def test_text_is_added_and_the_rest_keeps_its_spelling() -> None:
    edits = [
        Append(2, "U", Form.PART),
        Append(6, "S", Form.SUFFIX),
        Append(7, "P", Form.PART),
        Append(11, "N", Form.PART),
    ]
    assert RESPONSES.write(read(CODEX), edits) == (
        CODEX.replace(b'build fail?"}', b'build fail?"},{"type":"input_text","text":"U"}')
        .replace(b'Error 2"', b'Error 2S"')
        .replace(b'base64,iVBO"}', b'base64,iVBO"},{"type":"input_text","text":"P"}')
        .replace(b'"Then add it."', b'[{"type":"input_text","text":"Then add it."},{"type":"input_text","text":"N"}]')
    )


def test_a_bare_prompt_is_one_user_message() -> None:
    body = b'{"input" : "Say hi" , "conversation":{"id":"conv_1"}, "instructions":"Be kind."}'
    view = read(body)
    assert view.prompt
    assert view.conversation.continues == "conv_1"
    assert view.conversation.instructions == "Be kind."
    assert [(m.role, m.text, m.spoken, m.takes) for m in view.conversation.messages] == [
        (Role.USER, "Say hi", "Say hi", Form.SUFFIX)
    ]
    assert RESPONSES.write(view, [Append(0, "!", Form.SUFFIX)]) == body.replace(b'"Say hi"', b'"Say hi!"')


def test_what_was_added_to_a_prompt_is_made_again_in_the_list_that_follows() -> None:
    prompt = read(b'{"input":"A"}')
    for content in ('"A"', '[{"type":"input_text","text":"A"}]'):
        listed = read(b'{"input":[{"role":"user","content":%b}]}' % content.encode())
        assert listed.conversation.messages[0].digest == prompt.conversation.messages[0].digest
        out = RESPONSES.write(listed, [Append(0, "!", Form.SUFFIX)])
        assert read(out).conversation.messages[0].parts == (Text("A!"),)


def test_a_part_for_a_prompt_makes_it_the_message_that_it_stands_for() -> None:
    view = read(b'{"input":"A","store":false}')
    assert RESPONSES.write(view, [Append(0, "s", Form.SUFFIX), Append(0, "p", Form.PART)]) == (
        b'{"input":[{"role":"user","content":[{"type":"input_text","text":"As"},{"type":"input_text","text":"p"}]}],'
        b'"store":false}'
    )


def test_what_leaves_tears_no_reasoning_from_what_was_said_after_it_at_either_edge() -> None:
    def said(role: str, text: str) -> dict[str, object]:
        return {"type": "message", "role": role, "content": text}

    def thought(id: str) -> dict[str, object]:
        return {"type": "reasoning", "id": id, "summary": [], "encrypted_content": "gAAAA=="}

    items = [said("user", "a"), thought("1"), said("assistant", "b"), said("assistant", "c"), said("user", "d")]
    items += [thought("2"), said("assistant", "e"), said("user", "f")]
    view = read(orjson.dumps({"model": "m", "input": items}))
    for gone, leaves in (
        ((3, 4), (4,)),  # only where it begins
        ((4, 5), (4,)),  # only where it ends
        ((2, 3, 4, 5), (4,)),
        ((1, 2, 3, 4), (1, 2, 3, 4)),
        ((4, 5, 6), (4, 5, 6)),
    ):
        left = orjson.loads(RESPONSES.write(view, [Drop(index) for index in gone]))["input"]
        assert left == [item for index, item in enumerate(items) if index not in leaves], gone


def test_the_output_of_the_servers_own_shell_is_left_alone() -> None:
    view = read(b'{"input":[{"type":"local_shell_call_output","id":"c","output":"{\\"output\\":\\"x\\"}"}]}')
    assert view.conversation.messages[0].results == (ToolResult("c", (Text('{"output":"x"}'),)),)
    assert view.conversation.messages[0].takes is None


def test_a_local_shell_call_keeps_its_action_as_it_stood() -> None:
    view = read(b'{"input":[{"type":"local_shell_call","call_id":"c","action":{"type":"exec", "command":["ls"]}}]}')
    assert view.conversation.messages[0].calls == (ToolCall("c", "local_shell", '{"type":"exec", "command":["ls"]}'),)


@pytest.mark.parametrize("body", [b"{}", b'{"input":null}', b'{"input":7}', b'{"input":{}}'])
def test_a_request_without_input_is_left_to_the_provider(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read(body)


def test_the_rules_name_what_is_broken() -> None:
    body = orjson.dumps(
        {
            "input": [
                {"type": "function_call_output", "call_id": "x", "output": "y"},
                {"type": "reasoning", "id": "rs_1"},
                {"role": "user", "content": []},
                {"type": "function_call", "id": "rs_1", "call_id": "a", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "a", "output": 7},
                {"role": "wizard", "content": "x"},
                {"type": "custom_tool_call", "call_id": "b"},
                {"role": "user", "content": [{"type": "input_text"}, 3]},
                {},
                5,
            ]
        }
    )
    assert RESPONSES.check(body) == [
        "The content of item 2 is empty.",
        "The content of item 4 is neither text nor a list.",
        "Item 5 has the unknown role 'wizard'.",
        "Part 0 of item 7 is a text without text.",
        "Part 1 of item 7 has no type.",
        "Item 8 has no type.",
        "Item 9 is not an object.",
        "The id 'rs_1' stands twice.",
        "The output for 'x' has no call before it.",
        "The call 'b' has no output.",
        "The reasoning 'rs_1' stands without the item that it led to.",
    ]
    assert RESPONSES.check(b'{"input":""}') == ["The input is empty."]
    assert RESPONSES.check(b"{}") == ["There is no input."]


def test_where_the_server_holds_the_history_an_output_may_stand_alone() -> None:
    body = b'{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"x","output":"y"}]}'
    assert RESPONSES.check(body) == []


def test_arguments_are_json_or_nothing() -> None:
    calls = [{"type": "function_call", "call_id": id, "arguments": text} for id, text in (("a", "{"), ("b", ""))]
    outputs = [{"type": "function_call_output", "call_id": id, "output": "x"} for id in "ab"]
    assert RESPONSES.check(orjson.dumps({"input": [*calls, *outputs]})) == [
        "The arguments of the call 'a' are not JSON."
    ]


def test_an_output_may_answer_a_call_that_is_only_named() -> None:
    body = {"input": [{"type": "item_reference", "id": "fc_1"}, {"type": "x_output", "call_id": "a"}]}
    assert RESPONSES.check(orjson.dumps(body)) == []


def test_the_output_of_the_servers_own_shell_names_its_call_by_its_id() -> None:
    body = {"input": [{"type": "local_shell_call", "call_id": "a"}, {"type": "local_shell_call_output", "id": "a"}]}
    assert RESPONSES.check(orjson.dumps(body)) == []


def test_the_definitions_of_the_tools_are_read_as_they_stand() -> None:
    assert read(b'{"input":[],"tools":[{"type":"web_search" }]}').conversation.schemas == '[{"type":"web_search" }]'


@pytest.mark.parametrize(
    ("fields", "history"),
    [
        (b'"previous_response_id":"resp_1"', "resp_1"),
        (b'"conversation":"conv_1"', "conv_1"),
        (b'"conversation":{"id":"conv_1"}', "conv_1"),
        (b'"previous_response_id":null,"conversation":null', None),
        (b'"store":true', None),
    ],
)
def test_a_history_that_the_server_holds_is_named(fields: bytes, history: str | None) -> None:
    assert read(b'{"input":[],%b}' % fields).conversation.continues == history
