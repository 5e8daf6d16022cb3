"""``palimpsest members``: who belongs to an organisation, and what they may do in it and in its projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

import typer

from proxy.cli import output, prompts
from proxy.cli.call import Call, org_query, takes

members = typer.Typer(
    help="Members of organisations: add, list, role, remove.", no_args_is_help=True, rich_markup_mode=None
)

User = Annotated[str, typer.Argument(help="Who it is.", metavar="USER")]
Org = Annotated[str | None, typer.Option("--org", help="The organisation; else the settings' own.")]
ROLES = "owner, maintainer, member or read-only"


@members.command()
@takes()
def add(
    call: Call,
    user: User,
    org: Org = None,
    role: Annotated[str, typer.Option("--role", help=f"What they may do: {ROLES}.")] = "member",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Make somebody a member. The first one of an organisation is its owner.

    With the first one, whom `credentials` in the settings name has its memory only as a member: who would lose it is
    named, and you are asked."""
    query = org_query(org)
    with call.reach(begins=True) as server:
        before = server.ask("GET", "api/members", query)
        lose = [each for each in before["named"] if each != user]
        if lose and not before["members"]:
            prompts.sure(
                f"The first member closes the memory of {before['org']} to whom only the settings' credentials name: "
                f"{_listed(lose)}. They have it again once they are members. Add {user}?",
                yes,
            )
        told = server.ask("POST", "api/members", query, {"user": user, "role": role})
    _print_result(call, told, f"{user} is {told['role']} of {told['org']}: palimpsest keys create gives them a key")


@members.command(name="list")
@takes()
def list_(call: Call, org: Org = None) -> None:
    """List them with their roles, and the organisations that have members."""
    told = call.ask("GET", "api/members", org_query(org))
    if call.as_json:
        output.as_json(told)
        return
    for each in told["members"]:
        own = "".join(f", {role} in {project}" for project, role in each["projects"].items())
        by = f" by {each['added_by']}" if each["added_by"] else ""
        print(f"{each['user']}: {each['role']}{own} (added {output.day(each['added_at'])}{by})")
    if not told["members"]:
        print(f"{told['org']} has no members" if told["org"] else "say of which organisation: --org")
    elif told["named"]:
        print(f"named by the settings' credentials, and no member, which is without memory: {_listed(told['named'])}")
    others = [each for each in told["organisations"] if each != told["org"]]
    if others:
        print(f"others that have members: {', '.join(others)}")


@members.command()
@takes()
def role(
    call: Call,
    user: User,
    role: Annotated[str, typer.Argument(help=f"What they may do: {ROLES}.", metavar="ROLE")],
    org: Org = None,
    in_project: Annotated[
        str | None, typer.Option("--project", help="Only in this project, in the place of their role elsewhere.")
    ] = None,
) -> None:
    """Give a member another role, in the organisation or in a single project."""
    body = {"role": role} | ({"project": in_project} if in_project else {})
    told = call.ask("PATCH", f"api/members/{quote(user, safe='')}", org_query(org), body)
    _print_result(call, told, f"{user} is {role} {'in ' + in_project if in_project else 'of ' + told['org']}")


@members.command()
@takes()
def remove(
    call: Call,
    user: User,
    org: Org = None,
    in_project: Annotated[
        str | None, typer.Option("--project", help="Only their role in this project: that elsewhere holds there too.")
    ] = None,
) -> None:
    """Remove a member: their keys and tokens open nothing any more. What they taught stays (palimpsest forget)."""
    query = org_query(org) | ({"project": in_project} if in_project else {})
    told = call.ask("DELETE", f"api/members/{quote(user, safe='')}", query)
    if call.as_json:
        output.as_json(told)
        return
    print(f"{user} has no role of their own in {in_project}" if in_project else f"{user} is no member any more")
    for name in (*told["keys"], *told["tokens"]):
        print(f"{name} opens nothing any more")
    for sentence in told["stays"]:
        print(sentence)


def _listed(named: Sequence[str]) -> str:
    """Whom credentials name."""
    return ", ".join("whomever a request names (the entry for *)" if each == "*" else each for each in named)


def _print_result(call: Call, told: Mapping[str, Any], sentence: str) -> None:
    if call.as_json:
        output.as_json(dict(told))
    else:
        print(sentence)
