"""One session of an agent as any of the three formats has it, turn by turn, out of recorded sessions or made up.

A recorded session goes on into the next one, as if a person never closed a terminal: its first words become one more
task. Ids of calls are made the session's own, since each recording counts anew.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import orjson

from tests.bench.transcripts import Body, schemas_of, text_of
from tests.e2e.material import write_files
from tests.proxy.wire.rounds.scripts import PATHS, Call, Round, Say, said

CHAT, RESPONSES, MESSAGES = PATHS[:3]
FORMATS = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}
SYSTEM = "You are a coding agent. Work in small steps, and say what you find."


@dataclass(frozen=True)
class Person:
    """What a person says."""

    text: str


@dataclass(frozen=True)
class Result:
    """What a tool gave back."""

    call: str
    text: str


@dataclass(frozen=True)
class Turn:
    """What came in since the reply before, and the reply."""

    heard: tuple[Person | Result, ...]
    reply: Round


def turns_of(sessions: Iterable[Sequence[Body]], most: int) -> list[Turn]:
    """At most so many turns of recorded sessions, one behind the other."""
    found: list[Turn] = []
    for number, bodies in enumerate(sessions):
        turns = list(_turns(bodies, f"s{number}_"))
        if turns:
            # What the last calls gave was never told to the model.
            said = tuple(part for part in turns[-1].reply.parts if isinstance(part, Say)) or (Say("Done."),)
            found += [*turns[:-1], replace(turns[-1], reply=replace(turns[-1].reply, parts=said))]
        if len(found) >= most:
            break
    return found[:most]


def _turns(bodies: Sequence[Body], mark: str) -> Iterator[Turn]:
    heard: list[Person | Result] = []
    asked: dict[str, str] = {}
    for index, body in enumerate(bodies):
        match body["role"]:
            case "user":
                heard.append(Person(text_of(body) or "Go on."))
            case "tool" if body["tool_call_id"] in asked:
                heard.append(Result(asked.pop(body["tool_call_id"]), text_of(body) or "(nothing)"))
            case "assistant" if heard:
                text, answered = text_of(body).strip(), _answered(bodies[index + 1 :])
                calls = {
                    call["id"]: call["function"] for call in body.get("tool_calls") or () if call["id"] in answered
                }
                asked = {id: f"{mark}{index}_{id}" for id in calls}
                parts: list[Say | Call] = [Say(text)] if text else []
                parts += [Call(asked[id], call["name"], _sound(call["arguments"])) for id, call in calls.items()]
                # Of results and words that come together every format has the results first.
                came = sorted(heard, key=lambda each: isinstance(each, Person))
                yield Turn(tuple(came), Round(tuple(parts) or (Say("Done."),), id=f"{mark}{index}"))
                heard = []


def _answered(bodies: Iterable[Body]) -> set[str]:
    """The calls that are answered before the assistant speaks again."""
    before = takewhile(lambda body: body["role"] != "assistant", bodies)
    return {body["tool_call_id"] for body in before if body["role"] == "tool"}


def _sound(arguments: str) -> str:
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except ValueError:
        return "{}"


def made_up(most: int, seed: int = 7) -> list[Turn]:
    """So many turns of a session that nobody had: files are read, looked through, changed and tested, and now and then
    a person asks for something else."""
    chance, found = random.Random(seed), list[Turn]()
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder), 400, 9_000, seed)
    heard: tuple[Person | Result, ...] = (Person("Bring the offices in order, one after the other."),)
    for number in range(most):
        file = chance.choice(files)
        name, text = f"offices/{file.path.name}", file.text
        if number % 25 == 24:
            found.append(Turn(heard, Round((Say(f"{name} is in order now; number {number} of the list."),))))
            heard = (Person(f"Now see to number {number}, and mind {chance.choice(files).path.name}."),)
            continue
        begin = chance.randrange(max(len(text) - 5_000, 1))
        call, result = chance.choice(
            [
                (("read", {"path": name}), text[: chance.randrange(2_000, 9_000)]),
                (("read", {"path": name, "offset": begin // 60}), text[begin : begin + 5_000]),
                (("bash", {"command": f"pytest {name}"}), _tested(chance, name)),
                (("edit", {"path": name, "old": text[begin : begin + 300], "new": f"limit = {number}"}), "Done."),
                (("grep", {"pattern": f"limit_{number}", "path": "offices"}), _searched(chance, text, name)),
            ]
        )
        made = Call(f"call_{number}", call[0], json.dumps(call[1]))
        found.append(Turn(heard, Round((Say(f"I look at {name} for {number}."), made))))
        heard = (Result(made.id, result),)
    return found


def _tested(chance: random.Random, name: str) -> str:
    lines = [f"{name}::test_{each} PASSED" for each in range(chance.randrange(10, 60))]
    if chance.random() < 0.3:
        lines.append(f"E   AssertionError: limit {chance.randrange(10**6)} is not what {name} says")
    return "\n".join([*lines, f"{len(lines)} tests in {chance.random():.2f} s"])


def _searched(chance: random.Random, text: str, name: str) -> str:
    rows = text.split("\n")
    return "\n".join(f"{name}:{row}: {rows[row]}" for row in sorted(chance.sample(range(len(rows)), len(rows) // 4)))


class Growing:
    """A client's request, which grows with every turn."""

    def __init__(self, path: str, turns: Sequence[Turn], model: str = "bench") -> None:
        self.path = path
        self._items = bytearray()
        self._count = 0
        outside: dict[str, Any] = {"model": model, "stream": True, "max_tokens": 2000, "tools": _tools(path, turns)}
        if path == RESPONSES:
            outside |= {"instructions": SYSTEM, "store": False}
            del outside["max_tokens"]
        elif path == MESSAGES:
            outside["system"] = SYSTEM
        self._outside = orjson.dumps(outside)[:-1] + (b',"input":[' if path == RESPONSES else b',"messages":[')
        if path == CHAT:
            self._add({"role": "system", "content": SYSTEM})

    def hear(self, turn: Turn) -> bytes:
        """What came in; the request with it."""
        for item in _heard(self.path, turn.heard):
            self._add(item)
        return self._outside + self._items + b"]}"

    def answered(self, turn: Turn) -> None:
        """What the model said."""
        for item in said(self.path, turn.reply):
            # An item's own id is not asked for where the server keeps nothing.
            self._add({key: value for key, value in item.items() if key != "id"})

    def _add(self, item: Mapping[str, Any]) -> None:
        self._items += (b"," if self._count else b"") + orjson.dumps(item)
        self._count += 1


def _heard(path: str, heard: Sequence[Person | Result]) -> list[dict[str, Any]]:
    if path == MESSAGES:
        results = [_block(each) for each in heard if isinstance(each, Result)]
        people = [_block(each) for each in heard if isinstance(each, Person)]
        return [{"role": "user", "content": [*results, *people]}]
    return [_item(path, each) for each in heard]


def _block(each: Person | Result) -> dict[str, Any]:
    match each:
        case Person(text):
            return {"type": "text", "text": text}
        case Result(call, text):
            return {"type": "tool_result", "tool_use_id": call, "content": text}


def _item(path: str, each: Person | Result) -> dict[str, Any]:
    match each:
        case Person(text) if path == RESPONSES:
            return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        case Person(text):
            return {"role": "user", "content": text}
        case Result(call, text) if path == RESPONSES:
            return {"type": "function_call_output", "call_id": call, "output": text}
        case Result(call, text):
            return {"role": "tool", "tool_call_id": call, "content": text}


def _tools(path: str, turns: Sequence[Turn]) -> list[dict[str, Any]]:
    calls = [
        {"tool_calls": [{"function": {"name": call.name, "arguments": call.arguments}} for call in turn.reply.calls]}
        for turn in turns
    ]
    functions = [each["function"] for each in schemas_of(calls)]
    if path == CHAT:
        return [{"type": "function", "function": each} for each in functions]
    if path == RESPONSES:
        return [{"type": "function", "strict": False, **each} for each in functions]
    return [
        {"name": each["name"], "description": each["description"], "input_schema": each["parameters"]}
        for each in functions
    ]
