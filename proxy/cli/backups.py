"""``palimpsest backup``, ``restore`` and ``verify``: copies of the data folder, put back, and looked through."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from memory.ports import StoreError
from memory.stores.backups.backup import JOURNAL, Backup, NoBackup, backups_in, read_list, take
from memory.stores.backups.places import BackupLook, BackupState, known_places, own_place, read_state, write_state
from memory.stores.backups.salvaging import NothingLeft, Salvaged
from memory.stores.backups.sealing import sealed_in, take_sealed, unseal
from memory.stores.backups.upgrading import UPGRADE, faults_of, faults_of_backup
from memory.stores.sealed import Sealed, is_sealed
from proxy.cli import output, prompts, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.instance_lock import owned
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.settings import Loaded

if TYPE_CHECKING:
    from memory.restore import Restored

BY_HAND = "by hand"
_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_NEVER = "never"
_SHORTEST = 300.0


def backup(
    to: Annotated[
        Path | None, typer.Option("--to", help="The folder.", show_default="backups in the data folder")
    ] = None,
    every: Annotated[
        str | None, typer.Option("--every", help="The server makes one so often from now on: 12h, 1d, 1w; or never.")
    ] = None,
    keep: Annotated[int, typer.Option("--keep", min=1, max=10_000, help="How many of those stay.")] = 7,
    without_keys: Annotated[
        bool, typer.Option("--without-keys", help="Leave out keys, and the settings' file, which may hold some.")
    ] = False,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Into one file that nobody reads without a passphrase.")
    ] = False,
    passphrase_file: prompts.File = None,
    only_list: Annotated[bool, typer.Option("--list", help="Only list those that there are.")] = False,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Copy journal, pages, settings and keys into a new folder, also while a server runs."""
    settled = loaded(home, config)
    _refuse_a_servers(settled)
    folder = settled.settings.home
    if only_list:
        _list(folder, as_json)
        return
    if not (folder / JOURNAL).exists():
        raise CommandError(f"there is nothing to back up: {folder / JOURNAL} is not there")
    if every is not None and encrypt:
        raise CommandError(
            "the server makes none that are encrypted: have cron ask for them, with --passphrase-file", 2
        )
    secret = prompts.to_seal(passphrase_file) if encrypt else ""
    seconds = None if every is None else _seconds(every)
    place = (to or own_place(folder)).expanduser().absolute()
    new_backup: Path | None = None
    if every is None or seconds:
        try:
            new_backup = _made(folder, place, not without_keys, secret)
        except Sealed as error:
            raise CommandError(str(error)) from error
        except sqlite3.Error as error:
            raise CommandError(f"the journal cannot be copied: {error}; see `palimpsest verify`") from error
    state = _remembered(folder, place)
    if every is not None:
        state = msgspec.structs.replace(
            state, every=seconds, place=str(place) if seconds else "", keep=keep, keys=not without_keys
        )
    write_state(folder, state)
    if as_json:
        output.as_json({"folder": new_backup and str(new_backup), "every_seconds": state.every})
        return
    if new_backup is not None:
        _print_made(new_backup, encrypt, without_keys)
    if every is not None:
        summary = (
            f"the server makes one in {place} every {every}, and keeps {keep}" if seconds else "none is made by itself"
        )
        print(f"from now on {summary}")


def _print_made(new_backup: Path, encrypted: bool, without_keys: bool) -> None:
    if encrypted:
        print(f"encrypted, in {new_backup}: without the passphrase nobody reads it, you neither")
        return
    print(f"{_what(read_list(new_backup))} in {new_backup}")
    print("anybody who can read it can read all that is remembered" + ("" if without_keys else ", and has its keys"))


def _remembered(folder: Path, place: Path) -> BackupState:
    """What is known of backups, with the place of a new one."""
    state = read_state(folder)
    if place != own_place(folder) and str(place) not in state.places:
        state = msgspec.structs.replace(state, places=(*state.places, str(place)))
    # Who backs up where something could not be taken out of has seen to it.
    return msgspec.structs.replace(state, stale=tuple(each for each in state.stale if each != str(place)))


def restore(
    source: Annotated[
        Path | None,
        typer.Argument(help="A backup, or with --salvage a journal.", metavar="[DIR]", show_default="the newest"),
    ] = None,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Take what can still be read of a damaged journal instead.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    passphrase_file: prompts.File = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Put a backup in the place of what is there, which is moved aside; stop the server first."""
    # All of memory: not for `backup`, `verify` and `--help`.
    from memory.restore import restore as put_back
    from memory.restore import salvaged

    settled = loaded(home, config)
    _refuse_a_servers(settled)
    folder = settled.settings.home
    at = datetime.now(UTC)
    with owned(folder):
        try:
            if salvage:
                damaged = (source or folder / JOURNAL).expanduser().absolute()
                prompts.sure(f"Put what can be read of {damaged} in the place of {folder / JOURNAL}?", yes)
                _print_salvaged(*salvaged(folder, at, damaged), as_json)
                return
            chosen = source.expanduser().absolute() if source else _newest(folder)
            with _opened(chosen, folder, passphrase_file) as opened:
                backup = read_list(opened)
                prompts.sure(
                    f"Put back {_what(backup)} of {backup.at.astimezone():%Y-%m-%d %H:%M}, from {chosen}?", yes
                )
                _print_restored(chosen, backup, put_back(opened, folder, at), as_json)
        except (NoBackup, NothingLeft, Sealed, StoreError) as error:
            raise CommandError(str(error)) from error
        except sqlite3.Error as error:
            raise CommandError(f"it could not be put back: {error}") from error


def _refuse_a_servers(settled: Loaded) -> None:
    if settled.settings.memory.postgresql.url is not None:
        raise CommandError(
            "the journal is in PostgreSQL (memory.postgresql.url), where pg_dump backs it up, pg_amcheck looks it "
            "through, and pg_restore puts it back"
        )


@takes()
def verify(
    call: Call,
    source: Annotated[
        Path | None, typer.Argument(help="A backup.", metavar="[DIR]", show_default="the journal in use")
    ] = None,
    passphrase_file: prompts.File = None,
) -> None:
    """Look whether the journal, or a backup, holds together; exit code 1 where it does not."""
    settled = call.loaded()
    folder = settled.settings.home
    if source is None:
        _refuse_a_servers(settled)
    if source is not None:
        where = source.expanduser().absolute()
        try:
            with (
                TemporaryDirectory(prefix="palimpsest-verify-") as scratch,
                _opened(where, folder if folder.is_dir() else Path(scratch), passphrase_file) as opened,
            ):
                faults = faults_of_backup(opened, Path(scratch))
        except (NoBackup, Sealed) as error:
            raise CommandError(str(error)) from error
        if folder.is_dir():
            look = BackupLook(datetime.now(UTC), len(faults))
            write_state(folder, read_state(folder).with_look(where, look))
    else:
        where = folder / JOURNAL
        if not where.exists():
            raise CommandError(f"there is no journal: {where}")
        faults = faults_of(where)
        if not faults:
            faults = list(call.ask("GET", "api/backups/index")["faults"])
        now = datetime.now(UTC)
        write_state(folder, msgspec.structs.replace(read_state(folder), verified=now, faults=tuple(faults)))
    if call.as_json:
        output.as_json({"looked_at": str(where), "faults": faults})
    else:
        for fault in faults:
            print(f"✗ {fault}")
        print(f"{where} does not hold together" if faults else f"{where} holds together")
        if faults and source is None:
            print("`palimpsest restore` puts the newest backup back; with --salvage it takes what can still be read")
    if faults:
        raise typer.Exit(1)


def _made(home: Path, place: Path, keys: bool, secret: str) -> Path:
    now = datetime.now(UTC)
    if secret:
        return take_sealed(home, place, now, BY_HAND, keys, secret)
    return take(home, place, now, BY_HAND, keys)


@contextmanager
def _opened(where: Path, home: Path, passphrase_file: Path | None) -> Iterator[Path]:
    """A backup as a folder; one that is sealed is taken out of its file meanwhile, in the home folder."""
    if not where.exists():
        raise CommandError(f"there is no {where}", 2)
    if not where.is_file():
        yield where
        return
    with where.open("rb") as stream:
        if not is_sealed(stream.read(64)):
            raise CommandError(f"{where} is no backup: it is neither a folder nor an encrypted file", 2)
    secret = prompts.to_open(passphrase_file)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".opened-", dir=home) as scratch:
        yield unseal(where, Path(scratch), secret)


def _seconds(every: str) -> float | None:
    if every == _NEVER:
        return None
    number, unit = every[:-1], every[-1:]
    if not (number.isascii() and number.isdigit() and len(number) < 6 and unit in _SECONDS):
        raise CommandError(f"{every!r} is no span of time: say 12h, 1d, 1w, or never", 2)
    seconds = int(number) * _SECONDS[unit]
    if seconds < _SHORTEST:
        raise CommandError(f"{every} is too often: every five minutes (5m) is the most", 2)
    return seconds


def _newest(home: Path) -> Path:
    """The newest backup; a journal that was kept before an upgrade is put back only by name."""
    state = read_state(home)
    found = [each for place in known_places(home, state) for each in backups_in(place) if each[1].reason != UPGRADE]
    if not found:
        sealed = [file for place in known_places(home, state) for file in sealed_in(place)]
        if sealed:
            raise CommandError(f"there are only encrypted backups: say which, the newest is {sealed[-1]}")
        raise CommandError(
            f"there is no backup in {', '.join(map(str, known_places(home, state)))}: say which, with its folder"
        )
    return max(found, key=lambda each: each[1].at)[0]


def _list(home: Path, as_json: bool) -> None:
    state: BackupState = read_state(home)
    found = [each for place in known_places(home, state) for each in backups_in(place)]
    sealed = [file for place in known_places(home, state) for file in sealed_in(place)]
    if as_json:
        rows = [{"folder": str(folder), **msgspec.to_builtins(backup)} for folder, backup in found]
        output.as_json({"backups": rows, "encrypted": [*map(str, sealed)], "every_seconds": state.every})
        return
    for folder, backup in found:
        print(f"{backup.at.astimezone():%Y-%m-%d %H:%M}  {_what(backup)}, {backup.reason}: {folder}")
    for file in sealed:
        print(f"encrypted: {file}")
    if not found and not sealed:
        print("there is no backup yet: palimpsest backup")


def _what(backup: Backup) -> str:
    facts, passages = backup.counts.get("facts", 0), backup.counts.get("passages", 0)
    return f"{wording.count(facts, 'fact')}, {wording.count(passages, 'passage')}"


def _print_restored(folder: Path, backup: Backup, restored: Restored, as_json: bool) -> None:
    if as_json:
        aside = restored.aside and str(restored.aside)
        output.as_json({"restored": str(folder), "replaced": aside, "forgotten": restored.forgotten})
        return
    print(f"restored: {_what(backup)}. The index is filled anew at the next start")
    if restored.forgotten:
        print(f"{wording.count(restored.forgotten, 'memory')} in it had been forgotten since, and stay forgotten")
    if restored.unknown:
        print("! what was forgotten since the backup nobody can tell: the journal that was there cannot be read")
    _aside(restored.aside)


def _print_salvaged(summary: Salvaged, aside: Path | None, as_json: bool) -> None:
    if as_json:
        rows: dict[str, Any] = {
            "rows": summary.rows,
            "damaged": summary.damaged,
            "loose": summary.loose,
            "lost": summary.lost,
        }
        output.as_json({**rows, "replaced": aside and str(aside)})
        return
    names = ("sessions", "exchanges", "messages", "facts", "passages")
    print("salvaged: " + ", ".join(f"{summary.rows.get(name, 0)} {name}" for name in names))
    if summary.damaged:
        print(f"some rows of {', '.join(summary.damaged)} could not be read")
    if summary.loose:
        print(f"{summary.loose} rows named something that was lost, and went too")
    if summary.lost:
        print(f"{wording.count(summary.lost, 'message')} of talks that are known otherwise are lost")
    _aside(aside)


def _aside(aside: Path | None) -> None:
    if aside is not None:
        print(f"what was there lies in {aside}: delete it once you miss nothing")
