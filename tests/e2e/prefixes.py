"""What two requests of a session share: as the client sent them, and as they were forwarded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from tests.e2e.script import MARK, flow_of, messages_of

AHEAD = ("tools", "system", "instructions", "systemInstruction")
"""What stands before the messages in a provider's cache."""

STUB = "[shortened: "
"""How what stands in the place of a content begins."""


class Pair(NamedTuple):
    """A request as the client sent it, and as it was forwarded. ``told`` is by what its receipt says that its prefix is
    another one from here on: what was shed; empty for nothing."""

    sent: Mapping[str, Any]
    forwarded: Mapping[str, Any]
    told: str = ""


@dataclass(slots=True)
class Growth:
    """What was seen of the requests of some sessions: how many have one before them in their session, how many of these
    memory had added something to, how many prefixes moved with what was shed, and where one became shorter than the
    client's own without a word, or before the first part that was shed."""

    compared: int = 0
    edited: int = 0
    moved: int = 0
    shorter: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """What is wrong. Each prefix that moves is read anew: where most do, shedding costs more than it saves."""
        often = f"{self.moved} of {self.compared} prefixes moved with what was shed"
        return [*self.shorter, *([often] if self.moved * 2 > self.compared else [])]


class _Laid(NamedTuple):
    sent: list[int]
    forwarded: list[int]
    messages: list[Any]
    ahead: tuple[str, str]


def growth(pairs: Iterable[Pair]) -> Growth:
    """Lay each request beside the one before it in its session: of those that the client's own shares most with, the
    newest. What the client's own two share has to be shared as it was forwarded, what a rotation left of it and what
    stands hidden in it included."""
    told, sessions = Growth(), dict[str, list[_Laid]]()
    for pair in pairs:
        now = _Laid(
            _numbers(messages_of(pair.sent)),
            _numbers(messages_of(pair.forwarded)),
            messages_of(pair.forwarded),
            (_ahead(pair.sent), _ahead(pair.forwarded)),
        )
        begun = _begun(pair.sent)
        earlier = sessions.setdefault(begun, [])
        if begun and earlier:
            before = max(reversed(earlier), key=lambda each: shared(each.sent, now.sent))
            own, kept = shared(before.sent, now.sent), shared(before.forwarded, now.forwarded)
            told.compared += 1
            told.edited += before.sent != before.forwarded
            stay = _forwarded_for(before, own)
            if kept < stay and pair.told and _shed_at(kept, before, now, pair.told):
                told.moved += 1
            elif kept < stay:
                told.shorter.append(
                    f"{begun}: {kept} of the first {stay} messages are as they were forwarded before"
                    f" ({len(now.sent)} sent, {len(now.forwarded)} forwarded)"
                    + (f", and the next is not what was shed ({pair.told})" if pair.told else "")
                )
            if before.ahead[0] == now.ahead[0] and before.ahead[1] != now.ahead[1]:
                told.shorter.append(f"{begun}: what stands before the messages is not as it was forwarded before")
        earlier.append(now)
    return told


def shared(before: Sequence[Any], after: Sequence[Any]) -> int:
    """How many messages two requests begin with that are the same."""
    return next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )


def _forwarded_for(laid: _Laid, own: int) -> int:
    """With how many messages a request was forwarded for its first ``own`` ones. Hidden rounds behind them belong to
    the reply that follows."""
    if own in (0, len(laid.sent)):
        return len(laid.forwarded) if own else 0
    matched = SequenceMatcher(None, laid.sent, laid.forwarded, autojunk=False).get_opcodes()
    begin, at, end = next((i, j, j_end) for _, i, i_end, j, j_end in matched if i < own <= i_end)
    return min(at + own - begin, end)


def _shed_at(place: int, before: _Laid, now: _Laid, step: str) -> bool:
    """Whether the first message that is not as it was forwarded before is one that was shed: it became shorter, by a
    stub where it is a person's or a tool's; or, in a rotation, it has the note, and what stood right behind it left."""
    if step == "rotate":
        behind = slice(place + 1, place + 3)
        return bool(before.forwarded[behind]) and before.forwarded[behind] != now.forwarded[behind]
    if place >= len(now.messages):
        return False
    was, message = json.dumps(before.messages[place]), json.dumps(now.messages[place])
    return len(message) < len(was) and (STUB in message or now.messages[place].get("role") != "user")


def _begun(body: Mapping[str, Any]) -> str:
    """The step in which a session began: the first that its messages name."""
    return next((found[0] for event in flow_of(body) if (found := MARK.search(event.text))), "")


def _numbers(messages: Iterable[Any]) -> list[int]:
    """A number for each message, the same for the same one."""
    return [hash(json.dumps(message, sort_keys=True)) for message in messages]


def _ahead(body: Mapping[str, Any]) -> str:
    return json.dumps([body.get(name) for name in AHEAD], sort_keys=True)
