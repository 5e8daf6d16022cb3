import json

import pytest

from proxy.wire import DIALECTS


@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
def test_openai_clients_read_the_place_and_the_type(path: str) -> None:
    assert json.loads(DIALECTS[path].refusal(400, 'Broken "JSON"', "messages")) == {
        "error": {"message": 'Broken "JSON"', "type": "invalid_request_error", "param": "messages", "code": None}
    }
    assert json.loads(DIALECTS[path].refusal(502, "gone\ud83d"))["error"] == {
        "message": "gone?",
        "type": "server_error",
        "param": None,
        "code": None,
    }


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((400, "invalid_request_error"), (401, "authentication_error"), (413, "request_too_large")),
        *((502, "api_error"), (529, "overloaded_error")),
    ],
)
def test_anthropic_clients_read_the_type(status: int, kind: str) -> None:
    assert json.loads(DIALECTS["/messages"].refusal(status, "No.", "body")) == {
        "type": "error",
        "error": {"type": kind, "message": "body: No."},
    }
