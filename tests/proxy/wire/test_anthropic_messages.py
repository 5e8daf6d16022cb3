import orjson
import pytest

from memory.conversation import Form, Image, Opaque, Reasoning, Role, Text, ToolCall, ToolResult
from memory.edits import Append
from proxy.wire.anthropic_messages import AnthropicMessages
from proxy.wire.dialect import RequestView, Unreadable
from tests.proxy.wire.shapes import CLAUDE

ANTHROPIC = AnthropicMessages()


def read(body: bytes) -> RequestView:
    return ANTHROPIC.read(body, lambda text: text)


def one(content: str, role: str = "user") -> bytes:
    return f'{{"messages":[{{"role":"{role}","content":{content}}}]}}'.encode()


def test_the_messages_of_claude_code_are_read() -> None:
    talk = read(CLAUDE).conversation
    assert (talk.dialect, talk.model, talk.stream) == ("anthropic-messages", "claude-x", True)
    assert talk.instructions == "x-anthropic-billing-header: cc_version=2.1;\nYou are Claude Code.\nBe short."
    assert talk.tools == ("Read", "web_search")
    said = [(message.role, message.parts, message.takes) for message in talk.messages]
    assert said[1] == (
        Role.ASSISTANT,
        (
            Reasoning("I have to read it.", "EqQB=="),
            Text("I read it."),
            ToolCall("toolu_1", "Read", '{"z": 1.0,"file_path":"/a.png","n":1e0}'),
            ToolCall("toolu_2", "Bash", '{"command":"ls"}'),
        ),
        None,
    )
    assert said[2] == (
        Role.USER,
        (
            ToolResult("toolu_1", (Image("data:image/png;base64,iVBO"), Text("a.png, 3 kB"))),
            ToolResult("toolu_2", (Text("ls: not found"),), failed=True),
        ),
        Form.SUFFIX,
    )
    assert [type(part) for part in said[3][1]] == [Reasoning, Opaque, Opaque, Text]
    assert said[4] == (Role.USER, (Text("Thanks! What breed?"),), Form.PART)


def test_text_is_added_and_the_rest_keeps_its_spelling() -> None:
    edits = [Append(0, "A", Form.PART), Append(2, "B", Form.SUFFIX), Append(4, "C", Form.PART)]
    assert ANTHROPIC.write(read(CLAUDE), edits) == (
        CLAUDE.replace(b'picture?"}', b'picture?"},{"type":"text","text":"A"}')
        .replace(b'ls: not found"', b'ls: not foundB"')
        .replace(b'"Thanks! What breed?"', b'[{"type":"text","text":"Thanks! What breed?"},{"type":"text","text":"C"}]')
    )


def test_text_goes_behind_the_clients_cache_mark() -> None:
    body = one('[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}}]')
    for form in Form:
        assert ANTHROPIC.write(read(body), [Append(0, "B", form)]) == one(
            '[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B"}]'
        )


def test_behind_results_text_stands_inside_the_last_of_them() -> None:
    body = one('[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{}}]}]')
    view = read(body)
    assert view.conversation.messages[0].takes is Form.PART
    assert ANTHROPIC.write(view, [Append(0, "B", Form.PART)]) == one(
        '[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{}},{"type":"text","text":"B"}]}]'
    )


def test_text_behind_results_and_a_reminder_is_a_block_of_its_own() -> None:
    body = one('[{"type":"tool_result","tool_use_id":"t","content":"R"},{"type":"text","text":"reminder"}]')
    assert ANTHROPIC.write(read(body), [Append(0, "B", Form.PART)]) == body.replace(
        b'"reminder"}', b'"reminder"},{"type":"text","text":"B"}'
    )


@pytest.mark.parametrize(
    "result",
    [
        '{"type":"tool_result","tool_use_id":"t"}',
        '{"type":"tool_result","tool_use_id":"t","content":null}',
        '{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"x"}]}',
    ],
)
def test_a_result_that_is_not_plain_takes_no_text(result: str) -> None:
    assert read(one(f"[{result}]")).conversation.messages[0].takes is None


@pytest.mark.parametrize("role", ["assistant", "system", "wizard"])
def test_only_a_users_message_takes_text(role: str) -> None:
    assert read(one('"x"', role)).conversation.messages[0].takes is None


def test_cache_marks_and_ids_do_not_change_what_a_message_is() -> None:
    plain = read(one('"A"')).conversation.messages[0]
    marked = read(one('[{"cache_control":{"type":"ephemeral"},"text":"A","type":"text"}]')).conversation.messages[0]
    assert plain.digest == marked.digest
    results = [
        read(one(f'[{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}]')).conversation.messages[0]
        for id, content in (("a", '"x"'), ("b", '[{"type":"text","text":"x"}]'))
    ]
    assert results[0].digest == results[1].digest


@pytest.mark.parametrize("body", [b"{}", b'{"messages":{}}', b'{"messages":"x"}'])
def test_a_request_without_messages_is_left_to_the_provider(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read(body)


def test_the_rules_name_what_is_broken() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    body = orjson.dumps(
        {
            "cache_control": {"type": "ephemeral"},
            "system": [{"type": "text", "text": "x", **mark}],
            "tools": [{"name": "t", **mark}],
            "messages": [
                {"role": "assistant", "content": "x"},
                {"role": "user", "content": [{"type": "text", "text": " \n", **mark}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}, {"type": "tool_use", "id": "b"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "x"},
                        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "", **mark}]},
                        {"type": "tool_result", "tool_use_id": "z", "content": "x"},
                    ],
                },
                {"role": "user", "content": ""},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
                {"role": "wizard", "content": "x"},
                {"role": "user", "content": [{}]},
                {"role": "user", "content": 7},
                3,
            ],
        }
    )
    assert ANTHROPIC.check(body) == [
        "Block 0 of message 1 is an empty text.",
        "The result in block 1 of message 3 is an empty text.",
        "The content of message 4 is empty.",
        "Message 6 has the unknown role 'wizard'.",
        "Block 0 of message 7 has no type.",
        "The content of message 8 is neither text nor a list.",
        "Message 9 is not an object.",
        "The first message is not the user's.",
        "The result for 'a' does not come first in its turn.",
        "The result for 'z' answers no tool use of the turn before.",
        "The tool use 'b' has no result.",
        "The tool use 'a' stands twice.",
        "The tool use 'a' has no result.",
        "There are more than 4 cache marks.",
    ]
    assert ANTHROPIC.check(b'{"messages":[]}') == ["There are no messages."]
    assert ANTHROPIC.check(b"[") == ["The body is not a JSON object."]


def test_results_may_be_spread_over_neighbouring_user_messages() -> None:
    uses = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in "ab"]
    body = {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": uses},
            *({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id}]} for id in "ab"),
        ]
    }
    assert ANTHROPIC.check(orjson.dumps(body)) == []


def test_the_persons_message_is_first_behind_the_systems() -> None:
    said = [{"role": "system", "content": "x"}, {"role": "assistant", "content": "y"}]
    assert ANTHROPIC.check(orjson.dumps({"messages": said})) == ["The first message is not the user's."]


def test_what_a_tool_is_given_is_an_object_and_what_it_gives_is_text_or_a_list() -> None:
    said = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "input": "{}"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": {}}]},
    ]
    assert ANTHROPIC.check(orjson.dumps({"messages": said})) == [
        "The input of the tool use 'a' is no object.",
        "The result in block 0 of message 2 is neither text nor a list.",
    ]


def test_in_the_live_tool_loop_thinking_comes_first() -> None:
    thinking, text = {"type": "thinking", "thinking": "x", "signature": "y"}, {"type": "text", "text": "x"}
    person = {"role": "user", "content": "x"}
    turn = {"role": "assistant", "content": [thinking, text, thinking]}
    late = {"role": "assistant", "content": [text, thinking]}
    assert ANTHROPIC.check(orjson.dumps({"messages": [person, turn]})) == []
    assert ANTHROPIC.check(orjson.dumps({"messages": [person, late, person, turn]})) == []
    assert ANTHROPIC.check(orjson.dumps({"messages": [person, late]})) == [
        "A turn of the live tool loop does not begin with its thinking."
    ]


def test_the_definitions_of_the_tools_are_read_as_they_stand() -> None:
    assert read(b'{"messages":[],"tools": [ {"name":"a", "x":1e0} ]}').conversation.schemas == (
        '[ {"name":"a", "x":1e0} ]'
    )
    assert read(b'{"messages":[],"tools":null}').conversation.schemas == ""
    assert read(b'{"messages":[]}').conversation.schemas == ""
