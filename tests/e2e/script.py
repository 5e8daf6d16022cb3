"""What the scripted model does.

A prompt names its step (``[step-0042]``), and the script says what the model does in it: call these tools, one
after the other, and then say this. So the model needs no memory of its own, any client can be driven, and what is
said again later, by a client or by a memory, changes nothing: the newest step counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call. ``{agent}`` in an argument stands for the sub-agent that was started last, ``{agent before}`` for
    the one before it. ``say`` is what the model says before it; ``beside`` are further calls of the same reply."""

    tool: str
    arguments: Arguments
    say: str = ""
    beside: tuple[Call, ...] = ()


@dataclass(slots=True)
class Step:
    """One turn. ``fault`` happens to its first ``faults`` requests: ``429``, ``500`` or ``cut``, once ``after`` replies
    of it were given. ``shown`` is what the client wrote in the end."""

    number: int
    calls: tuple[Call, ...] = ()
    say: str = "Done."
    fault: str = ""
    faults: int = 0
    after: int = 0
    shown: str = ""

    @property
    def mark(self) -> str:
        """The words that name it in a prompt."""
        return f"[step-{self.number:04d}]"


@dataclass(frozen=True, slots=True)
class Action:
    """What the model does now. ``step`` is 0 for requests that are no turn of the script."""

    step: int = 0
    text: str = ""
    calls: tuple[Call, ...] = ()
    fault: str = ""


class Script:
    """The steps of one run."""

    def __init__(self) -> None:
        self.steps: dict[int, Step] = {}
        self.needs_tools = True
        """Whether a request without any is no turn: a title, say, of which a step's name is a part."""

    def add(self, **told: Any) -> Step:
        """A new step."""
        step = Step(len(self.steps) + 1, **told)
        self.steps[step.number] = step
        return step

    def decide(self, body: Mapping[str, Any], raw: str) -> Action:
        """What to do with a request."""
        calls = 0
        for event in reversed(list(flow_of(body))):
            if event.call is not None:
                calls += 1
            elif event.spoken:
                step = self.named(event.text)
                return self.at(step, _replies(step, calls), raw) if step and self._may_turn(body) else NOTHING
        return NOTHING

    def _may_turn(self, body: Mapping[str, Any]) -> bool:
        return bool(body.get("tools")) or not self.needs_tools

    def named(self, text: str) -> Step | None:
        """The newest step that a text names."""
        return self.steps.get(max((int(number) for number in MARK.findall(text)), default=0))

    def at(self, step: Step, done: int, raw: str) -> Action:
        """What the model does in a step after so many replies."""
        if step.faults > 0 and done >= step.after:
            step.faults -= 1
            return Action(step.number, text=step.say, fault=step.fault)
        if done >= len(step.calls):
            return Action(step.number, text=step.say)
        call = step.calls[done]
        started = list(dict.fromkeys(_AGENT.findall(raw)))
        agents = dict(zip(("{agent}", "{agent before}"), reversed(started), strict=False))
        return Action(step.number, call.say, tuple(_filled(each, agents) for each in (call, *call.beside)))


NOTHING = Action(text="Nothing to do.")
"""For requests that are no turn of the script: titles, probes."""


@dataclass(frozen=True, slots=True)
class Event:
    """What a user's text says, or what the assistant called."""

    text: str = ""
    call: Call | None = None

    @property
    def spoken(self) -> bool:
        """Whether it may be a person's: what a client adds stands in tags."""
        return self.call is None and not _STAMP.sub("", self.text).lstrip().startswith("<")


def _replies(step: Step | None, calls: int) -> int:
    """The replies of a step that so many calls were made in."""
    done = 0
    for call in step.calls if step else ():
        calls -= 1 + len(call.beside)
        done += calls >= 0
    return done


_STAMP = re.compile(r"\A\s*<current_datetime>[^<]*</current_datetime>")
"""What Copilot CLI puts before a person's words."""
MARK = re.compile(r"\[step-(\d{4})\]")
"""A step, as a prompt names it."""
_AGENT = re.compile(r'(?:agent_id|runId)\\*":\s*\\*"([0-9a-f-]{36})')


def flow_of(body: Mapping[str, Any]) -> Iterator[Event]:
    """What happened in a request of any wire format, in order."""
    for item in _listed(body):
        role, content = item.get("role"), item.get("content", item.get("parts"))
        if role == "user":
            if isinstance(content, str):
                yield Event(content)
            for part in content if isinstance(content, list) else ():
                if "text" in part:
                    yield Event(part["text"])
        if str(item.get("type", "")).endswith("_call"):
            yield Event(call=_called(item))
        for called in item.get("tool_calls") or ():
            yield Event(call=_called(called["function"]))
        for part in content if role in ("assistant", "model") and isinstance(content, list) else ():
            if part.get("type") == "tool_use":
                yield Event(call=_called(part))
            elif "functionCall" in part:
                yield Event(call=_called(part["functionCall"]))


def _called(told: Mapping[str, Any]) -> Call:
    arguments = told.get("arguments") or told.get("input") or told.get("args") or {}
    return Call(told.get("name", ""), json.loads(arguments) if isinstance(arguments, str) else arguments)


def messages_of(body: Mapping[str, Any]) -> list[Any]:
    """The messages as a provider would cache them: without cache marks, a lone text block as plain text."""
    return [_plain(item) for item in _listed(body)]


def _listed(body: Mapping[str, Any]) -> Any:
    """The field that has the messages."""
    return body.get("messages") or body.get("input") or body.get("contents") or ()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        plain = {key: _plain(inner) for key, inner in value.items() if key != "cache_control"}
        content = plain.get("content")
        if isinstance(content, list) and len(content) == 1 and set(content[0]) == {"type", "text"}:
            plain["content"] = content[0]["text"]
        return plain
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _filled(call: Call, agents: Mapping[str, str]) -> Call:
    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(inner) for inner in value]
        if isinstance(value, dict):
            return {key: fill(inner) for key, inner in value.items()}
        return agents.get(value, value) if isinstance(value, str) else value

    return Call(call.tool, {key: fill(value) for key, value in call.arguments.items()})
