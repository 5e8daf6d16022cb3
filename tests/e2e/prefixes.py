"""What two requests of a session share: as the client sent them, and as they were forwarded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.e2e.script import MARK, flow_of, messages_of

AHEAD = ("tools", "system", "instructions", "systemInstruction")
"""What stands before the messages in a provider's cache."""


class Pair(NamedTuple):
    """A request as the client sent it, and as it was forwarded."""

    sent: Mapping[str, Any]
    forwarded: Mapping[str, Any]


@dataclass(slots=True)
class Growth:
    """What was seen of the requests of some sessions: how many have one before them in their session, how many of these
    memory had added something to, and where a prefix became shorter than the client's own."""

    compared: int = 0
    edited: int = 0
    shorter: list[str] = field(default_factory=list)


class _Laid(NamedTuple):
    sent: list[int]
    forwarded: list[int]
    ahead: tuple[str, str]


def growth(pairs: Iterable[Pair]) -> Growth:
    """Lay each request beside the one before it in its session: of those that the client's own shares most with, the
    newest."""
    told, sessions = Growth(), dict[str, list[_Laid]]()
    for pair in pairs:
        now = _Laid(_messages(pair.sent), _messages(pair.forwarded), (_ahead(pair.sent), _ahead(pair.forwarded)))
        begun = _begun(pair.sent)
        earlier = sessions.setdefault(begun, [])
        if begun and earlier:
            before = max(reversed(earlier), key=lambda each: shared(each.sent, now.sent))
            own, kept = shared(before.sent, now.sent), shared(before.forwarded, now.forwarded)
            told.compared += 1
            told.edited += before.sent != before.forwarded
            if kept < own:
                told.shorter.append(f"{begun}: {kept} of the first {own} messages are as they were forwarded before")
            if before.ahead[0] == now.ahead[0] and before.ahead[1] != now.ahead[1]:
                told.shorter.append(f"{begun}: what stands before the messages is not as it was forwarded before")
        earlier.append(now)
    return told


def shared(before: Sequence[Any], after: Sequence[Any]) -> int:
    """How many messages two requests begin with that are the same."""
    return next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )


def _begun(body: Mapping[str, Any]) -> str:
    """The step in which a session began: the first that its messages name."""
    return next((found[0] for event in flow_of(body) if (found := MARK.search(event.text))), "")


def _messages(body: Mapping[str, Any]) -> list[int]:
    """A number for each message, the same for the same one."""
    return [hash(json.dumps(message, sort_keys=True)) for message in messages_of(body)]


def _ahead(body: Mapping[str, Any]) -> str:
    return json.dumps([body.get(name) for name in AHEAD], sort_keys=True)
