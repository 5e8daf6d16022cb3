"""What failed and what then worked: a command that showed an error, and the step after which it showed none;
and which of the known fixes is the one for an error that the newest tool results show.

A fix is a command that went through where the like of it had failed, with something changed in between or in the
command itself. Much changed in between is work, not a fix; the same command going through again alone is luck.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.actions import ActionKind, action
from memory.behaviour import CommandFailure, Fix, Key, Remedy, StepKind
from memory.conversation import Conversation, Message, Role, ToolCall, ToolResult
from memory.fact import Sensitivity
from memory.learning.behaviour.code_conventions import replaced
from memory.learning.behaviour.commands import simple_commands, target
from memory.learning.behaviour.signature import NONE, ErrorSignature, shows_error, signature
from memory.learning.behaviour.steps import AnsweredCall, Window, deed_of
from memory.learning.taint import reads_web
from memory.ports import Journaled

STEPS: Final = 5
"""Changes between a failure and its end up to which they are told as a fix."""
_ALIKE: Final = 0.5
"""Share of a command's words that another must have in common with it to be a second try."""
_COMMAND: Final = 240
_CHANGE: Final = 90


def fixes(journaled: Journaled, looked: Window, of: Collection[bytes] | None = None) -> Iterator[Fix]:
    """The fixes that an exchange completes; only those by calls ``of`` some messages, by their digests, where it is
    given."""
    for place, done in enumerate(looked.seen):
        if not done.fresh or (of is not None and done.message.digest not in of):
            continue
        if not _can_be_retried(done) or done.action.failed:
            continue
        if not (done.action.kind is ActionKind.RUN and shows_error(done.result)):
            yield from _settled_failures(journaled, looked.seen[:place], done)


def failure_of(seen_command: str, name: str, text: str, failed: bool) -> tuple[CommandFailure, ErrorSignature] | None:
    """What a call's result shows to have gone wrong, None where it shows nothing: ``seen_command`` is the shell command
    that it ran, empty where it is a tool of another sort."""
    ran = simple_commands(seen_command)
    if ran and not failed and all(simple.looks for simple in ran):
        return None  # Who prints a file in which an error stands has made none.
    shown = signature(text, failed) if ran or failed else NONE
    if not shown.keys:
        return None
    acting = [simple.family for simple in ran if not simple.looks] or [simple.family for simple in ran]
    return CommandFailure(acting[-1] if acting else name, shown.keys), shown


def has_failed(command: str, text: str) -> bool:
    """Whether a shell command shows by what it printed last that it has failed; one that only prints something has
    not."""
    ran = simple_commands(command)
    return bool(ran) and not all(simple.looks for simple in ran) and shows_error(text)


def _settled_failures(journaled: Journaled, before: Sequence[AnsweredCall], done: AnsweredCall) -> Iterator[Fix]:
    """The failures that a call which went through has settled, the last one first: of the same error tried again and
    again only the last one, since what was changed before did not help."""
    between: list[AnsweredCall] = []
    seen_keys: set[Key] = set()
    web = False
    for tried in reversed(before):
        web = web or reads_web(tried.call.name)
        if not (_can_be_retried(tried) and _is_retry(tried, done)):
            between.append(tried)
            continue
        shown = None
        if not tried.refused:
            shown = failure_of(tried.action.command, tried.call.name, tried.result, tried.action.failed)
        if shown is None:
            return
        failure, error = shown
        changes = [each for each in reversed(between) if _changes(each)]
        if len(changes) > STEPS:
            return
        if (changes or not _same(tried, done)) and not seen_keys.issuperset(failure.keys):
            steps = tuple(dict.fromkeys(text for each in changes if (text := _describe_change(each))))
            failed, worked = _command_on_one_line(_run(tried)), _command_on_one_line(_run(done))
            lines = "\n".join(error.lines)
            yield Fix(failure, failed, worked, steps, lines, error.label, done.message.digest, journaled.at, web)
        seen_keys.update(failure.keys)


def _can_be_retried(seen: AnsweredCall) -> bool:
    """Whether a call may fail and be tried again: a command that does something, or a tool of a server's."""
    if seen.action.kind is ActionKind.RUN:
        ran = simple_commands(seen.action.command)
        return any(not simple.looks for simple in ran)
    return seen.action.kind is ActionKind.OTHER and deed_of(seen.call.name) is StepKind.CALL


def _is_retry(tried: AnsweredCall, done: AnsweredCall) -> bool:
    """Whether one call is another try at what the other was to do: the same program at the same thing, or another
    program at nearly the same words (``pip install x``, ``uv pip install x``)."""
    first, second = tried.action.command, done.action.command
    if not first or not second:
        return tried.call.name == done.call.name and not first and not second
    if _same(tried, done):
        return True
    one, other = target(first), target(second)
    if _families(tried) & _families(done):
        named = {word for family in (*_families(tried), *_families(done)) for word in family.split()}
        one, other = one - named, other - named
        return not one or not other or len(one & other) >= _ALIKE * min(len(one), len(other))
    if {family.split()[0] for family in _families(tried)} & {family.split()[0] for family in _families(done)}:
        return False
    return len(one & other) >= _ALIKE * max(len(one), len(other), 1)


def _families(seen: AnsweredCall) -> frozenset[str]:
    return frozenset(simple.family for simple in simple_commands(seen.action.command) if not simple.looks)


def _same(tried: AnsweredCall, done: AnsweredCall) -> bool:
    if tried.action.command or done.action.command:
        return _plain(tried.action.command) == _plain(done.action.command)
    return tried.call.arguments == done.call.arguments


def _plain(command: str) -> str:
    return " ".join(_FILTERED.sub("", command).split())


def _changes(seen: AnsweredCall) -> bool:
    if seen.action.failed:
        return False
    if seen.action.kind is ActionKind.WRITE:
        return True
    return seen.action.kind is ActionKind.RUN and _can_be_retried(seen) and not shows_error(seen.result)


def _describe_change(seen: AnsweredCall) -> str:
    if seen.action.kind is ActionKind.RUN or (seen.action.command and "*** " not in seen.action.command):
        return f"`{_command_on_one_line(_run(seen))}`"
    path = _end_of_path(seen.action.paths[0]) if seen.action.paths else "a file"
    old, new = replaced(seen.call.arguments)
    changed = _first_changed_line(old, new)
    return f"{path}: {changed}" if changed else f"an edit of {path}"


def _end_of_path(path: str) -> str:
    """The end of a path: where a checkout lies says nothing."""
    parts = path.replace("\\", "/").split("/")
    return path if len(parts) <= 3 else "…/" + "/".join(parts[-2:])


def _first_changed_line(old: str, new: str) -> str:
    was, became = old.splitlines(), new.splitlines()
    gone = next((line.strip() for line in was if line.strip() and line not in became), "")
    come = next((line.strip() for line in became if line.strip() and line not in was), "")
    if not old or not (gone or come):
        return ""
    if not come:
        return f"`{gone[:_CHANGE]}` taken out"
    return f"`{gone[:_CHANGE]}` became `{come[:_CHANGE]}`" if gone else f"`{come[:_CHANGE]}` added"


def _run(seen: AnsweredCall) -> str:
    return seen.action.command or f"{seen.call.name} {seen.call.arguments}"


def _command_on_one_line(command: str) -> str:
    """A command on one line; of a long one its beginning. Backquotes in it must not end the quotation."""
    text = " ".join(command.replace("`", "'").split())
    return text if len(text) <= _COMMAND else f"{text[:_COMMAND].rsplit(' ', 1)[0]} …"


# What is behind a command only to shorten what it prints.
_FILTERED = re.compile(r"(?:(?<!\s)\s++)?+(?:2>&1|2>/dev/null|\|\s*(?:head|tail|grep|cat|tee|less)\b[^|;&]*)")


MOST: Final = 2
"""Fixes that one failure brings back."""
_BACK: Final = 12
"""Messages before the newest one in which the calls of its results are looked for."""


@dataclass(frozen=True, slots=True)
class FailingResult:
    """A result of a tool that shows that what was done has failed; ``failure`` is None where it does not tell how."""

    result: ToolResult
    failure: CommandFailure | None


def failing(conversation: Conversation) -> list[FailingResult]:
    """Those of the newest results whose call has failed, the newest message's first; nothing where a person or the
    model spoke last. A file that was printed has failed at nothing, whatever errors it names."""
    newest: list[tuple[int, Message]] = []
    for index in range(conversation.newest, -1, -1):
        message = conversation.messages[index]
        if not message.results or message.role is Role.ASSISTANT:
            break
        newest.append((index, message))
        if message.spoken or len(newest) == _BACK:
            break
    if not newest or newest[0][1].spoken:
        return []
    first = newest[-1][0]
    calls = {
        part.id: part for message in conversation.messages[max(first - _BACK, 0) : first] for part in message.calls
    }
    found = []
    for _, message in newest:
        for result in message.results:
            call = calls.get(result.call_id) or ToolCall(result.call_id, "", "{}")
            done = action((0, 0), call, (0, 0), result)
            failed = failure_of(done.command, call.name, result.text, done.failed)
            if failed is not None:
                found.append(FailingResult(result, failed[0]))
            elif done.failed or has_failed(done.command, result.text):
                found.append(FailingResult(result, None))
    return found


def remedies(failed: Sequence[CommandFailure], known: Iterable[Remedy], session: str) -> list[Remedy]:
    """The known fixes for these failures, the best first: the more of an error's lines a fix is known by the better,
    then that it was the same command, then the newer one. What this ``session`` found out stands in it already."""
    lines: dict[str, set[bytes]] = {}
    best: dict[str, Remedy] = {}
    for each in known:
        restricted = each.fact.sensitivity is Sensitivity.RESTRICTED
        if restricted or each.fact.session == session or not any(_fits_error_line(each, failure) for failure in failed):
            continue
        lines.setdefault(each.fact.id, set()).add(each.key)
        before = best.get(each.fact.id)
        if before is None or (each.specific and not before.specific):
            best[each.fact.id] = each
    families = {failure.family for failure in failed}

    def worth(each: Remedy) -> tuple[object, ...]:
        fact = each.fact
        return len(lines[fact.id]), each.family in families, fact.sessions, fact.used_at or fact.recorded_at, fact.id

    return sorted(best.values(), key=worth, reverse=True)[:MOST]


def _fits_error_line(each: Remedy, failure: CommandFailure) -> bool:
    """Whether a fix was known for an error of this line; a line that says little needs the same command."""
    keys = {key.hash for key in failure.keys}
    return each.key in keys and (each.specific or each.family == failure.family)
