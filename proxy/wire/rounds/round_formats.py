"""The manner of each dialect, by its name: a new dialect has a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.wire.dialect import RequestView
from proxy.wire.rounds import replay
from proxy.wire.rounds.anthropic_messages import AnthropicDocumentWriter, AnthropicStream
from proxy.wire.rounds.gemini_generate import MANNER as GEMINI
from proxy.wire.rounds.openai_chat import ChatDocumentWriter, ChatStream
from proxy.wire.rounds.openai_responses import ResponsesDocumentWriter, ResponsesStream
from proxy.wire.rounds.round_format import Definition, RoundFormat
from proxy.wire.slices import value_of

Json = dict[str, Any]


def _demands_a_tool(choice: Any) -> bool:
    if isinstance(choice, dict):
        return choice.get("type") not in ("auto", "none")
    return choice not in (None, "auto", "none")


def _free(view: RequestView) -> bool:
    return not _demands_a_tool(value_of(view.fields.get("tool_choice"))) and value_of(view.fields.get("n")) in (None, 1)


def _responses_free(view: RequestView) -> bool:
    is_stored = value_of(view.fields.get("store")) is not False or value_of(view.fields.get("background")) is True
    return not is_stored and not _demands_a_tool(value_of(view.fields.get("tool_choice")))


def _chat_result(call: str, tool: str, text: str) -> Json:
    return {"role": "tool", "tool_call_id": call, "content": text}


def _responses_result(call: str, tool: str, text: str) -> Json:
    return {"type": "function_call_output", "call_id": call, "output": text}


def _anthropic_result(call: str, tool: str, text: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": text}


def _chat_tool(tool: Definition) -> Json:
    return {"type": "function", "function": tool._asdict()}


def _responses_tool(tool: Definition) -> Json:
    return {"type": "function", **tool._asdict(), "strict": False}


def _anthropic_tool(tool: Definition) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _anthropic_answered(message: str, results: str) -> str:
    return f'{message},{{"role":"user","content":[{results}]}}'


_CHAT = RoundFormat("messages", ChatStream, ChatDocumentWriter, replay.chat, _chat_result, _chat_tool, _free)
_RESPONSES = RoundFormat(
    "input",
    ResponsesStream,
    ResponsesDocumentWriter,
    replay.responses,
    _responses_result,
    _responses_tool,
    _responses_free,
)
_ANTHROPIC = RoundFormat(
    "messages",
    AnthropicStream,
    AnthropicDocumentWriter,
    replay.anthropic,
    _anthropic_result,
    _anthropic_tool,
    _free,
    answered=_anthropic_answered,
)

MANNERS: Mapping[str, RoundFormat] = {
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "anthropic-messages": _ANTHROPIC,
    "gemini-generate": GEMINI,
}
