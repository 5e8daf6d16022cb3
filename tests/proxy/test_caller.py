from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.scope import Scope
from memory.session import Mode
from proxy.caller import Caller, Prefix, resolve, split_prefix
from proxy.errors import Refusal
from proxy.runtimes import ClientEnvironment, recognise
from proxy.settings import Settings
from tests.proxy.runtimes.views import view

SECRET = b"0123456789abcdef0123456789abcdef"
IN_A = view(("user", "Use tabs."), system="<env>\n  Working directory: /srv/a\n</env>")
NOWHERE = view(("user", "Use tabs."))
ALICE = {"key": "key-of-alice", "org": "acme", "user": "alice", "projects": ["demo", "/srv/a"]}
TEAM = {"key": "key-of-the-team", "org": "acme", "user": "*"}


def caller(
    headers: dict[str, str] | None = None, url: str = "/v1/x", seen: Any = NOWHERE, locate: Any = None, **settings: Any
) -> Caller:
    headers = headers or {}
    prefix, _ = split_prefix(url)
    return resolve(headers, prefix, seen, recognise(headers, seen), Settings(**settings), SECRET, locate)


def public(*credentials: dict[str, Any]) -> dict[str, Any]:
    return {"server": {"host": "0.0.0.0"}, "credentials": credentials}


@pytest.mark.parametrize(
    ("url", "prefix", "rest"),
    [
        ("/v1/responses", Prefix(), "/v1/responses"),
        ("/u/ann/p/demo/v1/responses", Prefix(user="ann", project="demo"), "/v1/responses"),
        ("/p/demo/u/ann/v1/messages", Prefix(user="ann", project="demo"), "/v1/messages"),
        ("/k/s3cret/v1/models", Prefix(key="s3cret"), "/v1/models"),
        (
            "/o/acme/k/s/u/ann/p/github.com%2Facme%2Fdemo/v1/x",
            Prefix("s", "acme", "ann", "github.com/acme/demo"),
            "/v1/x",
        ),
        ("/p/demo", Prefix(project="demo"), "/"),
        ("/p/demo/", Prefix(project="demo"), "/"),
        ("/p/caf%C3%A9/v1/x", Prefix(project="café"), "/v1/x"),
        ("/p/demo/v1/p/x", Prefix(project="demo"), "/v1/p/x"),
        ("/p/demo?beta=true", Prefix(project="demo"), "/?beta=true"),
        ("/p/demo/v1/x?a=/u/b", Prefix(project="demo"), "/v1/x?a=/u/b"),
        ("/users/u/x", Prefix(), "/users/u/x"),
        ("/u", Prefix(), "/u"),
        ("/", Prefix(), "/"),
        ("", Prefix(), "/"),
    ],
)
def test_the_prefix_of_a_url_is_read_and_the_rest_is_the_path(url: str, prefix: Prefix, rest: str) -> None:
    assert split_prefix(url) == (prefix, rest)


@pytest.mark.parametrize(
    "url",
    ["/p//v1/x", "/p/%20/v1", "/p/a/p/b/v1", f"/p/{'x' * 201}/v1", "/u/a%00b/v1", "/u/a%0Ab/v1", "/u/%FF/v1", "/u/"],
)
def test_a_prefix_that_names_nothing_is_refused(url: str) -> None:
    with pytest.raises(Refusal) as refused:
        split_prefix(url)
    assert refused.value.status == 400
    assert refused.value.where


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable() and text.strip() == text))
def test_any_name_can_stand_in_a_url(name: str) -> None:
    assert split_prefix(f"/p/{quote(name, safe='')}/v1/x") == (Prefix(project=name), "/v1/x")


@given(st.text(max_size=60))
def test_any_path_is_read_or_refused(path: str) -> None:
    try:
        _, rest = split_prefix("/" + path)
    except Refusal:
        return
    assert rest.startswith("/")


def test_on_a_persons_own_machine_everyone_is_that_person() -> None:
    assert caller(seen=IN_A).scope == Scope(None, "local", "/srv/a")
    assert caller().scope == Scope(None, "local", None)
    assert caller(user="ann", org="acme").scope == Scope("acme", "ann", None)


def test_headers_come_before_the_url_and_the_url_before_the_surroundings() -> None:
    headers = {"x-palimpsest-project": "one", "x-palimpsest-user": "ann", "x-palimpsest-org": "acme"}
    assert caller(headers, "/u/bob/p/two/v1/x", IN_A).scope == Scope("acme", "ann", "one")
    assert caller({}, "/o/o1/u/bob/p/two/v1/x", IN_A).scope == Scope("o1", "bob", "two")


def test_a_place_on_this_machine_is_completed() -> None:
    def locate(place: ClientEnvironment) -> ClientEnvironment:
        return ClientEnvironment(place.directory, "git@github.com:acme/demo.git")

    assert caller(seen=IN_A, locate=locate).scope.project == "github.com/acme/demo"
    far = caller(
        {"x-palimpsest-key": "key-of-the-team", "x-palimpsest-user": "ann"}, seen=IN_A, locate=locate, **public(TEAM)
    )
    assert far.scope.project == "/srv/a"


def test_a_credential_owns_what_its_entry_says() -> None:
    for headers, url in (
        ({"x-palimpsest-key": "key-of-alice"}, "/v1/x"),
        ({}, "/k/key-of-alice/v1/x"),
        ({"authorization": "Bearer key-of-alice"}, "/v1/x"),
        ({"x-api-key": "key-of-alice"}, "/v1/x"),
        ({"api-key": "key-of-alice"}, "/v1/x"),
    ):
        assert caller(headers, url, IN_A, **public(ALICE)).scope == Scope("acme", "alice", "/srv/a")


def test_a_header_or_a_prefix_only_narrows_what_a_credential_owns() -> None:
    own = {"x-palimpsest-key": "key-of-alice"}
    assert caller(own, "/p/demo/v1/x", IN_A, **public(ALICE)).scope == Scope("acme", "alice", "demo")
    for wider in (
        {"x-palimpsest-user": "bob"},
        {"x-palimpsest-org": "other"},
        {"x-palimpsest-project": "secret"},
    ):
        found = caller({**own, **wider}, "/v1/x", IN_A, **public(ALICE))
        assert found.scope == Scope()
        assert "does not own" in found.note
    assert caller(own, "/u/bob/v1/x", IN_A, **public(ALICE)).scope == Scope()


def test_a_project_that_a_credential_does_not_own_is_not_taken_from_the_surroundings() -> None:
    entry = {**ALICE, "projects": ["demo", "other"]}
    assert caller({"x-palimpsest-key": "key-of-alice"}, seen=IN_A, **public(entry)).scope == Scope(
        "acme", "alice", None
    )
    entry["projects"] = ["demo"]
    assert caller({"x-palimpsest-key": "key-of-alice"}, seen=IN_A, **public(entry)).scope == Scope(
        "acme", "alice", "demo"
    )


def test_a_teams_credential_asks_for_a_user() -> None:
    key = {"x-palimpsest-key": "key-of-the-team"}
    assert caller(key, "/u/bob/v1/x", IN_A, **public(TEAM)).scope == Scope("acme", "bob", "/srv/a")
    nameless = caller(key, seen=IN_A, **public(TEAM))
    assert nameless.scope == Scope()
    assert nameless.note


def test_a_caller_without_an_entry_gets_no_memory() -> None:
    for headers in (
        {},
        {"authorization": "Bearer something"},
        {"x-palimpsest-key": "wrong-key"},
        {"x-palimpsest-user": "alice"},
    ):
        found = caller(headers, "/u/alice/p/demo/v1/x", IN_A, **public(ALICE))
        assert found.scope == Scope()
        assert found.scope.owners() == ()
        assert found.note
    assert caller({}, seen=IN_A, credentials=[ALICE]).scope == Scope()


@pytest.mark.parametrize(
    "header", ["x-palimpsest-user", "x-palimpsest-project", "x-palimpsest-org", "x-palimpsest-key"]
)
@pytest.mark.parametrize("value", ["", "  ", "x" * 201, "a\tb", "a\x7fb", "\udcff"])
def test_a_header_that_cannot_be_a_name_is_refused_by_its_name(header: str, value: str) -> None:
    with pytest.raises(Refusal) as refused:
        caller({header: value})
    assert (refused.value.status, refused.value.where) == (400, header)


def test_the_mode_is_the_strictest_that_anyone_asked_for() -> None:
    assert caller().mode is Mode.ON
    assert caller({"x-palimpsest-memory": "Read-Only"}).mode is Mode.READ_ONLY
    assert caller(url="/p/demo/v1/x", projects={"demo": {"memory": "off"}}).mode is Mode.OFF
    readers = {**ALICE, "memory": "read-only"}
    assert (
        caller({"x-palimpsest-key": "key-of-alice", "x-palimpsest-memory": "on"}, **public(readers)).mode
        is Mode.READ_ONLY
    )
    with pytest.raises(Refusal):
        caller({"x-palimpsest-memory": "perhaps"})


def test_sessions_of_different_owners_and_installations_are_apart() -> None:
    spaces = [
        caller({"authorization": "Bearer one"}).namespace,
        caller({"authorization": "Bearer two"}).namespace,
        caller({"authorization": "Bearer one"}, "/u/ann/v1").namespace,
        caller({"authorization": "Bearer one"}, "/p/demo/v1").namespace,
        resolve({}, Prefix(), None, recognise({}, NOWHERE), Settings(), b"another installation").namespace,
    ]
    assert len(set(spaces)) == len(spaces)
    assert caller({"authorization": "Bearer one"}).namespace == spaces[0] == caller({"x-api-key": "one"}).namespace


def test_a_login_whose_token_changes_stays_in_its_sessions() -> None:
    for one, two in (("sk-ant-oat01-aaaa", "sk-ant-oat01-bbbb"), ("eyJa.eyJb.c", "eyJa.eyJd.e")):
        spaces = {caller({"authorization": f"Bearer {token}"}).namespace for token in (one, two)}
        assert len(spaces) == 1


def test_nothing_of_a_caller_shows_its_credential() -> None:
    found = caller(
        {"authorization": "Bearer sk-verysecret", "x-palimpsest-key": "key-of-alice"}, seen=IN_A, **public(ALICE)
    )
    assert "verysecret" not in repr(found)
    assert "key-of-alice" not in repr(found)


def test_the_sessions_key_is_the_runtimes() -> None:
    found = caller({"user-agent": "opencode/1", "x-session-id": "ses_c", "x-parent-session-id": "ses_p"}, seen=IN_A)
    assert (found.session_key, found.parent_key, found.directory) == ("ses_c", "ses_p", "/srv/a")
