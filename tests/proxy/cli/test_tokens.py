"""``palimpsest tokens`` and ``palimpsest audit``."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run


def asked(server: RunningServer, token: str, path: str = "api/facts") -> int:
    request = Request(f"{server.url}/palimpsest/{path}", headers={"Authorization": f"Bearer {token}"})
    try:
        with urlopen(request) as reply:
            return int(reply.status)
    except HTTPError as error:
        return error.code


def test_a_token_is_made_rotated_and_revoked_while_the_server_runs(home: Path, server: RunningServer) -> None:
    first = run("tokens", "add", "ci", "--role", "read", "--expires", "30d", "--json").json["token"]
    assert asked(server, first) == 200
    assert "ci: read, ends " in run("tokens", "list").out
    second = run("tokens", "rotate", "ci").out.split()[0]
    assert (asked(server, first), asked(server, second)) == (401, 200)
    assert "opens nothing any more" in run("tokens", "revoke", "ci").out
    assert asked(server, second) == 401
    assert "ci: read, opens nothing" in run("tokens", "list").out
    assert second not in (home / "tokens.json").read_text()
    told = run("audit", "--who", "ci").out
    assert "ci: GET api/facts (200)" in told
    assert json.loads(run("audit", "--json", "--what", "facts").out)["audit"]


@pytest.mark.parametrize(
    "wrong",
    [
        ("add", "ann"),
        ("add", "owner", "--user", "ann"),
        ("add", "boss", "--role", "admin", "--user", "ann"),
        ("add", "ann", "--user", "ann", "--expires", "2020-01-01"),
        ("add", "ann", "--user", "ann", "--expires", "soon"),
        ("rotate", "nobody"),
        ("revoke", "nobody"),
    ],
)
def test_what_makes_no_token_is_refused(wrong: tuple[str, ...], home: Path) -> None:
    assert run("tokens", *wrong).code == 2
    assert not (home / "tokens.json").exists()


def test_a_name_is_there_once(home: Path) -> None:
    assert run("tokens", "add", "ann", "--user", "ann").code == 0
    assert run("tokens", "add", "ann", "--user", "ann").code == 2
    assert "none but the one" not in run("tokens", "list").out
