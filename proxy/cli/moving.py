"""``palimpsest move``: the journal from its file into a PostgreSQL database, or back."""

from __future__ import annotations

import sqlite3
from typing import Annotated

import typer

from memory.ports import StoreError
from memory.stores.backups.backup import JOURNAL
from proxy.cli import output
from proxy.cli.faults import STOPPED, CommandError
from proxy.cli.instance_lock import owned
from proxy.cli.options import ConfigFile, Home, Json, loaded

_LEFT = "; what is forgotten now is not taken out of {copy}: call the same again, or {rid}"


def move(
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="The empty database to move into, without the password: ~/.pgpass or PGPASSWORD has it.",
            metavar="URL",
        ),
    ] = None,
    back: Annotated[
        str | None, typer.Option("--from", help="The database to move back from, likewise.", metavar="URL")
    ] = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Move the journal into a PostgreSQL database, or back into its file; stop the server first.

    What is interrupted goes on where it ended when the same is called again.
    """
    if (to is None) == (back is None):
        raise CommandError("say either --to URL or --from URL", 2)
    folder = loaded(home, config).settings.home
    file, counts, begun = folder / JOURNAL, dict[str, int](), False

    def told(table: str, rows: int) -> None:
        counts[table] = rows
        if not as_json:
            print(f"{table:<20}{rows:>12,}")

    def left() -> str:
        if to is not None:
            return _LEFT.format(copy="the database", rid="drop it") if begun else ""
        part = part_of(file)
        return _LEFT.format(copy=part, rid="delete it") if part.exists() else ""

    try:
        # Imported only here: it needs an extra.
        from memory.stores.postgresql.moving import move_in, move_out, part_of
    except ImportError as error:
        raise CommandError(f"that needs an extra: pip install 'palimpsest-proxy[team]' ({error})") from error
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("moving"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with owned(folder), output.progress(*columns, quiet=as_json) as bar:
        task = bar.add_task("moving", total=None)

        def shown(done: int, of: int) -> None:
            nonlocal begun
            begun = True
            bar.update(task, completed=done, total=of)

        try:
            if to is not None:
                if not file.exists():
                    raise CommandError(f"there is no journal: {file}")
                move_in(file, to, told, shown)
            else:
                move_out(back or "", file, told, shown)
        except (StoreError, sqlite3.Error, OSError) as error:
            raise CommandError(f"the move failed: {error}{left()}") from error
        except KeyboardInterrupt:
            raise CommandError(f"stopped{left()}", STOPPED) from None
    if as_json:
        output.as_json({"moved": counts})
    elif to is not None:
        print("all of it is in the database: set memory.postgresql.url")
        print(f"and delete {file}: what is forgotten from now on is not taken out of it")
    else:
        print(f"all of it is in {file}: take memory.postgresql.url out of the settings, and drop the database")
