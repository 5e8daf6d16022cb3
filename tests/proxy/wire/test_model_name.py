"""Which model a request names, on paths that are no dialect's."""

from __future__ import annotations

from time import process_time

import pytest

from proxy.wire.dialect import BadRequest
from proxy.wire.model_name import GOOGLE_METHOD, may_have_model, model_in_path, models_in_body

PATH = "/v1/embeddings"


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1/models/gpt-9", "gpt-9"),
        ("/v1/models/meta%2FLlama-4?x=1", "meta/Llama-4"),
        ("/v1/models/ft:gpt-4o:acme::7Q", "ft:gpt-4o:acme::7Q"),
        ("/v1beta/models/gemini-3:generateContent", "gemini-3"),
        ("/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "gemini-3"),
        ("/v1beta/models/gemini-3:countTokens", "gemini-3"),
        ("/openai/deployments/mine/embeddings", "mine"),
        ("/v1/models", ""),
        ("/v1/models/", ""),
        ("/v1/embeddings", ""),
    ],
)
def test_in_a_path(path: str, model: str) -> None:
    assert model_in_path(path) == model


@pytest.mark.parametrize(
    ("body", "model"),
    [
        (b'{"input": ["a"], "model": "m", "x": 1e400}', "m"),
        (b'{"input": "x"}', ""),
        (b'{"model": null}', ""),
        (b"", ""),
        (b" ", ""),
        (b"[1]", ""),
        (b'[{"model": "m"}]', ""),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "model": "m"}', "m"),
        (b'{"model": "m", "input": "\xff"}', "m"),
    ],
)
def test_in_a_body(body: bytes, model: str) -> None:
    assert models_in_body(body, "application/json", PATH) == {model}


@pytest.mark.parametrize("body", [b'{"model": 7}', b"{", b'{"a": ' + b"[" * 100_000, b"model=m"])
def test_a_body_that_cannot_be_read_names_not_no_model(body: bytes) -> None:
    with pytest.raises(BadRequest):
        models_in_body(body, "application/json", PATH)


@pytest.mark.parametrize(
    ("body", "models"),
    [
        (
            b'{"requests": [{"params": {"model": "a", "x": 1}}, {"custom_id": "1", "params": {"model": "b"}}]}',
            {"a", "b"},
        ),
        (b'{"requests": [{"params": {"model": "a"}}, {"params": {}}]}', {"a", ""}),
        (b'{"requests": [{"params": {"model": "a"}}], "model": "b"}', {"a", "b"}),
        (b'{"input_file_id": "f", "endpoint": "/v1/responses"}', {""}),
        (b'{"requests": {"params": {"model": "a"}}}', {""}),
        (b'{"requests": {"x": 1}, "model": "b"}', {"b"}),
        (b'{"requests": null}', {""}),
        (b'{"requests": [ {"params": {"model": "a"}}, 1, {}, {"params": []}]}', {"a", ""}),
        (b'[{"params": {"model": "a"}}]', {""}),
        (b"", {""}),
    ],
)
def test_in_a_batch(body: bytes, models: set[str]) -> None:
    assert models_in_body(body, "application/json", "/v1/messages/batches/?beta=true") == models


@pytest.mark.parametrize("requests", ['[{"params": {"model": 7}}]', '[{"params": {"model": "a"}}, NaN]', "NaN"])
def test_a_batch_that_cannot_be_read_names_not_no_model(requests: str) -> None:
    with pytest.raises(BadRequest):
        models_in_body(f'{{"requests": {requests}}}'.encode(), "application/json", "/v1/messages/batches")


@pytest.mark.parametrize("kind", ["", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded"])
def test_a_body_that_does_not_say_what_it_is_names_a_model_only_as_an_object(kind: str) -> None:
    assert may_have_model(kind)
    for said in ('{"model": "m"}', ' {"x": NaN, "model": "m"}'):
        assert models_in_body(said.encode(), kind, PATH) == {"m"}
    assert models_in_body('{"model": "m"}'.encode("utf-16"), kind, PATH) == {"m"}
    for body in (b"model=m&x=1", b"RIFF\x00", b"\xff\xd8\xff"):
        assert models_in_body(body, kind, PATH) == {""}
    with pytest.raises(BadRequest):
        models_in_body(b'{"model": "m"', kind, PATH)


@pytest.mark.parametrize(
    ("kind", "may"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/json, application/json", True),
        ("application/vnd.api+json", True),
        ("text/json", True),
        ("multipart/form-data; boundary=b", True),
        ("application/x-ndjson", False),
        ("application/octet-stream", False),
        ("application/sdp", False),
        ("audio/wav", False),
    ],
)
def test_which_kinds_of_a_body_can_name_a_model(kind: str, may: bool) -> None:
    assert may_have_model(kind) is may


@pytest.mark.parametrize(
    ("body", "model"),
    [
        (b'{"session":{"type":"realtime","model":"gpt-realtime"}}', "gpt-realtime"),
        (b'{"model":"gpt-realtime-mini","session":{"model":"gpt-realtime"}}', "gpt-realtime-mini"),
        (b'{"model":"gpt-realtime","voice":"cedar"}', "gpt-realtime"),
        (b'{"session":{"type":"realtime"}}', ""),
        (b'{"session":null}', ""),
        (b'{"expires_after":{"seconds":60}}', ""),
    ],
)
def test_in_a_realtime_session(body: bytes, model: str) -> None:
    assert models_in_body(body, "application/json", "/v1/realtime/client_secrets") == {model}
    assert models_in_body(b'{"session":{"model":"m"}}', "application/json", "/v1/images/edits") == {""}


@pytest.mark.parametrize("body", [b'{"session":{"model":7}}', b'{"session":{"model":NaN}}', b'{"session":{model}}'])
def test_a_realtime_session_that_cannot_be_read_names_not_no_model(body: bytes) -> None:
    with pytest.raises(BadRequest):
        models_in_body(body, "application/json", "/v1/realtime/client_secrets")


def test_in_a_form_with_files() -> None:
    head = b"--b\r\nContent-Disposition: form-data; name="
    form = head + b'"file"; filename="a"\r\nContent-Type: audio/wav\r\n\r\n\x00\xff\r\n'
    form += head + b'"model"\r\n\r\nwhisper-1\r\n--b--\r\n'
    assert models_in_body(form, "multipart/form-data; boundary=b", PATH) == {"whisper-1"}
    assert models_in_body(form, 'multipart/form-data; charset=utf-8; boundary="b"', PATH) == {"whisper-1"}
    assert models_in_body(head + b'"other"\r\n\r\nx\r\n', "multipart/form-data; boundary=b", PATH) == {""}


@pytest.mark.parametrize(
    ("form", "boundary"),
    [
        (b'--b\r\nname="model"\r\n\r\nm\r\n--b--', ""),
        (b'{"model": "m"}', "; boundary=b"),
        (b'--b\r\nname="model"\r\n\r\nm', "; boundary=b"),
        (b"--b\r\n" * 100_000, "; boundary=b"),
    ],
)
def test_a_form_that_cannot_be_read_names_not_no_model(form: bytes, boundary: str) -> None:
    with pytest.raises(BadRequest):
        models_in_body(form, f"multipart/form-data{boundary}", PATH)


def test_however_a_form_or_a_path_is_made_the_model_in_it_is_looked_for_in_its_length() -> None:
    form = b"--b\r\n" + b"name=model\r\n" * 20_000
    path = "/v1/models/m:" + "predict" * 20_000
    began = process_time()
    assert models_in_body(form, "multipart/form-data; boundary=b", PATH) == {""}
    with pytest.raises(BadRequest):
        models_in_body(b"--b\r\n" * 100_000, "multipart/form-data; boundary=b", PATH)
    assert GOOGLE_METHOD.search(f"{path}-") is None
    assert process_time() - began < 1
    assert model_in_path(path) == "m"
