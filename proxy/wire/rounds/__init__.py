"""One reply out of several rounds: the model calls a tool of ours, we answer, and the client sees one reply.

    manner.py  manners.py    what each format says of itself: a new dialect is a line there
    offering.py              our tools behind the client's own, in each format's spelling
    turn.py                  what a round said, and what is kept of rounds that the client does not see
    stream.py  whole.py      what the writers of all streams share, and those of all whole replies
    openai_chat.py  openai_responses.py  anthropic_messages.py      the writers, streamed and whole
    again.py                 hidden rounds made again in the next requests
    events.py                events with the bytes they came in

Bytes in, bytes out; nothing here asks anybody anything.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from memory.edits import Drop, Edit, Insert
from proxy.wire.dialect import BadRequest, Unreadable
from proxy.wire.lenient_json import dump
from proxy.wire.rounds import replay
from proxy.wire.rounds.round_formats import MANNERS
from proxy.wire.rounds.turn import ReplyWriter, load
from proxy.wire.slices import cut, is_list, items_of
from proxy.wire.splice import Splice, spliced


def writer(dialect: str, streamed: bool, ours: frozenset[str]) -> ReplyWriter:
    """A writer for one reply; ``ours`` are the names of the tools whose calls are hidden."""
    manner = MANNERS[dialect]
    return (manner.stream if streamed else manner.whole)(ours)


def result(dialect: str, call: str, text: str, tool: str = "") -> str:
    """The answer to a call of a ``tool``, as JSON: a message, an item, or a block of one."""
    return dump(MANNERS[dialect].result(call, tool, text))


def answered(dialect: str, message: str, results: Sequence[str]) -> str:
    """A round's message with the answers to it, messages as JSON, joined by commas."""
    return MANNERS[dialect].answered(message, ",".join(results))


def with_hidden_rounds(dialect: str, body: bytes, edits: Sequence[Edit], count: int) -> bytes:
    """The body, in which all other edits have been made, with the hidden rounds that they name; the very same object
    where there are none. ``count`` is how many messages the client sent.

    Where a client's copy of a reply is of another one, it stays as it is.
    """
    inserts = [edit for edit in edits if isinstance(edit, Insert)]
    if not inserts:
        return body
    gone = sorted({message for edit in edits if isinstance(edit, Drop) for message in edit.messages})
    text, fields = cut(body)
    listed = fields.get(MANNERS[dialect].listed)
    if listed is None or not is_list(listed):
        return body
    items = items_of(listed)
    if len(items) != count - len(gone):  # a dialect may leave out a drop: then no place is certain
        return body
    splices: list[Splice] = []
    for edit in inserts:
        at = edit.message - bisect_left(gone, edit.message)
        try:
            splices += MANNERS[dialect].again(text, items, at, load(edit.raw))
        except (replay.DifferentReply, ValueError, BadRequest, Unreadable, msgspec.DecodeError):
            continue
    return spliced(body, splices)
