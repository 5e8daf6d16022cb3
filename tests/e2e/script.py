"""What the scripted model does.

A prompt names its step (``[step-0042]``), and the script says what the model does in it: call these tools, one
after the other, and then say this. So the model needs no memory of its own, any client can be driven, and what is
said again later, by a client or by a memory, changes nothing: the newest step counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call. ``{agent}`` in an argument stands for the sub-agent that was started last."""

    tool: str
    arguments: Arguments


@dataclass(slots=True)
class Step:
    """One turn. ``fault`` happens to its first ``faults`` requests: ``429``, ``500`` or ``cut``."""

    number: int
    calls: tuple[Call, ...] = ()
    say: str = "Done."
    fault: str = ""
    faults: int = 0

    @property
    def mark(self) -> str:
        """The words that name it in a prompt."""
        return f"[step-{self.number:04d}]"


@dataclass(frozen=True, slots=True)
class Action:
    """What the model does now. ``step`` is 0 for requests that are no turn of the script."""

    step: int = 0
    text: str = ""
    call: Call | None = None
    fault: str = ""


class Script:
    """The steps of one run."""

    def __init__(self) -> None:
        self.steps: dict[int, Step] = {}

    def add(self, **told: Any) -> Step:
        """A new step."""
        step = Step(len(self.steps) + 1, **told)
        self.steps[step.number] = step
        return step

    def decide(self, body: Mapping[str, Any], raw: str) -> Action:
        """What to do with a request."""
        flow = list(flow_of(body))
        calls = 0
        for kind, text in reversed(flow):
            if kind == "call":
                calls += 1
            elif kind == "user" and not text.lstrip().startswith("<"):
                numbers = [int(number) for number in _MARK.findall(text)]
                step = self.steps.get(max(numbers, default=0))
                return self._in(step, calls, raw) if step and body.get("tools") else Action(text="Nothing to do.")
        return Action(text="Nothing to do.")

    def _in(self, step: Step, calls: int, raw: str) -> Action:
        if step.faults > 0:
            step.faults -= 1
            return Action(step.number, text=step.say, fault=step.fault)
        if calls >= len(step.calls):
            return Action(step.number, text=step.say)
        call = step.calls[calls]
        started = _AGENT.findall(raw)
        arguments = {key: _filled(value, started[-1] if started else "") for key, value in call.arguments.items()}
        return Action(step.number, call=Call(call.tool, arguments))


_MARK = re.compile(r"\[step-(\d{4})\]")
_AGENT = re.compile(r'agent_id\\*":\s*\\*"([0-9a-f-]{36})')


def flow_of(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What happened in a request of any wire format, in order: ``user`` texts and the assistant's ``call``s."""
    for item in body.get("messages") or body.get("input") or ():
        role, content = item.get("role"), item.get("content")
        if role == "user":
            if isinstance(content, str):
                yield "user", content
            for part in content if isinstance(content, list) else ():
                if "text" in part:
                    yield "user", part["text"]
        if str(item.get("type", "")).endswith("_call"):
            yield "call", item.get("name", "")
        for called in item.get("tool_calls") or ():
            yield "call", called["function"]["name"]
        for part in content if role == "assistant" and isinstance(content, list) else ():
            if part.get("type") == "tool_use":
                yield "call", part["name"]


def messages_of(body: Mapping[str, Any]) -> list[Any]:
    """The messages as a provider would cache them: without cache marks, a lone text block as plain text."""
    return [_plain(item) for item in body.get("messages") or body.get("input") or ()]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        plain = {key: _plain(inner) for key, inner in value.items() if key != "cache_control"}
        content = plain.get("content")
        if isinstance(content, list) and len(content) == 1 and set(content[0]) == {"type", "text"}:
            plain["content"] = content[0]["text"]
        return plain
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _filled(value: Any, agent: str) -> Any:
    if isinstance(value, list):
        return [_filled(inner, agent) for inner in value]
    return agent if value == "{agent}" else value
