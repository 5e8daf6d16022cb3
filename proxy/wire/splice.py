"""Put text into JSON at an exact place: all other bytes stay as they are.

What an edit names is a *content*, a JSON string or a list of parts. Clients send one and the same content now as a
string, now as a list of one text; whichever it is, text that continues the last text (``SUFFIX``) and text that is a
part of its own (``PART``) come out as the same messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import orjson

from memory.conversation import Form
from memory.edits import Append
from proxy.wire.slices import fields_of, is_list, is_string, items_of, offset_of, string_of


@dataclass(frozen=True, slots=True)
class Splice:
    """These bytes stand in the place of ``[start, end)``; an insertion where both are equal."""

    start: int
    end: int
    new: bytes


def spliced(body: bytes, splices: Iterable[Splice]) -> bytes:
    """The body with the splices made, the very same object if there are none.

    Splices may come in any order but must not overlap; insertions at one place stay in their order.
    """
    pieces: list[bytes] = []
    at = 0
    for splice in sorted(splices, key=lambda splice: (splice.start, splice.end)):
        if splice.start < at:
            raise ValueError(f"splices overlap at byte {splice.start}")
        pieces += (body[at : splice.start], splice.new)
        at = splice.end
    if not pieces:
        return body
    pieces.append(body[at:])
    return b"".join(pieces)


def appended(
    text: bytes, content: msgspec.Raw, edits: Sequence[Append], kind: str, always_part: bool = False
) -> list[Splice]:
    """The splices that append the edits' texts, one after another, to a content that was cut from ``text``.

    ``kind`` is the type of a text part in this dialect, empty where its parts have none (parts of this type can be
    continued); with ``always_part``
    the content's own last text is never continued. A content that is neither string nor list takes nothing.
    """
    start = offset_of(text, content)
    end = start + len(memoryview(content))
    if is_string(content):
        suffix, parts = _insertion_text(edits, not always_part)
        if not parts:
            return [Splice(end - 1, end - 1, escaped(suffix))]
        if end - start == 2 and not suffix:  # "": an empty part would be refused
            return [Splice(start, end, b"[" + _joined(parts, kind) + b"]")]
        return [
            Splice(start, start, b"[" + _opening(kind)),
            Splice(end - 1, end - 1, escaped(suffix)),
            Splice(end, end, b"}," + _joined(parts, kind) + b"]"),
        ]
    if not is_list(content):
        return []
    items = items_of(content)
    last_text = None if always_part else _last_text(items, kind)
    suffix, parts = _insertion_text(edits, last_text is not None)
    splices = []
    if suffix and last_text is not None:
        quote = offset_of(text, last_text) + len(memoryview(last_text)) - 1
        splices.append(Splice(quote, quote, escaped(suffix)))
    if parts and items:
        after = offset_of(text, items[-1]) + len(memoryview(items[-1]))
        splices.append(Splice(after, after, b"," + _joined(parts, kind)))
    elif parts:
        splices.append(Splice(start + 1, start + 1, _joined(parts, kind)))
    return splices


def escaped(text: str) -> bytes:
    """Text as it stands between a JSON string's quotes; what UTF-8 cannot say becomes a question mark."""
    return orjson.dumps(text.encode(errors="replace").decode())[1:-1]


def text_part(text: str, kind: str) -> bytes:
    """A text part as JSON."""
    return _opening(kind) + b'"' + escaped(text) + b'"}'


def _opening(kind: str) -> bytes:
    return b'{"type":"' + kind.encode() + b'","text":' if kind else b'{"text":'


def _joined(parts: Sequence[str], kind: str) -> bytes:
    return b",".join(text_part(part, kind) for part in parts)


def _insertion_text(edits: Sequence[Append], continues: bool) -> tuple[str, list[str]]:
    """What continues the content's last text, and the parts behind it: each edit stands on the ones before it."""
    suffix = ""
    parts: list[str] = []
    for edit in edits:
        if edit.form is Form.SUFFIX and parts:
            parts[-1] += edit.text
        elif edit.form is Form.SUFFIX and continues:
            suffix += edit.text
        else:
            parts.append(edit.text)
    return suffix, parts


def _last_text(items: Sequence[msgspec.Raw], kind: str) -> msgspec.Raw | None:
    for item in reversed(items):
        fields = fields_of(item)
        if string_of(fields.get("type")) == kind and is_string(fields.get("text")):
            return fields["text"]
    return None
