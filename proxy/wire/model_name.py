"""Which model a request names, on paths that are no dialect's: in its body, or in the path."""

from __future__ import annotations

import re
from urllib.parse import unquote

import msgspec

_IN_PATH = re.compile(r"/(?:models|tunedModels|deployments|engines|model)/([^/?]+)")
GOOGLE_METHOD = re.compile(r":(\w*contents?|\w*tokens|\w*predict\w*|embed\w*)$", re.IGNORECASE)
"""What stands behind a model in the paths of Google's API, as in ``models/<model>:generateContent``."""

_IN_FORM = re.compile(rb'name="?model"?[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]{0,500})\r\n', re.IGNORECASE)


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
        found = _IN_FORM.search(body)
        return found[1].decode("utf-8", "replace").strip() if found else ""
    try:
        return _READER.decode(body).model
    except (msgspec.DecodeError, RecursionError):
        return ""
