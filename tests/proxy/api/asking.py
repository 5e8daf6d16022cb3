"""A client of our own endpoints, with the token or without it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import orjson

from tests.proxy.api.described import check_answer
from tests.running import Running


@dataclass(frozen=True)
class Asking:
    """Asks a running proxy's own endpoints. ``token`` is sent where it is not empty."""

    running: Running
    token: str

    async def __call__(
        self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str
    ) -> dict[str, Any]:
        """The answer's JSON; the status must be the one that is expected, and the answer as it is described."""
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        data = None if body is None else io.BytesIO(body if isinstance(body, bytes) else orjson.dumps(body))
        url = f"{self.running.url}/palimpsest/{path}"
        async with self.running.client.request(method, url, data=data, headers=sent) as reply:
            text = await reply.read()
            assert reply.status == status, (reply.status, text)
            told: dict[str, Any] = orjson.loads(text)
            check_answer(method, path, status, told)
            return told


def asking(running: Running) -> Asking:
    """A client with the token."""
    return Asking(running, running.edge.token)
