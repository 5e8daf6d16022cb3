"""Ask a running server, with the token out of its home folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from proxy.cli.faults import CommandError
from proxy.cli.home_owner import announced

NO_TEXT = "what was said on the command line holds bytes that are no UTF-8 text"

SECONDS = 150.0
QUICK = 3.0

# A proxy in the environment must not come between us and this machine.
_OPENER = build_opener(ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that runs. ``url`` has no path."""

    url: str
    token: str

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        seconds: float = SECONDS,
    ) -> dict[str, Any]:
        """The answer of ``/palimpsest/<path>``.

        Raises:
            Fault: with the server's own sentence when it refuses, or when it does not answer.
        """
        try:
            data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise CommandError(NO_TEXT, 2) from error
        return self._request(method, path, query, data, seconds)

    def send(self, path: str, query: Mapping[str, Any], body: bytes) -> dict[str, Any]:
        """The answer to a body that is sent as it is.

        Raises:
            Fault: as :meth:`ask`.
        """
        return self._request("POST", path, query, body, SECONDS)

    def lines(self, path: str, query: Mapping[str, Any] | None = None) -> list[bytes]:
        """The lines of an answer that is one JSON object a line.

        Raises:
            Fault: as :meth:`ask`.
        """
        return self._reply("GET", path, query, None, SECONDS).splitlines()

    def _request(
        self, method: str, path: str, query: Mapping[str, Any] | None, data: bytes | None, seconds: float
    ) -> dict[str, Any]:
        try:
            payload = json.loads(self._reply(method, path, query, data, seconds))
        except ValueError as error:
            raise Unreachable(f"the server at {self.url} does not answer: {error}") from error
        if not isinstance(payload, dict):
            raise Unreachable(f"what answers at {self.url} is no palimpsest")
        return payload

    def _reply(
        self, method: str, path: str, query: Mapping[str, Any] | None, data: bytes | None, seconds: float
    ) -> bytes:
        try:
            query_string = urlencode({key: value for key, value in (query or {}).items() if value not in (None, "")})
        except UnicodeEncodeError as error:
            raise CommandError(NO_TEXT, 2) from error
        url = f"{self.url}/palimpsest/{quote(path)}" + (f"?{query_string}" if query_string else "")
        request = Request(url, data, {"Authorization": f"Bearer {self.token}"}, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with _OPENER.open(request, timeout=seconds) as reply:
                body: bytes = reply.read()
                return body
        except HTTPError as error:
            if error.code == HTTPStatus.UNAUTHORIZED:
                why = "it does not take the token in its data folder, which was changed since it started"
                raise CommandError(f"the server at {self.url} has to be restarted: {why}") from error
            raise CommandError(_sentence(error)) from error
        except (URLError, HTTPException, ConnectionError, TimeoutError) as error:
            raise Unreachable(f"the server at {self.url} does not answer: {error}") from error


class Unreachable(CommandError):
    """Nothing answers there."""


def running(home: Path) -> RunningServer | None:
    """The server that has a home open, or None where none runs.

    Where none has, nothing is sent to any port: somebody else may listen there, and the token is not for them.

    Raises:
        Fault: when one runs and its token, without which it answers nobody, is not there any more.
    """
    found = announced(home)
    return RunningServer(found.url, _token(home / "token", found.url)) if found else None


def _token(file: Path, url: str) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
        why = "it is empty"
    except (OSError, ValueError) as error:
        token, why = "", (error.strerror if isinstance(error, OSError) else None) or "it is no text"
    if not token:
        raise CommandError(
            f"the server at {url} runs, and {file}, the token with which commands ask it, cannot be read: {why}. "
            "Restart the server, which writes a new one where there is none; until then it forwards requests as before"
        )
    return token


def address(host: str, port: int) -> str:
    """The address under which this machine reaches a server that listens on a host."""
    plain = host.strip("[]")
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(plain, plain)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


def _sentence(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"the server answered {error.code} {error.reason}"
