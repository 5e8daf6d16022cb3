"""The Model Context Protocol, message by message, in both of its eras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.tools import TOOLS
from proxy.cli.mcp_messages import LEGACY, STATELESS, reply


def called(name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    return f"{name} {sorted(arguments)}", name == "memory_note"


def ask(method: str, id: Any = 1, **params: Any) -> dict[str, Any]:
    said = reply(orjson.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}), called)
    assert said is not None and b"\n" not in said
    told: dict[str, Any] = orjson.loads(said)
    assert told["jsonrpc"] == "2.0" and told["id"] == id
    return told


def meta(revision: str) -> dict[str, Any]:
    about = {"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": {}}
    return {"_meta": about}


def test_a_handshake_agrees_on_a_revision_that_both_speak() -> None:
    for revision in LEGACY:
        assert ask("initialize", protocolVersion=revision)["result"]["protocolVersion"] == revision
    other = ask("initialize", protocolVersion="1999-01-01", capabilities={})["result"]
    assert other["protocolVersion"] == LEGACY[0]
    assert other["capabilities"] == {"tools": {}}
    assert other["serverInfo"]["name"] == "palimpsest"


def test_without_a_handshake_a_client_can_discover_what_there_is() -> None:
    told = ask("server/discover", **meta(STATELESS))["result"]
    assert told["supportedVersions"][0] == STATELESS and told["resultType"] == "complete"
    assert ask("tools/list", **meta(STATELESS))["result"]["cacheScope"] == "public"
    assert "resultType" not in ask("tools/list")["result"]
    unknown = ask("tools/list", **meta("2030-01-01"))["error"]
    assert unknown["code"] == -32022 and STATELESS in unknown["data"]["supported"]


def test_the_tools_are_listed_in_their_order() -> None:
    tools = ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)


def test_a_call_is_answered_and_says_whether_it_failed() -> None:
    told = ask("tools/call", id="x", name="memory_day", arguments={"date": "today"})["result"]
    assert told == {"content": [{"type": "text", "text": "memory_day ['date']"}], "isError": False}
    assert ask("tools/call", name="memory_note")["result"]["isError"] is True


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b'{"id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_day","arguments":[]}}', -32602),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_protocols_code(line: bytes, code: int) -> None:
    said = reply(line, called)
    assert said is not None and orjson.loads(said)["error"]["code"] == code


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "tools/call"])
def test_a_notification_is_never_answered(method: str) -> None:
    assert reply(orjson.dumps({"jsonrpc": "2.0", "method": method}), called) is None


def test_ping_is_answered() -> None:
    assert ask("ping")["result"] == {}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_no_message_is_answered_by_an_exception(value: Any) -> None:
    for message in (value, {"jsonrpc": "2.0", "id": value, "method": value, "params": value}):
        try:
            line = orjson.dumps(message)
        except (TypeError, orjson.JSONEncodeError):
            continue
        said = reply(line, called)
        assert said is None or orjson.loads(said)["jsonrpc"] == "2.0"
