"""What a format must say of itself so that a reply in it can have several rounds: one value for each dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from proxy.wire.dialect import RequestView
from proxy.wire.rounds.turn import HiddenRoundRecord, ReplyWriter
from proxy.wire.splice import Splice


class Definition(NamedTuple):
    """A tool: its name, what it does, and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


Again = Callable[[bytes, Sequence[msgspec.Raw], int, HiddenRoundRecord], Iterator[Splice]]
"""The splices that make hidden rounds again behind a message: the text that was cut, its messages, which one."""


@dataclass(frozen=True, slots=True)
class RoundFormat:
    """How a dialect spells what our tools need.

    ``listed`` names the body's list of messages; ``stream`` and ``whole`` make a writer of replies, given the names of
    our tools; ``result`` is the answer to a call (its id, the tool's name, the text), ``answered`` a round's message
    with its answers, both as JSON; ``spelt`` a tool's definition; ``free`` says whether a request that offers tools
    leaves the model the choice of them and wants one reply that we may hide something in; ``tools`` is the list in
    which definitions stand, of the value of the body's ``tools``.
    """

    listed: str
    stream: Callable[[frozenset[str]], ReplyWriter]
    whole: Callable[[frozenset[str]], ReplyWriter]
    again: Again
    result: Callable[[str, str, str], Mapping[str, Any]]
    spelt: Callable[[Definition], Mapping[str, Any]]
    free: Callable[[RequestView], bool]
    answered: Callable[[str, str], str] = lambda message, results: f"{message},{results}"
    tools: Callable[[msgspec.Raw], msgspec.Raw | None] = lambda raw: raw
