"""Which model a request names, on paths that are no dialect's: in its body, or in the path."""

from __future__ import annotations

import re
from urllib.parse import unquote

import msgspec

_IN_PATH = re.compile(r"/(?:models|tunedModels|deployments|engines|model)/([^/?]+)")
GOOGLE_METHOD = re.compile(r":(?=\w*$)(\w*contents?|\w*tokens|\w*predict\w*|embed\w*)$", re.IGNORECASE)
"""What stands behind a model in the paths of Google's API, as in ``models/<model>:generateContent``."""

PARTS = 1000
"""Parts of a form that are looked at."""
HEAD_BYTES = 2000
VALUE_BYTES = 500
_BOUNDARY = re.compile(r"boundary=(?:\"([^\"]{1,100})\"|([^\s;,\"]{1,100}))", re.IGNORECASE)
_NAMED_MODEL = re.compile(rb"\bname=\"?model\"?\s*(?:;|\r|$)", re.IGNORECASE)


class _Named(msgspec.Struct):
    model: str = ""


_READER = msgspec.json.Decoder(_Named)


def model_in_path(path: str) -> str:
    """The model in a path, as in ``/v1/models/<model>``; empty where it names none."""
    found = _IN_PATH.search(path)
    return GOOGLE_METHOD.sub("", unquote(found[1])) if found else ""


def model_in_body(body: bytes, content_type: str) -> str:
    """The model in a JSON object or in a form with files; empty where there is none."""
    if content_type.startswith("multipart/"):
        return _model_in_form(body, content_type)
    try:
        return _READER.decode(body).model
    except (msgspec.DecodeError, RecursionError):
        return ""


def _model_in_form(body: bytes, content_type: str) -> str:
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        return ""
    mark = f"--{boundary[1] or boundary[2]}".encode("utf-8", "surrogateescape")
    at = body.find(mark)
    for _ in range(PARTS):
        if at < 0:
            break
        begun = at + len(mark)
        end = body.find(b"\r\n\r\n", begun, begun + HEAD_BYTES)
        if end >= 0 and _NAMED_MODEL.search(body[begun:end]):
            value, closed, _rest = body[end + 4 : end + 4 + VALUE_BYTES].partition(b"\r\n")
            return value.decode("utf-8", "replace").strip() if closed else ""
        at = body.find(mark, begun)
    return ""
