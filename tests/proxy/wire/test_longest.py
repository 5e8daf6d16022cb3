"""How long a reply the request allows, in each dialect's own word."""

from typing import Any

import orjson
import pytest

from proxy.wire import dialect_of

SAID = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("path", "fields", "longest"),
    [
        ("/v1/chat/completions", {"max_tokens": 100}, 100),
        ("/v1/chat/completions", {"max_tokens": 100, "max_completion_tokens": 200}, 200),
        ("/v1/chat/completions", {}, 0),
        ("/v1/responses", {"max_output_tokens": 300}, 300),
        ("/v1/messages", {"max_tokens": 64_000}, 64_000),
        ("/v1/messages", {"max_tokens": "many"}, 0),
        ("/v1/messages", {"max_tokens": -5}, 0),
        ("/v1/messages", {"max_tokens": True}, 0),
        ("/v1/messages", {"max_tokens": 1.5}, 0),
        ("/v1/messages", {"max_tokens": None}, 0),
    ],
)
def test_the_longest_reply_is_read(path: str, fields: dict[str, Any], longest: int) -> None:
    dialect = dialect_of(path)
    assert dialect is not None
    said = {"input": SAID} if path == "/v1/responses" else {"messages": SAID}
    view = dialect.read(orjson.dumps({"model": "m", **said, **fields}), lambda text: text)
    assert view.conversation.longest == longest
