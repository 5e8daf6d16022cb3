"""A wire format that nobody speaks, as a stranger would add it: this one file, and one entry in the list of formats."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from memory.conversation import Conversation, Form, Message, Reply, Role, Text, Usage
from memory.edits import Append, Edit
from proxy.wire.dialect import Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import Place, free, written
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.lenient_json import dict_in, int_in, loads, str_in
from proxy.wire.listener import DocumentListener
from proxy.wire.parts.content import message
from proxy.wire.slices import fields_of, is_string, string_of
from proxy.wire.splice import Splice, appended

_ROLES = {"person": Role.USER, "agent": Role.ASSISTANT}


def message_of(raw: msgspec.Raw, spoken: Spoken) -> Message:
    fields = fields_of(raw)
    role = _ROLES.get(string_of(fields.get("by")), Role.OTHER)
    return message(role, (Text(string_of(fields.get("text"))),), spoken, Form.SUFFIX if role is Role.USER else None)


def places_of(raw: msgspec.Raw) -> list[Place | None]:
    return [free(fields_of(raw).get("text"))]


def answer_of(data: bytes) -> Reply:
    value = loads(data)
    value = value if isinstance(value, dict) else {}
    used = dict_in(value, "used")
    return Reply(
        (Text(str_in(value, "answer")),), "stop", Usage(int_in(used, "in"), int_in(used, "out")), "answer" in value
    )


class StubTalk:
    """``/stub/talk``: turns, answered whole."""

    name = "stub-talk"
    paths: tuple[str, ...] = ("/stub/talk",)
    listed = "turns"

    def __init__(self) -> None:
        self._histories = IncrementalReader()

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        parted = self._histories.parted(body, self.listed, spoken, message_of)
        if parted.items is None:
            raise Unreadable("no list of turns")
        conversation = Conversation(
            dialect=self.name, model=string_of(parted.fields.get("model")), messages=parted.messages, stream=False
        )
        return RequestView(body, conversation, parted.fields, parted.items, cut_from=parted.text)

    def write(self, view: RequestView, edits: Sequence[Edit]) -> bytes:
        return written(view, edits, places_of, _append)

    def check(self, body: bytes) -> list[str]:
        return [] if isinstance(loads(body), dict) else ["The body is not a JSON object."]

    def listen(self, streamed: bool) -> Listener:
        return DocumentListener(answer_of)

    def refusal(self, status: int, message: str, where: str = "") -> bytes:
        return json.dumps({"fault": message}).encode()

    def too_long(self, message: str, limit: int = 0, size: int = 0) -> bytes:
        return self.refusal(400, message)


def _append(text: bytes, message: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    content = fields_of(message).get("text")
    if content is None or not is_string(content):
        return []
    return appended(text, content, [Append(edit.message, edit.text, Form.SUFFIX) for edit in edits], "")
