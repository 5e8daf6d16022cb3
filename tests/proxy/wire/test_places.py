"""What a replaced part looks like in each dialect, byte by byte, and which parts are left alone."""

from __future__ import annotations

import pytest

from memory.conversation import Form
from memory.edits import Append, Drop, Replace
from proxy.wire import DIALECTS
from tests.proxy.wire.shapes import CLAUDE, CODEX, OPENCODE, QWEN

CHAT, RESPONSES, ANTHROPIC = "/chat/completions", "/responses", "/messages"


def changed(path: str, body: bytes, *edits: Append | Replace | Drop) -> bytes:
    dialect = DIALECTS[path]
    return dialect.write(dialect.read(body, lambda text: text), edits)


@pytest.mark.parametrize(
    ("path", "body", "edit", "old", "new"),
    [
        (CHAT, OPENCODE, Replace(3, 0, 'x "2"'), b'"x = 1"', b'"x \\"2\\""'),
        (
            CHAT,
            OPENCODE,
            Replace(4, 0, "s"),
            b'"content":[{"type":"text","text":"1 failed"}]',
            b'"content":[{"type":"text","text":"s"}]',
        ),
        (
            CHAT,
            OPENCODE,
            Replace(2, 2, '{"command":"é"}'),
            rb'"{\"command\":\"pytest\"}"',
            rb'"{\"command\":\"' + "é".encode() + rb'\"}"',
        ),
        (CHAT, OPENCODE, Replace(5, 0, "s"), b'"It expects 2."', b'"s"'),
        (
            CHAT,
            OPENCODE,
            Replace(6, 1, "s"),
            b'{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO","detail":"low"}}',
            b'{"type":"text","text":"s"}',
        ),
        (CHAT, QWEN, Replace(1, 1, "s"), rb'"Guten Tag, gr\u00fc\u00df dich \ud83d"', b'"s"'),
        (CHAT, QWEN, Replace(1, 0, "s"), rb'"<system-reminder>\nDate\n</system-reminder>"', b'"s"'),
        (RESPONSES, CODEX, Replace(4, 0, '{"cmd":1}'), rb'"{\"cmd\": \"make\", \"n\": 1e0}"', rb'"{\"cmd\":1}"'),
        (RESPONSES, CODEX, Replace(5, 0, "s"), rb'"*** Begin Patch\n*** End Patch"', b'"s"'),
        (RESPONSES, CODEX, Replace(6, 0, "s"), b'"make: *** [all] Error 2"', b'"s"'),
        (
            RESPONSES,
            CODEX,
            Replace(7, 0, "s"),
            b'[{"type":"input_text","text":"Success."},\n'
            b'   {"type":"input_image","image_url":"data:image/png;base64,iVBO"}]',
            b'[{"type":"input_text","text":"s"}]',
        ),
        (RESPONSES, CODEX, Replace(11, 0, "s"), b'"Then add it."', b'"s"'),
        (ANTHROPIC, CLAUDE, Replace(1, 2, '{"a": 1e0}'), b'{"z": 1.0,"file_path":"/a.png","n":1e0}', b'{"a": 1e0}'),
        (
            ANTHROPIC,
            CLAUDE,
            Replace(2, 0, "s"),
            b'[{"type":"image","source":{"type":"base64",\n     "media_type":"image/png","data":"iVBO"}},'
            b'{"type":"text","text":"a.png, 3 kB"}]',
            b'[{"type":"text","text":"s"}]',
        ),
        (ANTHROPIC, CLAUDE, Replace(2, 1, "s"), b'"ls: not found"', b'"s"'),
        (ANTHROPIC, CLAUDE, Replace(3, 3, "s"), b'"A cat."', b'"s"'),
    ],
)
def test_the_parts_of_recorded_shapes_are_replaced(
    path: str, body: bytes, edit: Replace, old: bytes, new: bytes
) -> None:
    assert body.count(old) == 1
    assert changed(path, body, edit) == body.replace(old, new)


@pytest.mark.parametrize(
    ("path", "body", "edit"),
    [
        (CHAT, OPENCODE, Replace(2, 0, "reasoning")),
        (CHAT, OPENCODE, Replace(2, 1, "no JSON")),
        (CHAT, OPENCODE, Replace(2, 1, "[1]")),
        (CHAT, OPENCODE, Replace(2, 3, "no such part")),
        (CHAT, OPENCODE, Replace(2, -1, "{}")),
        (CHAT, OPENCODE, Replace(3, 0, " ")),
        (RESPONSES, CODEX, Replace(3, 0, "reasoning")),
        (RESPONSES, CODEX, Replace(4, 0, "no JSON")),
        (RESPONSES, CODEX, Replace(9, 0, "compaction")),
        (RESPONSES, CODEX, Replace(10, 0, "encrypted")),
        (
            RESPONSES,
            b'{"input":[{"type":"function_call","call_id":"c","arguments":"{}","signature":"x"}]}',
            Replace(0, 0, '{"a":1}'),
        ),
        (RESPONSES, b'{"input":"Say hi"}', Replace(0, 0, "prompt")),
        (RESPONSES, b'{"input":"Say hi"}', Drop(0)),
        (ANTHROPIC, CLAUDE, Replace(1, 0, "thinking")),
        (ANTHROPIC, CLAUDE, Replace(1, 2, "no JSON")),
        (ANTHROPIC, CLAUDE, Replace(3, 0, "redacted")),
        (ANTHROPIC, CLAUDE, Replace(3, 1, "{}")),
        (ANTHROPIC, CLAUDE, Replace(3, 2, "server's result")),
    ],
)
def test_what_cannot_be_replaced_is_left_as_it_was(path: str, body: bytes, edit: Replace | Drop) -> None:
    assert changed(path, body, edit) is body


@pytest.mark.parametrize(
    "call",
    [
        b'{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"thought_signature":"x"}}',
        b'{"id":"c","function":{"name":"f","arguments":"{}","thought_signature":"x"}}',
        b'{"id":"c","function":{"name":"f"}}',
    ],
)
def test_a_signed_call_and_a_call_without_arguments_are_left_alone(call: bytes) -> None:
    body = b'{"messages":[{"role":"assistant","content":null,"tool_calls":[' + call + b"]}]}"
    assert changed(CHAT, body, Replace(0, 0, '{"a":1}')) is body


def test_arguments_that_a_client_sends_as_an_object_stay_one() -> None:
    body = b'{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"arguments": {"a":1} }}]}]}'
    assert changed(CHAT, body, Replace(0, 0, ' {"b":2} ')) == body.replace(b'{"a":1}', b'{"b":2}')


def test_the_older_function_call_is_replaced_too() -> None:
    body = b'{"messages":[{"role":"assistant","refusal":null,"function_call":{"name":"f","arguments":"{}"}}]}'
    assert changed(CHAT, body, Replace(0, 0, '{"b":2}')) == body.replace(b'"{}"', rb'"{\"b\":2}"')


def test_a_cache_mark_stays_on_what_stands_in_a_parts_place() -> None:
    mark = b'"cache_control":{"type":"ephemeral", "ttl":"1h"}'
    image = b'{"messages":[{"role":"user","content":[{"type":"image","source":{}, %b}]}]}' % mark
    assert changed(ANTHROPIC, image, Replace(0, 0, "s")) == (
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"s",%b}]}]}' % mark
    )
    text = b'{"messages":[{"role":"user","content":[{%b,"type":"text","text":"A"}]}]}' % mark
    assert changed(ANTHROPIC, text, Replace(0, 0, "s")) == text.replace(b'"A"', b'"s"')
    result = b'[{"type":"text","text":"A",%b},{"type":"text","text":"B",%b}]' % (mark, mark)
    body = b'{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":%b}]}]}'
    assert changed(ANTHROPIC, body % result, Replace(0, 0, "s")) == body % (b'[{"type":"text","text":"s",%b}]' % mark)


def test_a_mark_inside_a_document_stays_with_the_text_in_its_place() -> None:
    mark = b'"cache_control":{"type":"ephemeral"}'
    body = b'{"messages":[{"role":"user","content":[%b]}]}'
    document = b'{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x",%b}]}}' % mark
    assert changed(ANTHROPIC, body % document, Replace(0, 0, "s")) == body % (b'{"type":"text","text":"s",%b}' % mark)


def test_what_points_into_a_text_leaves_with_it() -> None:
    body = (
        b'{"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A long one",'
        b'"annotations":[{"type":"url_citation","start_index":2,"end_index":6}],"logprobs":[]}]}]}'
    )
    assert changed(RESPONSES, body, Replace(0, 0, "s")) == (
        b'{"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"s",'
        b'"annotations":[],"logprobs":[]}]}]}'
    )


def test_a_result_that_the_server_reads_is_left_alone() -> None:
    body = (
        b'{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t",'
        b'"content":[{"type":"tool_reference","tool_name":"x"}]},{"type":"tool_result","tool_use_id":"u"}]}]}'
    )
    assert changed(ANTHROPIC, body, Replace(0, 0, "s"), Replace(0, 1, "s")) is body


def test_the_output_of_the_servers_own_shell_stays_json() -> None:
    body = b'{"input":[{"type":"local_shell_call_output","id":"c","output":"{\\"output\\":\\"x\\"}"}]}'
    assert changed(RESPONSES, body, Replace(0, 0, "s")) is body
    assert changed(RESPONSES, body, Replace(0, 0, '{"output":"s"}')) == body.replace(b'\\"x\\"', b'\\"s\\"')
    plain = body.replace(b"{\\", b"\\")
    assert changed(RESPONSES, plain, Replace(0, 0, "s")) == plain.replace(b'"\\"output\\":\\"x\\"}"', b'"s"')


def test_the_last_of_two_keys_is_replaced_as_it_is_the_one_that_counts() -> None:
    body = b'{"messages":[],"messages":[{"role":"tool","content":"a","tool_call_id":"c","content":"b\\udc00"}]}'
    assert changed(CHAT, body, Replace(0, 0, "s")) == body.replace(b'"b\\udc00"', b'"s"')


def test_text_for_a_replaced_result_stands_inside_it() -> None:
    body = b'{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[]}]}]}'
    assert changed(ANTHROPIC, body, Append(0, "B", Form.PART), Replace(0, 0, "A")) == body.replace(
        b"[]", b'[{"type":"text","text":"A"},{"type":"text","text":"B"}]'
    )


def test_messages_leave_with_their_white_space() -> None:
    body = b'{ "messages" : [ {"role":"user"} , {"role":"assistant"} ,\n {"role":"user"} ] }'
    assert changed(CHAT, body, Drop(0)) == b'{ "messages" : [ {"role":"assistant"} ,\n {"role":"user"} ] }'
    assert changed(CHAT, body, Drop(1)) == b'{ "messages" : [ {"role":"user"} , {"role":"user"} ] }'
    assert changed(CHAT, body, Drop(1), Drop(2)) == b'{ "messages" : [ {"role":"user"} ] }'
    assert changed(CHAT, body, Drop(2), Drop(0)) == b'{ "messages" : [ {"role":"assistant"} ] }'
    assert changed(CHAT, body, *map(Drop, range(3))) == b'{ "messages" : [  ] }'


def test_reasoning_leaves_only_with_all_that_it_led_to() -> None:
    items = (
        b'{"type":"reasoning"},{"type":"reasoning"},{"type":"function_call","call_id":"a"}',
        b'{"type":"function_call_output","call_id":"a","output":"x"}',
    )
    body = b'{"input":[{"role":"user","content":"x"},%b,%b]}' % items
    assert changed(RESPONSES, body, Drop(1)) is body
    assert changed(RESPONSES, body, Drop(3)) is body
    assert changed(RESPONSES, body, Drop(2), Drop(3)) is body
    assert changed(RESPONSES, body, *map(Drop, range(1, 5))) == b'{"input":[{"role":"user","content":"x"}]}'
    body = body.replace(
        b'"output":"x"}', b'"output":"x"},{"type":"reasoning"},{"type":"web_search_call"},{"type":"compaction"}'
    )
    assert changed(RESPONSES, body, Drop(5)) is body
    assert changed(RESPONSES, body, Drop(6)) is body
    assert changed(RESPONSES, body, Drop(7)) == body.replace(b',{"type":"compaction"}', b"")
