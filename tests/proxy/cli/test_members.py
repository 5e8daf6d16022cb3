"""Members at the command line, and how what one of them says comes to hold for all of an organisation."""

from __future__ import annotations

from pathlib import Path

from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run

ACME = ("--org", "acme")
RULE, SHARED = "Always squash before a merge, says Rosa.", "Squash before a merge."


def test_members_are_added_given_roles_listed_and_removed(server: RunningServer) -> None:
    refused = run("members", "add", "ada")
    assert refused.code == 1 and "--org" in refused.err
    assert "say of which organisation: --org" in run("members", "list").out
    assert "acme has no members" in run("members", "list", *ACME).out
    assert "ada is owner of acme" in run("members", "add", "ada", *ACME, "--role", "owner").out
    assert "bob is member of acme" in run("members", "add", "bob", *ACME).out
    assert "bob is maintainer in loom" in run("members", "role", "bob", "maintainer", *ACME, "--project", "loom").out
    assert "bob is read-only of acme" in run("members", "role", "bob", "read-only", *ACME).out
    listed = run("members", "list", *ACME).out
    assert "ada: owner" in listed and "bob: read-only, maintainer in loom" in listed
    assert "others that have members: acme" in run("members", "list", "--org", "globex").out
    assert "it is one of owner" in run("members", "role", "bob", "king", *ACME).err
    made = run("keys", "create", "of-bob", "--user", "bob", *ACME, "--scope", "memory", "--scope", "calls", "--json")
    assert made.json["scopes"] == ["memory", "calls"]
    assert "for memory and calls" in run("keys", "list").out
    assert "zoe is no member of acme" in run("keys", "create", "of-zoe", "--user", "zoe", *ACME).err
    taken = run("members", "remove", "bob", *ACME, "--project", "loom").out
    assert "bob has no role of their own in loom" in taken and "opens nothing" not in taken
    removed = run("members", "remove", "bob", *ACME).out
    assert "bob is no member any more" in removed and "of-bob opens nothing any more" in removed
    assert "ada is no member any more" in run("members", "remove", "ada", *ACME).out


def test_what_a_member_says_is_let_rise_submitted_and_approved(server: RunningServer) -> None:
    run("members", "add", "ada", *ACME, "--role", "owner")
    run("members", "add", "bob", *ACME)
    query = {"org": "acme", "user": "bob", "project": "loom"}
    fact = server.ask("POST", "api/remember", query, {"text": RULE})["id"][:8]
    shown = run("promote", fact, "--to", "project", *ACME, "--user", "bob")
    assert shown.code == 2 and "nothing was written" in shown.err and RULE in shown.out
    [found] = run("candidates", *ACME, "--user", "bob", "--json").json["candidates"]
    assert "nothing waits" in run("candidates", "--submitted", *ACME).out
    id = found["id"][:8]
    assert f"submitted: {SHARED}" in run("submit", id, *ACME, "--user", "bob", "--text", SHARED, "--to", "org").out
    waits = run("candidates", "--submitted", *ACME).out
    assert SHARED in waits and "Rosa" not in waits and "approve ID --org acme" in waits
    one = run("candidates", id, *ACME, "--user", "ada").out
    assert "submitted by" in one and "Rosa" not in one
    assert f"approved: {SHARED}" in run("approve", id, *ACME, "--yes").out
    assert "nothing waits" in run("candidates", "--submitted", *ACME).out
    assert "approved by" in run("candidates", "--submitted", "--all", *ACME).out
    [rule] = server.ask("GET", "api/rules", {"org": "acme", "user": "ada"})["rules"]
    assert (rule["text"], rule["owner"]) == (SHARED, "o:acme")


def test_whom_the_first_member_would_close_memory_to_is_named_and_asked_about(home: Path) -> None:
    home.mkdir()
    entries = [("key-of-carl", "carl", "acme"), ("key-of-any-1", "*", "acme"), ("key-of-kim-1", "kim", "globex")]
    listed = [f"{{key: {key}, user: '{user}', org: {org}}}" for key, user, org in entries]
    (home / "config.yaml").write_text(f"credentials: [{', '.join(listed)}]\n")
    assert "--role owner" in run("members", "add", "ada", *ACME, "--yes").err
    add = ("members", "add", "ada", *ACME, "--role", "owner")
    asked = run(*add)
    assert asked.code == 2 and "carl" in asked.err and "entry for *" in asked.err and "kim" not in asked.err
    assert "acme has no members" in run("members", "list", *ACME).out
    assert "ada is owner of acme" in run(*add, "--yes").out
    assert "no member, which is without memory: whomever a request names (the entry for *), carl" in (
        run("members", "list", *ACME).out
    )
    # Nobody has it to lose any more.
    assert run("members", "add", "carl", *ACME).code == 0
    assert "carl," not in run("members", "list", *ACME).out.partition("no member")[2]
    # Who is named alone and is the one that is added loses nothing.
    assert run("members", "add", "kim", "--org", "globex", "--role", "owner").code == 0
