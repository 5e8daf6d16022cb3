"""Where the parts of a content of Gemini's format stand."""

from __future__ import annotations

from functools import partial

import msgspec

from proxy.wire.parts.gemini_generate import Fields, field, has_failed, only_text
from proxy.wire.places.place import Place, Swap, arguments, free
from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, string_of, value_of
from proxy.wire.splice import escaped, text_part


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a content, in their order; a part with a thought's signature has none."""
    places: list[Place | None] = []
    for part in items_of(fields_of(message).get("parts")):
        fields = fields_of(part)
        sealed = bool(string_of(field(fields, "thoughtSignature")))
        if is_string(fields.get("text")):
            thought = value_of(fields.get("thought")) is True
            if thought or sealed or string_of(fields["text"]):
                places.append(None if thought or sealed else free(fields["text"]))
        else:
            places.append(None if sealed else _of_part(part, fields))
    return places


def _of_part(part: msgspec.Raw, fields: Fields) -> Place | None:
    if is_object(call := field(fields, "functionCall")):
        return arguments(fields_of(call).get("args"))
    if is_object(answer := field(fields, "functionResponse")):
        return _result(fields_of(answer))
    if is_object(field(fields, "inlineData")) or is_object(field(fields, "fileData")):
        return partial(_instead, part)
    return None


def _result(answer: Fields) -> Place | None:
    """A text stays under its name; any other response becomes one text, and its pictures leave with it."""
    response, parts = answer.get("response"), answer.get("parts")
    if response is None or not is_object(response):
        return None
    pictures = [parts] if parts is not None and is_list(parts) and items_of(parts) else []
    return partial(_answer, response, pictures)


def _instead(part: msgspec.Raw, text: str) -> list[Swap]:
    return [(part, text_part(text, ""))]


def _answer(response: msgspec.Raw, pictures: list[msgspec.Raw], text: str) -> list[Swap]:
    answer_text = only_text(response)
    quoted = b'"' + escaped(text) + b'"'
    name = b"error" if has_failed(response) else b"output"
    field = (answer_text, quoted) if answer_text is not None else (response, b'{"%b":%b}' % (name, quoted))
    return [field, *((each, b"[]") for each in pictures)]
