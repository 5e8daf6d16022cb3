"""Our refusals, in the client's own format, and the few errors that the edge knows."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from aiohttp import web

from proxy.wire.dialect import Dialect

RETRY_SECONDS = 2
"""After how long those are to come again for whom there is no room."""


class Refusal(Exception):
    """The client's fault, or ours: told to it with this status. ``where`` names the place, if there is one."""

    def __init__(self, status: int, message: str, where: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.where = where
        self.retry_after: int | None = RETRY_SECONDS if status == 503 else None
        # There are too many connections: this one makes room.
        self.ends_connection = status == 503
        self.headers: Mapping[str, str] = {}


class UpstreamUnreachable(Exception):
    """The connection to the provider could not be made, or broke before the first byte of a reply."""


def refuse(refusal: Refusal, dialect: Dialect | None) -> web.Response:
    """The refusal as a response; in OpenAI's shape where the dialect is not known."""
    if dialect is not None:
        body = dialect.refusal(refusal.status, refusal.message, refusal.where)
    else:
        body = orjson.dumps(
            {
                "error": {
                    "message": refusal.message,
                    "type": "invalid_request_error" if refusal.status < 500 else "api_error",
                    "param": refusal.where or None,
                    "code": None,
                }
            }
        )
    response = web.Response(
        status=refusal.status,
        body=body,
        content_type="application/json",
        headers={"x-palimpsest-status": f"refused; {refusal.status}", **refusal.headers},
    )
    if refusal.retry_after is not None:
        response.headers["Retry-After"] = str(refusal.retry_after)
    if refusal.ends_connection:
        response.force_close()
    return response
