"""Make hidden rounds again in a request: behind the message that they answered, before the client's copy of the reply.

What a finished round said stands in the very bytes in which it went to the provider; of the client's copy, which says
the same in its own spelling, it takes that part's place. Where the client's copy is of another reply, or says it in
other words, nothing is made again: its own bytes are valid as they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from proxy.wire.dialect import BadRequest
from proxy.wire.lenient_json import loads, str_in
from proxy.wire.rounds.anthropic_messages import mark_of_block
from proxy.wire.rounds.openai_responses import mark_of_item
from proxy.wire.rounds.turn import ContentMark, HiddenRoundRecord, behind
from proxy.wire.slices import fields_of, is_object, is_string, items_of, span, string_of
from proxy.wire.splice import Splice, escaped

_THOUGHT = ("reasoning_content", "reasoning")


class DifferentReply(Exception):
    """The client's copy is not of the reply that is to be made again."""


def chat(text: bytes, items: Sequence[msgspec.Raw], at: int, hidden: HiddenRoundRecord) -> Iterator[Splice]:
    """The splices for a Chat Completions history; ``at`` is the message that was answered.

    Raises:
        OtherReply: nothing may be made again.
    """
    copy = copy_of(items, at, "assistant")
    fields = fields_of(copy)
    start, end = span(text, copy)
    cuts: list[Splice] = []
    empty = False
    if hidden.before:
        left, cuts = _rest_of_content(text, fields.get("content"), hidden.marks[0::2])
        for key in _THOUGHT:
            if is_string(fields.get(key)):
                with contextlib.suppress(DifferentReply):  # what a client keeps of reasoning is its own affair
                    cuts.append(string_at(text, fields[key], behind_all(string_of(fields[key]), hidden.marks[1::2])))
        empty = not left.strip() and not items_of(fields.get("tool_calls"))
    if empty:
        yield Splice(start, end, hidden.before.encode())
        return
    if hidden.before:
        yield Splice(start, start, hidden.before.encode() + b",")
        yield from cuts
    calls = items_of(fields.get("tool_calls"))
    if hidden.beside and calls and at + 2 < len(items) and _role(items[at + 2]) == "tool":
        yield from among(text, calls, hidden.beside)
        yield Splice(end, end, b"," + hidden.results.encode())


def anthropic(text: bytes, items: Sequence[msgspec.Raw], at: int, hidden: HiddenRoundRecord) -> Iterator[Splice]:
    """The splices for an Anthropic history; ``at`` is the message that was answered.

    Raises:
        OtherReply: nothing may be made again.
    """
    copy = copy_of(items, at, "assistant")
    content = fields_of(copy).get("content")
    start, end = span(text, copy)
    if is_string(content):
        rest = behind_all(string_of(content), hidden.marks)
        if hidden.before and not rest.strip():
            yield Splice(start, end, hidden.before.encode())
        elif hidden.before and content is not None:
            yield Splice(start, start, hidden.before.encode() + b",")
            yield string_at(text, content, rest)
        return
    blocks = items_of(content)
    known, rest_of_text = known_again(blocks, hidden.marks, mark_of_block, _text_of_block)
    if hidden.before:
        if known == len(blocks):
            yield Splice(start, end, hidden.before.encode())
            return
        yield Splice(start, start, hidden.before.encode() + b",")
        if known:
            yield Splice(span(text, blocks[0])[0], span(text, blocks[known])[0], b"")
        if rest_of_text is not None:
            yield string_at(text, fields_of(blocks[known])["text"], rest_of_text)
    uses = [block for block in blocks if string_of(fields_of(block).get("type")) == "tool_use"]
    answer = items[at + 2] if at + 2 < len(items) else None
    results = items_of(fields_of(answer).get("content")) if answer is not None and is_object(answer) else []
    if hidden.beside and uses and results and string_of(fields_of(results[0]).get("type")) == "tool_result":
        yield from among(text, uses, hidden.beside)
        first = span(text, results[0])[0]
        yield Splice(first, first, hidden.results.encode() + b",")


def responses(text: bytes, items: Sequence[msgspec.Raw], at: int, hidden: HiddenRoundRecord) -> Iterator[Splice]:
    """The splices for a Responses history; ``at`` is the item that was answered.

    Raises:
        OtherReply: nothing may be made again.
    """
    copies: list[msgspec.Raw] = []
    for item in items[at + 1 :]:
        fields = fields_of(item)
        kind = string_of(fields.get("type")) or "message"
        if kind.endswith("_output") or (kind == "message" and string_of(fields.get("role")) != "assistant"):
            break
        copies.append(item)
    if not copies:
        raise DifferentReply
    known, rest = known_again(copies, hidden.marks, mark_of_item, lambda item: "")
    if rest is not None:
        raise DifferentReply
    if hidden.before:
        start = span(text, copies[0])[0]
        yield Splice(start, start, hidden.before.encode() + (b"," if known < len(copies) else b""))
        if known:
            end = span(text, copies[known])[0] if known < len(copies) else span(text, copies[-1])[1]
            yield Splice(start, end, b"")
    calls = [each for each in copies[known:] if "call_id" in fields_of(each)]
    if hidden.beside and calls and at + 1 + len(copies) < len(items):
        yield from among(text, calls, hidden.beside)
        end = span(text, copies[-1])[1]
        yield Splice(end, end, b"," + hidden.results.encode())


def copy_of(items: Sequence[msgspec.Raw], at: int, role: str) -> msgspec.Raw:
    """The client's copy of the reply, a message in this role.

    Raises:
        OtherReply: there is none.
    """
    if at + 1 >= len(items) or _role(items[at + 1]) != role:
        raise DifferentReply
    return items[at + 1]


def _text_of_block(block: dict[str, Any]) -> str:
    return str_in(block, "text") if str_in(block, "type") == "text" else ""


def known_again(
    copies: Sequence[msgspec.Raw],
    marks: Sequence[ContentMark],
    mark_of: Callable[[dict[str, Any]], ContentMark],
    text_of: Callable[[dict[str, Any]], str],
) -> tuple[int, str | None]:
    """How many of the client's contents the earlier rounds say, and what is left of the text that follows where a
    client has joined texts (of contents in which ``text_of`` finds any).

    A client may leave out what it does not keep (reasoning); a text it must have.
    """
    left = [mark for mark in marks if mark.length]
    known = 0
    for copy in copies:
        value = loads(bytes(copy))
        if not isinstance(value, dict) or not left:
            break
        mark = mark_of(value)
        if mark.length == 0:
            known += 1
            continue
        if mark in left and all(skipped.length < 0 for skipped in left[: left.index(mark)]):
            del left[: left.index(mark) + 1]
            known += 1
            continue
        text = text_of(value)
        while left and left[0].length < 0 and text:
            left.pop(0)
        if text and left and (rest := behind(text, left[0])) is not None:
            left.pop(0)
            for each in list(left):
                if each.length < 0:
                    left.remove(each)
            if left:
                rest = behind_all(rest, left)
            return known, rest
        break
    if any(mark.length > 0 for mark in left):
        raise DifferentReply
    return known, None


def behind_all(text: str, marks: Sequence[ContentMark]) -> str:
    """What stands in a text behind all that these marks know.

    Raises:
        OtherReply: it does not begin so.
    """
    for mark in marks:
        if mark.length > 0:
            rest = behind(text, mark)
            if rest is None:
                raise DifferentReply
            text = rest
    return text


def _rest_of_content(
    text: bytes, content: msgspec.Raw | None, marks: Sequence[ContentMark]
) -> tuple[str, list[Splice]]:
    """What a message's content says behind the earlier rounds' texts, and the splices that leave only that."""
    spoken = any(mark.length for mark in marks)
    if is_string(content) and content is not None:
        rest = behind_all(string_of(content), marks)
        return rest, [string_at(text, content, rest)] if spoken else []
    for part in items_of(content):
        fields = fields_of(part)
        if string_of(fields.get("type")) == "text" and is_string(fields.get("text")):
            rest = behind_all(string_of(fields["text"]), marks)
            # An empty part would be refused, and what is left may be no more than that.
            return rest, [string_at(text, fields["text"], rest or " ")] if spoken else []
    if spoken:
        raise DifferentReply
    return "", []


def among(text: bytes, calls: Sequence[msgspec.Raw], ours: Sequence[tuple[int, str]]) -> Iterator[Splice]:
    """Calls of ours among the client's, each behind as many of those as it was."""
    for before, raw in ours:
        if before < len(calls):
            place = span(text, calls[before])[0]
            yield Splice(place, place, raw.encode() + b",")
        else:
            place = span(text, calls[-1])[1]
            yield Splice(place, place, b"," + raw.encode())


def string_at(text: bytes, raw: msgspec.Raw, new: str) -> Splice:
    """Another string in the place of one."""
    start, end = span(text, raw)
    return Splice(start, end, b'"' + escaped(new) + b'"')


def _role(raw: msgspec.Raw) -> str:
    try:
        return string_of(fields_of(raw).get("role"))
    except BadRequest:
        return ""
