"""Streams as providers send them, with where their terminator begins and what a reader must have heard."""

from __future__ import annotations

from dataclasses import dataclass

from memory.conversation import Opaque, Reasoning, Reply, Text, ToolCall, Usage


@dataclass(frozen=True)
class Stream:
    """``end`` is how the terminator's line begins."""

    path: str
    data: bytes
    end: bytes
    reply: Reply


CHAT = Stream(
    "/v1/chat/completions",
    (
        'data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n'
        'data: {"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"Hm, "}}]}\n\n'
        'data: {"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"grün."}}]}\n\n'
        ": keep-alive\n\n"
        'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Grü"}}]}\n\n'
        'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"ße, data: [DONE]\\n\\n 😀"}}]}\n\n'
        'data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function",'
        '"function":{"name":"read","arguments":""}}]}}]}\n\n'
        'data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function",'
        '"function":{"name":"bash","arguments":"{\\"c\\""}},{"index":0,"function":{"arguments":"{\\"p\\":"}}]}}]}\n\n'
        'data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1e0}"}},'
        '{"index":1,"function":{"arguments":":2}"}}]}}]}\n\n'
        'data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
        'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,'
        '"prompt_tokens_details":{"cached_tokens":64}}}\n\n'
        "data: [DONE]\n\n"
    ).encode(),
    b"data: [DONE]\n\n",
    Reply(
        (
            Reasoning("Hm, grün."),
            Text("Grüße, data: [DONE]\n\n 😀"),
            ToolCall("call_a", "read", '{"p":1e0}'),
            ToolCall("call_b", "bash", '{"c":2}'),
        ),
        "tool_calls",
        Usage(100, 9, 64, 0),
        True,
        "c1",
    ),
)

RESPONSES = Stream(
    "/v1/responses",
    (
        'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1",'
        '"status":"in_progress","output":[]}}\n\n'
        'event: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":0,'
        '"item":{"id":"rs_1","type":"reasoning","summary":[]}}\n\n'
        'event: response.reasoning_summary_text.delta\ndata: {"type":"response.reasoning_summary_text.delta",'
        '"output_index":0,"summary_index":0,"delta":"Look."}\n\n'
        'event: response.output_item.done\ndata: {"type":"response.output_item.done","output_index":0,"item":{"id":'
        '"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Look."}],"encrypted_content":"E="}}\n\n'
        'event: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":1,'
        '"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}\n\n'
        'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":1,'
        '"content_index":0,"delta":"The \\"type\\":\\"response.completed\\" é"}\n\n'
        'event: response.output_item.done\ndata: {"type":"response.output_item.done","output_index":1,"item":{"id":'
        '"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"The é"}]}}\n\n'
        'event: response.output_item.done\ndata: {"type":"response.output_item.done","output_index":2,"item":{"id":'
        '"fc_1","type":"function_call","call_id":"call_1","name":"exec","arguments":"{\\"n\\":1e0}"}}\n\n'
        'event: response.completed\ndata: {"type":"response.completed","sequence_number":9,"response":{"id":"resp_1",'
        '"status":"completed","output":[],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":20,'
        '"cache_write_tokens":5},"output_tokens":7}}}\n\n'
    ).encode(),
    b"event: response.completed\n",
    Reply(
        (Reasoning("Look.", "E="), Text("The é"), ToolCall("call_1", "exec", '{"n":1e0}')),
        "completed",
        Usage(50, 7, 20, 5),
        True,
        "resp_1",
    ),
)

ANTHROPIC = Stream(
    "/v1/messages",
    (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message",'
        '"role":"assistant",'
        '"content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,'
        '"cache_read_input_tokens":100,"output_tokens":1}}}\n\n'
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking",'
        '"thinking":"","signature":""}}\n\n'
        'event: ping\ndata: {"type": "ping"}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta",'
        '"thinking":"Hm"}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta",'
        '"signature":"Sig=="}}\n\n'
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
        'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text",'
        '"text":""}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta",'
        '"text":"event: message_stop\\n é"}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta",'
        '"text":"😀"}}\n\n'
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n'
        'event: content_block_start\ndata: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use",'
        '"id":"toolu_1","name":"Read","input":{}}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta",'
        '"partial_json":""}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta",'
        '"partial_json":"{\\"z\\": 1e0,"}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta",'
        '"partial_json":" \\"a\\": 1}"}}\n\n'
        'event: content_block_start\ndata: {"type":"content_block_start","index":3,"content_block":{"type":"mystery",'
        '"a":1}}\n\n'
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use"},'
        '"usage":{"output_tokens":30}}\n\n'
        'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    ).encode(),
    b"event: message_stop\n",
    Reply(
        (
            Reasoning("Hm", "Sig=="),
            Text("event: message_stop\n é😀"),
            ToolCall("toolu_1", "Read", '{"z": 1e0, "a": 1}'),
            Opaque("mystery", '{"type":"mystery","a":1}'),
        ),
        "tool_use",
        Usage(115, 30, 100, 5),
        True,
        "msg_1",
    ),
)

STREAMS = (CHAT, RESPONSES, ANTHROPIC)
