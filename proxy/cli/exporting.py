"""``palimpsest export``: everything that memory holds, in a file that can be read, kept and imported again."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any

import orjson
import typer

from memory.features import exported
from memory.stores.sealed import Sealed, sealing
from proxy.cli import as_markdown, output, prompts, tracked, wording
from proxy.cli.call import Call, org_query, takes
from proxy.cli.faults import CommandError
from proxy.cli.persons import person_records
from proxy.cli.server import RunningServer

PIECE = {"fact": 1000, "passage": 1000, "research": 10, "candidate": 1000}
"""Memories that are asked for at once; a research brings its whole trail."""

SORTS = ("fact", "passage")
"""Those of core; features have more."""


class ExportFormat(StrEnum):
    """A JSON object a line, or text for people behind which the same records stand in a comment."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


@takes("project", "user")
def export(
    call: Call,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file.", show_default="standard output")] = None,
    format: Annotated[
        ExportFormat, typer.Option("--format", help="jsonl, or markdown to be read by people.")
    ] = ExportFormat.JSONL,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="So that nobody reads it without a passphrase; import asks for it.")
    ] = False,
    passphrase_file: prompts.File = None,
    owner: Annotated[
        list[str] | None, typer.Option("--owner", help="Only this owner's, as a fact tells it; may be repeated.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Write what is approved for the project into this folder of its repository."),
    ] = None,
    org: Annotated[str | None, typer.Option("--org", help="The organisation of --user.")] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="All that is held of --user: sessions, messages, what was added, keys, audit too."
        ),
    ] = False,
) -> None:
    """Write down everything that is remembered: facts with their whole record, passages, candidates, pins, your own
    pages; with --whole all that is held of a person; with --to only a project's approved rules, as Markdown for its
    repository."""
    if whole and (call.user is None or call.project or owner or to is not None or format is not ExportFormat.JSONL):
        raise CommandError("--whole takes --user NAME, and none of --project, --owner, --to, --format markdown", 2)
    if to is not None:
        if out is not None or owner or encrypt:
            raise CommandError("--to takes none of --out, --owner, --encrypt", 2)
        tracked.give_out(call, to)
        return
    secret = prompts.to_seal(passphrase_file) if encrypt else ""
    with call.reach() as server:
        query = call.scope(server) | org_query(org)
        if whole:
            records = person_records(server, query)
        else:
            inventory = server.ask("GET", "api/export", query)
            owners = _chosen(inventory["owners"], owner or [])
            records = _records(server, query, inventory, owners, whole=not owner)
        if out is None or str(out) == "-":
            _write(sys.stdout.buffer, _lines(records, format), secret)
            return
        counts = _to_file(out, records, format, secret)
    if whole:
        if call.as_json:
            output.as_json({"file": str(out)})
        else:
            print(f"all that is held of {call.user} written to {out}", file=sys.stderr)
    elif call.as_json:
        output.as_json({"file": str(out), **counts})
    else:
        facts, passages = wording.count(counts["facts"], "fact"), wording.count(counts["passages"], "passage")
        more = f", {counts['research']} of research" if counts["research"] else ""
        more += f", {wording.count(counts['candidates'], 'candidate')}" if counts["candidates"] else ""
        print(f"{facts} and {passages}{more} written to {out}", file=sys.stderr)


def every_sort() -> tuple[str, ...]:
    """The sorts of all records that are asked for owner by owner."""
    return (*SORTS, *exported())


def _chosen(owners: list[str], wanted: list[str]) -> list[str]:
    for each in wanted:
        if each not in owners:
            raise CommandError(f"there is no owner {each!r}; there are: {', '.join(owners) or 'none'}", 2)
    return [each for each in owners if not wanted or each in wanted]


def _records(
    server: RunningServer, scope: dict[str, str], inventory: dict[str, Any], owners: list[str], whole: bool
) -> Iterator[dict[str, Any]]:
    """Every record, in an order that does not change while nothing does."""
    yield {"sort": "palimpsest", "format": inventory["format"]}
    for owner in owners:
        for sort in every_sort():
            after = ""
            while True:
                query = {"owner": owner, "after": after, "limit": PIECE.get(sort, 1000), **scope}
                piece = [orjson.loads(line) for line in server.lines(f"api/export/{sort}", query)]
                yield from piece
                if len(piece) < PIECE.get(sort, 1000):
                    break
                after = piece[-1]["id"]
    for record in (*inventory["pages"], *inventory["pins"]):
        if record["owner"] in owners:
            yield record
    if whole:
        yield {"sort": "tombstones", "count": inventory["tombstones"]}


def _lines(records: Iterator[dict[str, Any]], format: ExportFormat) -> Iterator[bytes]:
    if format is ExportFormat.MARKDOWN:
        yield from (line.encode() + b"\n" for line in as_markdown.lines(records))
    else:
        yield from (orjson.dumps(record) + b"\n" for record in records)


def _write(stream: IO[bytes], lines: Iterator[bytes], secret: str) -> None:
    if secret:
        try:
            with sealing(stream, secret) as sealer:
                for line in lines:
                    sealer.write(line)
        except Sealed as error:
            raise CommandError(str(error)) from error
    else:
        for line in lines:
            stream.write(line)
    stream.flush()


def _to_file(out: Path, records: Iterator[dict[str, Any]], format: ExportFormat, secret: str) -> dict[str, int]:
    """Write the file beside its place, readable for its owner only, and put it there when it is whole. What is no file
    (a pipe, a device) is written into: nothing may take its place."""
    from rich.progress import SpinnerColumn, TextColumn

    sorts = every_sort()
    counts = {"facts": 0, "passages": 0, "research": 0, "candidates": 0}
    beside = out.with_name(out.name + ".part")
    columns = (SpinnerColumn(), TextColumn("exporting"), TextColumn("{task.completed} memories"))
    bar = output.progress(*columns)

    def counted() -> Iterator[dict[str, Any]]:
        with bar:
            task = bar.add_task("", total=None)
            for record in records:
                if record["sort"] in sorts:
                    name = {"research": "research"}.get(record["sort"], f"{record['sort']}s")
                    counts[name] = counts.get(name, 0) + 1
                    bar.advance(task)
                yield record

    if out.exists() and not out.is_file() and not out.is_dir():
        with out.open("wb") as stream:
            _write(stream, _lines(counted(), format), secret)
        return counts
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            _write(stream, _lines(counted(), format), secret)
            os.fsync(stream.fileno())
        os.replace(beside, out)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    return counts
