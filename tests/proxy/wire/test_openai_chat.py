import orjson

from memory.conversation import Form, Image, Opaque, Reasoning, Role, Text, ToolCall, ToolResult
from memory.edits import Append
from proxy.wire.dialect import RequestView
from proxy.wire.openai_chat import OpenAIChat
from tests.proxy.wire.shapes import OPENCODE, QWEN

CHAT = OpenAIChat()


def read(body: bytes) -> RequestView:
    return CHAT.read(body, lambda text: text)


def test_a_request_with_parallel_tool_calls_and_pictures_is_read() -> None:
    talk = read(OPENCODE).conversation
    assert (talk.dialect, talk.model, talk.stream, talk.continues) == ("openai-chat", "m", True, None)
    assert talk.tools == ("read", "grep")
    assert [(message.role, message.parts, message.takes) for message in talk.messages] == [
        (Role.SYSTEM, (Text("You are opencode."),), None),
        (Role.USER, (Text("Fix the test."),), Form.SUFFIX),
        (
            Role.ASSISTANT,
            (
                Reasoning("First I look."),
                ToolCall("call_a", "read", '{"filePath":"a.py"}'),
                ToolCall("call_b", "bash", '{"command":"pytest"}'),
            ),
            None,
        ),
        (Role.TOOL, (ToolResult("call_a", (Text("x = 1"),)),), Form.SUFFIX),
        (Role.TOOL, (ToolResult("call_b", (Text("1 failed"),)),), Form.PART),
        (Role.ASSISTANT, (Text("It expects 2."),), None),
        (
            Role.USER,
            (
                Text("Here is a screenshot."),
                Image("data:image/png;base64,iVBO"),
                Opaque("input_audio", '{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}}'),
            ),
            Form.PART,
        ),
    ]


def test_text_is_added_at_the_tail_and_the_rest_keeps_its_spelling() -> None:
    view = read(OPENCODE)
    out = CHAT.write(view, [Append(1, "\n\nB", Form.SUFFIX), Append(4, "T", Form.PART), Append(6, "é", Form.PART)])
    assert out == (
        OPENCODE.replace(b'"Fix the test."', b'"Fix the test.\\n\\nB"')
        .replace(b'"1 failed"}', b'"1 failed"},{"type":"text","text":"T"}')
        .replace(b'"format":"wav"}}', '"format":"wav"}},{"type":"text","text":"é"}'.encode())
    )


def test_a_lone_surrogate_is_read_as_a_replacement_and_forwarded_as_it_was() -> None:
    view = read(QWEN)
    assert view.conversation.messages[1].parts[1] == Text("Guten Tag, grüß dich \ufffd")
    out = CHAT.write(view, [Append(1, "!", Form.SUFFIX)])
    assert out == QWEN.replace(rb"\ud83d", rb"\ud83d!")


def test_a_suffix_goes_to_the_last_text_even_behind_a_picture() -> None:
    body = b'{"messages":[{"role":"user","content":[{"type":"text","text":"A"},{"type":"image_url","image_url":"u"}]}]}'
    assert CHAT.write(read(body), [Append(0, "B", Form.SUFFIX)]) == body.replace(b'"A"', b'"AB"')


def test_edits_of_one_message_stand_on_each_other() -> None:
    body = b'{"messages":[{"role":"user","content":"A"}]}'
    edits = [
        Append(0, "b", Form.SUFFIX),
        Append(0, "c", Form.PART),
        Append(0, "d", Form.SUFFIX),
        Append(0, "e", Form.PART),
    ]
    assert CHAT.write(read(body), edits) == (
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"Ab"},{"type":"text","text":"cd"},'
        b'{"type":"text","text":"e"}]}]}'
    )


def test_a_part_takes_the_place_of_an_empty_text() -> None:
    body = b'{"messages":[{"role":"user","content":""}]}'
    assert CHAT.write(read(body), [Append(0, "b", Form.PART)]) == body.replace(b'""', b'[{"type":"text","text":"b"}]')


def test_what_can_take_no_text_stays_as_it_is() -> None:
    body = b'{"messages":[{"role":"user","content":null},{"role":"user"},7]}'
    view = read(body)
    assert [message.takes for message in view.conversation.messages] == [None, None, None]
    assert CHAT.write(view, [Append(index, "B", Form.PART) for index in range(3)]) is body


def test_an_older_function_call_and_its_result_are_read() -> None:
    body = orjson.dumps(
        {
            "functions": [{"name": "f"}],
            "messages": [
                {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "done"},
            ],
        }
    )
    talk = read(body).conversation
    assert talk.tools == ("f",)
    assert talk.messages[0].calls == (ToolCall("", "f", "{}"),)
    assert talk.messages[1].results == (ToolResult("", (Text("done"),)),)


def test_fields_are_decoded_when_asked_for() -> None:
    view = read(OPENCODE)
    assert view.field("stream_options") == {"include_usage": True}
    assert view.field("nothing") is None


def test_the_rules_name_what_is_broken() -> None:
    body = orjson.dumps(
        {
            "messages": [
                {"role": "user", "content": []},
                {"role": "assistant", "content": None},
                {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}, {"id": "a"}]},
                {"role": "tool", "tool_call_id": "a", "content": "x"},
                {"role": "user", "content": [{"type": "text"}, "x"]},
                {"role": "tool", "tool_call_id": "b", "content": "x"},
                {"role": "wizard", "content": 7},
                3,
            ]
        }
    )
    assert CHAT.check(body) == [
        "The content of message 0 is empty.",
        "Message 1 has no content.",
        "Message 2 makes the tool call 'a' twice.",
        "The tool call 'b' of message 2 has no answer.",
        "Part 0 of message 4 is a text without text.",
        "Part 1 of message 4 has no type.",
        "Message 5 answers the tool call 'b', which nobody waits for.",
        "Message 6 has the unknown role 'wizard'.",
        "The content of message 6 is neither text nor a list.",
        "Message 7 is not an object.",
    ]
    assert CHAT.check(b"nonsense") == ["The body is not a JSON object."]
    assert CHAT.check(b'{"messages":[]}') == ["There are no messages."]


def test_arguments_are_json_or_nothing() -> None:
    calls = [{"id": id, "function": {"name": "f", "arguments": text}} for id, text in (("a", "{"), ("b", ""))]
    answers = [{"role": "tool", "tool_call_id": id, "content": "x"} for id in "ab"]
    older = {"role": "assistant", "function_call": {"name": "f", "arguments": "no"}}
    said = [{"role": "assistant", "content": None, "tool_calls": calls}, *answers, older]
    assert CHAT.check(orjson.dumps({"messages": said})) == [
        "The arguments of the tool call 'a' of message 0 are not JSON.",
        "The arguments of the tool call '' of message 3 are not JSON.",
    ]


def test_the_definitions_of_the_tools_or_functions_are_read_as_they_stand() -> None:
    for name in (b"tools", b"functions"):
        assert read(b'{"messages":[],"%b":[{"name":"f" }]}' % name).conversation.schemas == '[{"name":"f" }]'
