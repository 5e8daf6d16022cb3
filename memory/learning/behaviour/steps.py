"""What an exchange adds to the steps of its session: the calls that were answered in it, and what the person said.

A call becomes a step when its result comes, so that one that nobody answered is none. One shell command is as many
steps as it has simple commands; they fail together, because nobody says which of them did.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import Final

from memory.actions import ActionKind, Place, ToolAction, action
from memory.behaviour import FeedbackSign, StepKind, StepOutcome, WorkStep
from memory.conversation import Message, Role, ToolCall, ToolResult, chained
from memory.learning.behaviour.code_conventions import commit_traits, edit_traits
from memory.learning.behaviour.commands import simple_commands
from memory.learning.rule_findings import correction
from memory.learning.speech import spoken_in
from memory.ports import Journaled
from memory.session import RequestKind


@dataclass(frozen=True, slots=True)
class CallResult:
    """A call with its result, and where both stand."""

    at: Place
    call: ToolCall
    answered: Place
    result: ToolResult


def pairs(messages: Sequence[Message]) -> list[CallResult]:
    """The calls that were answered, in the order of the calls."""
    found: list[CallResult] = []
    calls: list[tuple[Place, ToolCall]] = []
    results: list[tuple[Place, ToolResult]] = []
    for index, message in enumerate(messages):
        if results and (message.calls or message.spoken):
            found.extend(_matched(calls, results))
            calls, results = [], []
        if message.spoken:
            calls = []
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                calls.append(((index, number), part))
            elif isinstance(part, ToolResult):
                results.append(((index, number), part))
    found.extend(_matched(calls, results))
    return sorted(found, key=lambda pair: pair.at)


def _matched(calls: list[tuple[Place, ToolCall]], results: Sequence[tuple[Place, ToolResult]]) -> list[CallResult]:
    found: list[CallResult] = []
    rest: list[tuple[Place, ToolResult]] = []
    for answered, result in results:
        own = next((each for each in calls if each[1].id == result.call_id), None)
        if own is None:
            rest.append((answered, result))
        else:
            calls.remove(own)
            found.append(CallResult(*own, answered, result))
    found.extend(
        CallResult(at, call, answered, result) for (at, call), (answered, result) in zip(calls, rest, strict=False)
    )
    return found


AROUND: Final = 80
"""Messages before the first fresh one in which a failure is looked for that is settled now."""


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """One call with its result. ``fresh``: the result came with this exchange. ``index`` is the call's message."""

    action: ToolAction
    call: ToolCall
    result: str
    fresh: bool
    index: int
    message: Message

    @property
    def refused(self) -> bool:
        """Whether the person did not let it be done."""
        return self.action.failed and _REFUSED.search(self.result[:400]) is not None


@dataclass(frozen=True, slots=True)
class Window:
    """The part of an exchange that is looked at: its messages with their places in the request, what was called."""

    messages: Sequence[Message]
    first: int
    seen: Sequence[AnsweredCall]
    fresh: frozenset[int]

    def spoken(self, since: int) -> list[Message]:
        """The messages behind a place in which a person spoke."""
        return [message for message in self.messages[max(since - self.first, 0) :] if message.spoken]


def window(journaled: Journaled) -> Window | None:
    """What is to be looked at of an exchange; None where nothing new stands in it."""
    if not journaled.fresh or journaled.kind not in (RequestKind.MAIN, RequestKind.SUBAGENT):
        return None
    first = max(min(journaled.fresh) - AROUND, 0)
    messages = journaled.messages[first:]
    fresh = frozenset(journaled.fresh)
    seen = [
        AnsweredCall(
            action(pair.at, pair.call, pair.answered, pair.result),
            pair.call,
            pair.result.text,
            pair.answered[0] + first in fresh,
            pair.at[0] + first,
            messages[pair.at[0]],
        )
        for pair in pairs(messages)
    ]
    return Window(messages, first, seen, fresh)


@dataclass(frozen=True, slots=True)
class Marked:
    """A step by its mark. What a person's ``message`` says of the work is read only of one that is new, so the
    ``step`` has no family before :func:`read`."""

    mark: bytes
    step: WorkStep
    message: Message | None = None


def marked(journaled: Journaled, looked: Window) -> list[Marked]:
    """The steps that stand in what is fresh of an exchange, in order; a history that comes again has some that are
    known."""
    marks = _Marks(journaled)
    persons = journaled.kind == RequestKind.MAIN
    found: list[tuple[tuple[int, int], Marked]] = []
    for each in looked.seen:
        if each.fresh and each.action.result is not None:
            place = each.action.result[0] + looked.first
            source = each.message.digest
            for order, step in zip(count(), _of(each, journaled.session.id, journaled.at, source), strict=False):
                part = each.action.call[1] * 64 + order
                mark = marks.of(place, part)
                found.append(((each.index, part), Marked(mark, replace(step, mark=mark))))
    for index in sorted(looked.fresh) if persons else ():
        message = journaled.messages[index]
        if message.role is Role.USER and message.spoken.strip():
            mark = marks.of(index, 0)
            step = WorkStep(StepKind.PERSON, "", "", journaled.session.id, journaled.at, mark, message.digest)
            found.append(((index, -1), Marked(mark, step, message)))
    return [step for _, step in sorted(found, key=lambda each: each[0])]


def read(marked: Marked) -> WorkStep:
    """A step, with what a person's words say."""
    if marked.message is None:
        return marked.step
    sign = sign_of(marked.message.spoken)
    return replace(marked.step, family=sign, shape=sign)


def steps(journaled: Journaled, looked: Window) -> list[WorkStep]:
    """All of them, read."""
    return [*map(read, marked(journaled, looked))]


def sign_of(spoken: str) -> FeedbackSign:
    """What a person's words say of the work before them."""
    text = spoken.strip()
    if text.startswith(_INTERRUPTED):
        return FeedbackSign.STOPS
    clauses = spoken_in(text[:2000])
    if any(not clause.question and correction(clause) for clause in clauses[:4]):
        return FeedbackSign.CORRECTS
    if len(text) < 400 and _ACCEPTS.search(text):
        return FeedbackSign.ACCEPTS
    return FeedbackSign.ASKS


def _of(each: AnsweredCall, session: str, at: datetime, source: bytes) -> Iterator[WorkStep]:
    action = each.action
    outcome = StepOutcome.REFUSED if each.refused else StepOutcome.FAILED if action.failed else StepOutcome.DONE
    blank = WorkStep(StepKind.CALL, "", "", session, at, b"", source, outcome)
    match action.kind:
        case ActionKind.WRITE:
            for path in dict.fromkeys(map(kind_of_file, action.paths[:4])):
                yield replace(blank, deed=StepKind.EDIT, family=f"edit {path}", shape=f"edit {path}",
                    traits=edit_traits(each.call.arguments, action.paths))  # fmt: skip
        case ActionKind.READ:
            kinds = dict.fromkeys(map(kind_of_file, action.paths[:4]))
            yield replace(blank, deed=StepKind.LOOK, family="read", shape=" ".join(("read", *kinds)))
        case ActionKind.RUN:
            for simple in simple_commands(action.command):
                deed = StepKind.LOOK if simple.looks else StepKind.RUN
                traits = commit_traits(action.command) if simple.family == "git commit" else {}
                yield replace(blank, deed=deed, family=simple.family, shape=simple.shape, traits=traits)
        case ActionKind.PLAN:
            yield replace(blank, deed=StepKind.PLAN, family="plan", shape="plan")
        case _:
            name = _TOOL.sub("", action.name)[:60] or "tool"
            yield replace(blank, deed=deed_of(name), family=name, shape=name)


def deed_of(tool: str) -> StepKind:
    """What a tool that neither reads, writes nor runs does, by its name."""
    if _PLANNING.search(tool):
        return StepKind.PLAN
    return StepKind.LOOK if _LOOKING.search(tool) else StepKind.CALL


def kind_of_file(path: str) -> str:
    """``*_test.go``, ``test_*.py``, ``*.test.ts``, ``*.md``: what sort of file a path names."""
    name = re.split(r"[/\\]", path)[-1]
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem or len(extension) > 8 or not extension.isalnum():
        return name if _PLAIN_NAME.fullmatch(name) else "<path>"
    if stem.endswith("_test"):
        return f"*_test.{extension}"
    if stem.startswith("test_"):
        return f"test_*.{extension}"
    if stem.endswith((".test", ".spec")):
        return f"*{stem[-5:]}.{extension}"
    return f"*.{extension}"


class _Marks:
    """Names of places in a conversation: equal only where all that came before is equal too. Instructions are left out,
    because they tell the day."""

    def __init__(self, journaled: Journaled) -> None:
        self._messages = journaled.messages
        self._opening, self._between = journaled.opening, journaled.between
        self._links: list[bytes] = []

    def of(self, index: int, part: int) -> bytes:
        """The name of a part of the message of this index."""
        link = self._links[-1] if self._links else b""
        for message in self._messages[len(self._links) : index + 1]:
            for digest in self._between if len(self._links) == self._opening else ():
                link = chained(link, digest)
            if message.role not in (Role.SYSTEM, Role.DEVELOPER):
                link = chained(link, message.digest)
            self._links.append(link)
        return hashlib.blake2b(self._links[index] + str(part).encode(), digest_size=16).digest()


# What runtimes write in a result's place when the person stops a call.
_REFUSED = re.compile(
    r"(?:user|person) (?:doesn't want to|does not want to|rejected|denied|declined|refused|cancelled|aborted)"
    r"|(?:rejected|denied|aborted|interrupted|cancelled) by (?:the )?user|\[Request interrupted by user",
    re.IGNORECASE,
)
_INTERRUPTED = ("[Request interrupted by user",)
_ACCEPTS = re.compile(
    r"^\W{0,3}(?:thank(?:s| you)|perfect|great|nice|awesome|excellent|looks? good|lgtm|works?\b|it works|that works|"
    r"good (?:job|work|stuff)|well done|cool|love it|amazing|super|brilliant|(?:ok|okay|yes|yep)[,.! ]{1,3}(?:thanks|"
    r"perfect|great|good|commit|push|merge|ship))",
    re.IGNORECASE,
)
_PLANNING = re.compile(
    r"(?i)^(?:task_?(?:create|update|list|get|stop)|todo|update_plan|\w*plan_?mode|ask_?\w*question)"
)
_LOOKING = re.compile(
    r"(?i)(?:^|_|\b)(?:grep|glob|ls|list|search|find|get|fetch|view|read|query|show|look|think|wait|output|skill|write_stdin|monitor)|"
    r"(?:Search|Fetch|Output|List|Get|View)"
)
_TOOL = re.compile(r"[^\w.:/-]")
_PLAIN_NAME = re.compile(r"(?:Make|Docker|Just|Proc|Gem|Rake|Pip|Brew)file|README|LICENSE|CHANGELOG|CODEOWNERS")
