"""``palimpsest tokens``: tokens for one user, for admins, and to read only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from proxy.auth.tokens import FILE, ApiToken, TokenRole, hash_of, new_token, read_tokens, write_tokens
from proxy.cli import output
from proxy.cli.faults import CommandError
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.cli.provenance import moment_after

tokens = typer.Typer(
    help="Tokens of our own endpoints: for one user, for admins, or to read only.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="What it is called, in the audit log too.", metavar="NAME")]
Expires = Annotated[str | None, typer.Option("--expires", help="When it ends: in 30d, 12h, or a day.")]


@tokens.command()
def add(
    name: Name,
    role: Annotated[TokenRole, typer.Option(help="admin, user or read.")] = TokenRole.USER,
    user: Annotated[str | None, typer.Option("--user", help="Whose memories it reaches; needed for a user's.")] = None,
    org: Annotated[str | None, typer.Option("--org", help="The organisation of that user.")] = None,
    expires: Expires = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Make a token, and show it once."""
    file, known = _known(home, config)
    if not name.strip() or len(name) > 60 or not name.isprintable() or name == "owner":
        raise CommandError(f"{name!r} is no name for a token", 2)
    if any(each.name == name and not each.revoked_at for each in known):
        raise CommandError(f"there is a token {name!r}: palimpsest tokens rotate {name}, or revoke it first", 2)
    if role is TokenRole.USER and user is None:
        raise CommandError("a token for one user needs --user", 2)
    if role is TokenRole.ADMIN and user is not None:
        raise CommandError("an admin's token reaches everybody's memories: leave --user out, or take --role user", 2)
    text, token = new_token(name, role, datetime.now(UTC), user, org, moment_after(expires))
    write_tokens(file, [*known, token])
    _print_token(text, token, as_json)


@tokens.command(name="list")
def list_(as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """List them; what they are cannot be shown again."""
    _, known = _known(home, config)
    now = datetime.now(UTC)
    if as_json:
        output.as_json({"tokens": [_row(each) | {"in_force": not each.why_not(now)} for each in known]})
        return
    for each in known:
        ends = f", ends {each.expires_at:%Y-%m-%d %H:%M}" if each.expires_at else ""
        whose = f" for {each.user}" if each.user else ""
        print(f"{each.name}: {each.role}{whose}{ends}{'' if not each.why_not(now) else ', opens nothing'}")
    if not known:
        print("there is none but the one in the data folder")


@tokens.command()
def rotate(
    name: Name, expires: Expires = None, as_json: Json = False, home: Home = None, config: ConfigFile = None
) -> None:
    """Make a new token in the place of one, which opens nothing from then on."""
    file, known = _known(home, config)
    old = _named(name, known)
    text, token = new_token(name, old.role, datetime.now(UTC), old.user, old.org, moment_after(expires))
    write_tokens(file, [token if each is old else each for each in known])
    _print_token(text, token, as_json)


@tokens.command()
def revoke(name: Name, as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """Let a token open nothing any more, from this moment on."""
    file, known = _known(home, config)
    old = _named(name, known)
    gone = msgspec.structs.replace(old, revoked_at=datetime.now(UTC))
    write_tokens(file, [gone if each is old else each for each in known])
    if as_json:
        output.as_json(_row(gone))
    else:
        print(f"{name} opens nothing any more")


def _known(home: Path | None, config: Path | None) -> tuple[Path, tuple[ApiToken, ...]]:
    file = loaded(home, config).settings.home / FILE
    try:
        return file, read_tokens(file)
    except ValueError as error:
        raise CommandError(str(error)) from error


def _named(name: str, known: tuple[ApiToken, ...]) -> ApiToken:
    found = [each for each in known if each.name == name and not each.revoked_at]
    if not found:
        raise CommandError(f"there is no token {name!r} in force", 2)
    return found[0]


def _print_token(text: str, token: ApiToken, as_json: bool) -> None:
    assert token.hash == hash_of(text)
    if as_json:
        output.as_json(_row(token) | {"token": text})
        return
    print(text)
    print("it is not shown again: send it as `Authorization: Bearer …`")


def _row(token: ApiToken) -> dict[str, object]:
    row: dict[str, object] = msgspec.to_builtins(token)
    del row["hash"]
    return row
