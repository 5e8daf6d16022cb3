"""A request's target: plain, or refused."""

from __future__ import annotations

import contextlib
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.auth.installation_key import OwnSecrets
from proxy.auth.request_target import authority_of, forwardable, origin_form, readings
from proxy.caller import split_prefix
from proxy.errors import Refusal

SECRET = "s3cret-of-ours-1234"


def forwarded(target: str) -> str:
    """What would go to the provider."""
    _, behind = split_prefix(origin_form(target))
    return forwardable(behind, lambda text: SECRET in text)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/v1/models", "/v1/models"),
        ("//v1/models", "/v1/models"),
        ("/v1//chat///completions", "/v1/chat/completions"),
        ("/v1/chat/completions/", "/v1/chat/completions"),
        ("/v1/messages/?beta=true", "/v1/messages?beta=true"),
        ("/", "/"),
        ("//", "/"),
        ("/v1/models?next=//a/../b/", "/v1/models?next=//a/../b/"),
        ("/v1/models/meta%2FLlama", "/v1/models/meta%2FLlama"),
        ("/v1/models/k/first", "/v1/models/k/first"),
        ("/v1/models/palimpsest", "/v1/models/palimpsest"),
        ("/p/acme%2Fk%2Fdemo/v1/models", "/v1/models"),
        (f"//k/{SECRET}/v1/models", "/v1/models"),
        (f"/K/{SECRET}/U/ann/v1/models", "/v1/models"),
        (f"/k/{SECRET}//v1/models", "/v1/models"),
        (f"http://127.0.0.1:8484/k/{SECRET}/v1/models?a=b", "/v1/models?a=b"),
        ("http://127.0.0.1:8484", "/"),
        ("/v1/models#k", "/v1/models"),
    ],
)
def test_a_path_is_made_plain(target: str, path: str) -> None:
    assert forwarded(target) == path


@pytest.mark.parametrize(
    "target",
    [
        f"/v1/k/{SECRET}/chat/completions",
        "/v1/k/mistyped/chat/completions",
        "/v1/%6b/mistyped/chat/completions",
        "/v1%2fk%2fmistyped/chat/completions",
        "/v1%252fk%252fmistyped/chat/completions",
        "/%6b/mistyped/v1/chat/completions",
        "/v1/K/mistyped/chat/completions",
        "/v1\\k\\mistyped/chat/completions",
        f"/v1/{SECRET}/chat/completions",
        f"/v1/models/{SECRET}",
        f"/v1/models?key={SECRET}",
        f"/v1/models?key={quote(SECRET).replace('s', '%73')}",
        "//k//KEY/v1/models",
        "/palimpsest",
        "//palimpsest/api/facts",
        "/Palimpsest/api/facts",
        "/v1/palimpsest/api/facts",
        "/p/demo/palimpsest/api/facts",
        "/%70alimpsest%2fapi/facts",
        "/.//palimpsest/api/facts",
        "/v1/../palimpsest/api/facts",
        "/v1/%2e%2e/palimpsest",
        "/v1/models/..",
        "/v1/models%0a",
        "/v1/models%250d%250aHost:x",
        "/v1/models%00",
        "/v1/models?next=" + "a" * 8192,
    ],
)
def test_what_could_tell_a_key_or_mean_our_own_endpoints_is_refused(target: str) -> None:
    with pytest.raises(Refusal) as refused:
        forwarded(target)
    assert refused.value.status in (400, 404, 414)
    assert SECRET not in refused.value.message


def test_an_address_of_another_host_is_known() -> None:
    assert authority_of("/v1/models") is None
    assert authority_of("//evil.example/v1") is None
    assert authority_of("http://api.openai.com/v1/models") == "api.openai.com"
    assert authority_of("HTTPS://user@h:1?x") == "user@h:1"
    assert authority_of("api.openai.com:443") == "" == authority_of("*")


@given(
    st.lists(st.sampled_from(["/", "k/", "%2f", "v1", "x", "?", "=", "\\", SECRET, quote(SECRET), "%73" + SECRET[1:]]))
)
def test_no_real_secret_is_forwarded_however_it_is_glued_to_other_words(pieces: list[str]) -> None:
    own = OwnSecrets("", [SECRET])
    with contextlib.suppress(Refusal):
        _, behind = split_prefix("/" + "".join(pieces))
        assert SECRET not in unquote(forwardable(behind, own.stand_in))


@given(
    st.lists(st.sampled_from(["/", "//", "k", "K", "%6b", "%2f", "%252F", "..", "v1", SECRET, "%73", "a", "?", "\\"]))
)
def test_no_secret_is_forwarded_however_its_path_is_spelt(pieces: list[str]) -> None:
    with contextlib.suppress(Refusal):
        assert SECRET not in forwarded("/" + "".join(pieces))


@given(st.lists(st.sampled_from(["%", "25", "2", "6B", "k", "%c3%a9", "é", "%zz", "+"])))
def test_a_text_is_read_as_it_stands_and_as_it_decodes_and_again(pieces: list[str]) -> None:
    text = "".join(pieces)
    read = readings(text)
    assert read[0] == text and read[min(1, len(read) - 1)] == unquote(text)


def test_what_is_encoded_many_times_over_is_read_in_a_few_rounds() -> None:
    read = readings("%" + "25" * 30_000 + "6B")
    assert read[-1] == "k" and len(read) <= 4
