"""Which model a request names that no dialect reads: in its path, in the query, or in its body.

One text of a JSON object that a strict reader refuses, read as laxly as any server may: NaN, a comma too many, a
number beyond every range, half of a surrogate pair, UTF-16, any depth. What can be read in two ways is refused.
"""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, unquote

import msgspec

from proxy.wire.dialect import BadRequest

MOST_TOKENS = 2_000_000
"""Strings, numbers and marks that are read: reading goes on beside other requests, and takes a second for them."""

MOST_DEPTH = 1_000_000

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]++|(?P<open>")', re.DOTALL)
_CLOSES = {"{": ord("}"), "[": ord("]")}


def text_at_top(body: bytes, name: str) -> str:
    """The text that an object has under a name, the last where it has several; empty where it has none.

    Raises:
        BadRequest: this is no JSON object even so, or the name's value is no text.
    """
    text = body.decode(json.detect_encoding(body), "replace")
    found, key, value = "", "", ""
    has_key = has_colon = False
    closes = bytearray()
    for number, match in enumerate(_TOKEN.finditer(text)):
        token = match[0]
        mark = token[0]
        if match["open"]:
            raise BadRequest("its JSON ends within a string")
        if number >= MOST_TOKENS or len(closes) >= MOST_DEPTH:
            raise BadRequest("its JSON is of a lax kind and too large to be read as such")
        if not closes and (number or mark != "{"):
            raise BadRequest("something follows its JSON object" if number else "it is no JSON object")
        if len(closes) == 1 and mark not in ",:}":
            if not has_key and mark == '"':
                key, has_key = _decoded(token), True
                continue
            if not has_colon or value:
                raise BadRequest("its JSON object has a value without a name")
            value = token
            if key == name:
                if mark != '"' and token != "null":
                    raise BadRequest(f"its {name!r} is no text")
                found = _decoded(token) if mark == '"' else ""
        if mark in "{[":
            closes.append(_CLOSES[mark])
        elif mark in "}]":
            if closes.pop() != ord(mark):
                raise BadRequest("its JSON closes what it did not open")
        elif len(closes) == 1 and mark == ":":
            has_colon = has_key
        if len(closes) == 1 and mark == ",":
            value, has_key, has_colon = "", False, False
    if closes or not text.strip():
        raise BadRequest("its JSON ends too early" if closes else "it is empty")
    return found


def _decoded(token: str) -> str:
    try:
        decoded: str = json.loads(token, strict=False)
    except ValueError:
        raise BadRequest("a text in its JSON object cannot be read") from None
    return decoded


_IN_PATH = re.compile(r"/(?:models|tunedModels|deployments|engines|model)/([^/?]+)")
GOOGLE_METHOD = re.compile(r":(?=\w*$)(\w*contents?|\w*tokens|\w*predict\w*|embed\w*)$", re.IGNORECASE)
"""What stands behind a model in the paths of Google's API, as in ``models/<model>:generateContent``."""

PARTS = 1000
"""Parts of a form that are looked at."""
HEAD_BYTES = 2000
VALUE_BYTES = 500
_BATCHES = "/batches"
_REALTIME = "/realtime/"
"""In the paths at which a Realtime session is opened: its model may stand in what is said of the session."""
_JSON = re.compile(r"\w+/([\w.-]+\+|x-)?json")
_UNSAID = frozenset({"", "application/x-www-form-urlencoded", "text/plain"})
"""Kinds of a body that a client (curl, a browser's fetch) adds by itself to JSON, too."""
_BYTES = "application/octet-stream"
"""What says as little, and stands on files, too."""
_BEFORE_JSON = b" \t\r\n\x00\xef\xbb\xbf\xfe\xff"
"""Spaces and byte order marks, in UTF-8, UTF-16 and UTF-32."""
_BOUNDARY = re.compile(r"boundary=(?:\"([^\"]{1,100})\"|([^\s;,\"]{1,100}))", re.IGNORECASE)
_NAMED_MODEL = re.compile(rb"\bname=\"?model\"?\s*(?:;|\r|$)", re.IGNORECASE)


class _Named(msgspec.Struct):
    model: str | None = None


class _Asked(msgspec.Struct):
    params: msgspec.Raw = msgspec.Raw()


class _Opened(msgspec.Struct):
    session: msgspec.Raw = msgspec.Raw()


class _Batch(msgspec.Struct):
    requests: msgspec.Raw = msgspec.Raw()


_READER = msgspec.json.Decoder(_Named)
_OPENED_READER = msgspec.json.Decoder(_Opened)
_BATCH_READER = msgspec.json.Decoder(_Batch)
_LIST_READER = msgspec.json.Decoder(list[msgspec.Raw])
_ASKED_READER = msgspec.json.Decoder(_Asked)


def model_in_path(path: str) -> str:
    """The model in a path, as in ``/v1/models/<model>``; empty where it names none."""
    found = _IN_PATH.search(path)
    return GOOGLE_METHOD.sub("", unquote(found[1])) if found else ""


def models_in_query(path: str) -> frozenset[str]:
    """The models in a path's query, as in ``/v1/realtime?model=<model>``."""
    query = path.partition("?")[2]
    return frozenset(parse_qs(query).get("model", ())) if "model" in unquote(query) else frozenset()


def may_have_model(content_type: str) -> bool:
    """Whether a body of this kind can name a model: JSON, a form with files, or what does not say what it is."""
    kind = _kind(content_type)
    return kind in _UNSAID or kind.startswith("multipart/") or _JSON.fullmatch(kind) is not None


def is_bytes(content_type: str) -> bool:
    """Whether a body of this kind is anything, as far as its sender says."""
    return _kind(content_type) == _BYTES


def may_begin_object(begin: bytes) -> bool:
    """Whether a body that begins so can be a JSON object."""
    return begin.lstrip(_BEFORE_JSON)[:1] in (b"", b"{")


def models_in_body(body: bytes, content_type: str, path: str) -> frozenset[str]:
    """The models in a JSON object, of a lax kind, too, or in a form with files: more than one only in a batch, whose
    requests name a model each. That of a Realtime session may stand in the session. An empty name is that of a request
    that names none, as a JSON array does.

    Raises:
        BadRequest: the body cannot be read, or a model in it is no text.
    """
    kind = _kind(content_type)
    if kind.startswith("multipart/"):
        return frozenset({_model_in_form(body, content_type)})
    begins = body.lstrip(_BEFORE_JSON)[:1]
    if begins in (b"", b"[") or (kind in {*_UNSAID, _BYTES} and begins != b"{"):
        return frozenset({""})
    model = _model_in_object(body)
    if not model and _REALTIME in path.partition("?")[0]:
        return frozenset({_model_of_session(body)})
    if not path.partition("?")[0].rstrip("/").endswith(_BATCHES):
        return frozenset({model})
    try:
        models = _models_in_batch(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"the models of its batch cannot be read ({error})", "requests") from None
    return models | {model} if model else models or frozenset({""})


def _kind(content_type: str) -> str:
    return re.split("[;,]", content_type, maxsplit=1)[0].strip().lower()


def _model_in_object(body: bytes) -> str:
    try:
        return _READER.decode(body).model or ""
    except (msgspec.DecodeError, RecursionError):
        return text_at_top(body, "model")


def _model_of_session(body: bytes) -> str:
    try:
        session = _OPENED_READER.decode(body).session
        return (_READER.decode(session).model or "") if _begins(session, b"{") else ""
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"the model of its session cannot be read ({error})", "session") from None


def _models_in_batch(body: bytes) -> frozenset[str]:
    requests = _BATCH_READER.decode(body).requests
    if not _begins(requests, b"["):
        return frozenset()
    return frozenset(_model_asked_for(asked) for asked in _LIST_READER.decode(requests))


def _model_asked_for(asked: msgspec.Raw) -> str:
    params = _ASKED_READER.decode(asked).params if _begins(asked, b"{") else msgspec.Raw()
    return (_READER.decode(params).model or "") if _begins(params, b"{") else ""


def _begins(value: msgspec.Raw, mark: bytes) -> bool:
    return memoryview(value)[:1] == mark


def _model_in_form(body: bytes, content_type: str) -> str:
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise BadRequest("its Content-Type does not say where the parts of its form end")
    mark = f"--{boundary[1] or boundary[2]}".encode("utf-8", "surrogateescape")
    at = body.find(mark)
    if at < 0:
        raise BadRequest("it is not the form that its Content-Type says it is")
    for _ in range(PARTS):
        if at < 0:
            return ""
        begun = at + len(mark)
        end = body.find(b"\r\n\r\n", begun, begun + HEAD_BYTES)
        if end >= 0 and _NAMED_MODEL.search(body[begun:end]):
            value, closed, _rest = body[end + 4 : end + 4 + VALUE_BYTES].partition(b"\r\n")
            if not closed:
                raise BadRequest("the model in its form is too long, or does not end")
            return value.decode("utf-8", "replace").strip()
        at = body.find(mark, begun)
    raise BadRequest(f"its form has more than {PARTS} parts")
