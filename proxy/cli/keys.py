"""``palimpsest keys``: what users of clients show, issued and revoked while the server runs."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes
from proxy.cli.provenance import moment_after

keys = typer.Typer(help="Keys of clients' users: create, list, revoke.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="What it is called.", metavar="NAME")]


@keys.command()
@takes()
def create(
    call: Call,
    name: Name,
    user: Annotated[str, typer.Option("--user", help="Whose key it is.")],
    org: Annotated[str | None, typer.Option("--org", help="The organisation of that user.")] = None,
    project: Annotated[
        list[str] | None, typer.Option("--project", help="A project that it is for; may be given again. Else any.")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="What it is for: calls, memory, members; may be given again. Else calls."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Nothing is learnt from its requests.")] = False,
    expires: Annotated[str | None, typer.Option("--expires", help="When it ends: in 30d, 12h, or a day.")] = None,
) -> None:
    """Issue a key, and show it once."""
    ends = moment_after(expires)
    body: dict[str, Any] = {"name": name, "user": user, "read_only": read_only}
    body |= {"org": org} if org else {}
    body |= {"projects": project} if project else {}
    body |= {"scopes": scope} if scope else {}
    body |= {"expires_at": ends.isoformat()} if ends else {}
    made = call.ask("POST", "api/keys", body=body, begins=True)
    if call.as_json:
        output.as_json(made)
        return
    print(made["key"])
    if "calls" in made["scopes"]:
        print("it is not shown again: clients send it as x-palimpsest-key, or in the URL as /k/KEY/v1")
    else:
        print("it is not shown again: send it as `Authorization: Bearer …`, or log in with it on the pages")


@keys.command(name="list")
@takes()
def list_(call: Call) -> None:
    """List them; what they are cannot be shown again."""
    told = call.ask("GET", "api/keys")
    if call.as_json:
        output.as_json(told)
        return
    for each in told["keys"]:
        whose = f"{each['org']}/{each['user']}" if each["org"] else each["user"]
        where = "" if each["projects"] == ["*"] else f" in {', '.join(each['projects'])}"
        aims = "" if each["scopes"] == ["calls"] else f", for {' and '.join(each['scopes'])}"
        reads = ", reads only" if each["read_only"] else ""
        ends = f", ends {output.day(each['expires_at'])}" if each["expires_at"] else ""
        print(f"{each['name']}: {whose}{where}{aims}{reads}{ends}{'' if each['in_force'] else ', opens nothing'}")
    if not told["keys"]:
        print("none was issued")


@keys.command()
@takes()
def revoke(call: Call, name: Name) -> None:
    """Let a key open nothing any more."""
    told = call.ask("DELETE", f"api/keys/{quote(name, safe='')}")
    if call.as_json:
        output.as_json(told)
    else:
        print(f"{name} opens nothing any more")
