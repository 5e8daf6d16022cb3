"""Whether the newest tool results show an error, and which of the known fixes is the one for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.actions import action
from memory.behaviour import CommandFailure, Remedy
from memory.conversation import Conversation, Message, Role, ToolCall, ToolResult
from memory.fact import Sensitivity
from memory.learning.behaviour.fixes import failure_of, has_failed

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
        if restricted or each.fact.session == session or not any(_fits(each, failure) for failure in failed):
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


def _fits(each: Remedy, failure: CommandFailure) -> bool:
    """Whether a fix was known for an error of this line; a line that says little needs the same command."""
    keys = {key.hash for key in failure.keys}
    return each.key in keys and (each.specific or each.family == failure.family)
