"""``palimpsest import``: sessions that agents have had, notes that a person wrote for them, and our own exports."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import orjson
import typer

from memory.stores.sealed import SUFFIX, Sealed, Unsealer, is_sealed
from proxy.cli import as_markdown, output, prompts, tracked, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.options import here
from proxy.cli.server import RunningServer, Unreachable
from proxy.cli.staging import WAITING, Staging, tell_staged
from proxy.cli.transcripts import chats, claude_code, codex, notebook, opencode
from proxy.cli.transcripts.found import ImportSource, ImportSourceKind, directory_of, places, sources
from proxy.cli.transcripts.transcript import Problem, time_of

PIECE = 500
"""Records that are sent at once."""

IN_PART = 3
"""The exit code where something was taken in and something else could not be."""

EVERY = 0.25
"""Seconds between two looks at how far learning is."""

STILL = 120.0
"""Seconds without any progress after which learning is not waited for."""

_READERS = {
    ImportSourceKind.CLAUDE: claude_code.read,
    ImportSourceKind.CODEX: codex.read,
    ImportSourceKind.OPENCODE: opencode.read,
    ImportSourceKind.CHATGPT: chats.read,
    ImportSourceKind.CLAUDE_AI: chats.read,
    ImportSourceKind.NOTES: notebook.read,
}


@takes("at_here", "user")
def import_(
    call: Call,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; without any, where runtimes keep their sessions.", metavar="[PATH]..."),
    ] = None,
    kind: Annotated[ImportSourceKind | None, typer.Option("--kind", help="Only these.", show_default="all")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be taken in, and take nothing.")] = False,
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="The project it becomes part of, whatever the files say.")
    ] = None,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Use what chats and notes teach at once, instead of after your review.")
    ] = False,
    passphrase_file: prompts.File = None,
) -> None:
    """Learn from sessions of Claude Code, Codex and opencode, from CLAUDE.md and the like, from the exports of ChatGPT
    and Claude.ai (zip), from any folder of Markdown (--kind notes), and from our own exports. What stands in
    .palimpsest, in a repository, is only proposed, by the names of who committed its lines.

    What chats and notes teach is told, and lies in quarantine until you release or forget it. What is known already is
    passed over: it can be stopped at any moment and run again. Where something cannot be read, file and line are told,
    the rest is taken in, and the exit code is 3."""
    problems: list[dict[str, Any]] = []

    def problem(file: Path, line: int, why: str) -> None:
        problems.append({"file": str(file), "line": line, "why": why})

    wanted = [path.expanduser() for path in paths or places(kind)]
    for path in wanted:
        if not path.exists():
            raise CommandError(f"there is no {path}", 2)
    shared = [path for path in wanted if tracked.is_tracked(path)]
    with ExitStack() as stack:
        own = [path for path in wanted if path not in shared]
        found = sources(_opened(own, call.loaded().settings.home, passphrase_file, stack), kind, problem)
        server = stack.enter_context(call.reach_empty() if dry_run and not call.finds_memory() else call.reach(True))
        proposals = [tracked.take_in(call, server, path, project, dry_run) for path in shared]
        if shared and not found:
            _tell_proposed(call, proposals, problems, dry_run)
            return
        before = _stored(server)
        place = project or (here(server) if call.at_here else "")
        query = {"user": call.user or "", "project": place, "dry": "true" if dry_run else ""}
        staging = Staging(server, query, not (at_once or dry_run))
        counts = _taken_in(server, found, query, problem, call.as_json, staging)
        learned = True if dry_run else _learned(server, call.as_json)
        more = {name: max(number - before[name], 0) for name, number in _stored(server).items()}
    fields = {"files": len(found), **counts, "dry_run": dry_run, "learned": learned, "problems": problems, "more": more}
    fields["staged"] = staging.told()
    if call.as_json:
        output.as_json(fields | ({"proposals": proposals} if shared else {}))
    else:
        for each in proposals:
            tracked.tell(each, dry_run)
        _print_summary(fields)
        tell_staged(staging)
    if problems and not any(counts.values()):
        raise CommandError("nothing could be imported")
    if problems:
        raise typer.Exit(IN_PART)


def _tell_proposed(call: Call, proposals: list[dict[str, Any]], problems: list[dict[str, Any]], dry_run: bool) -> None:
    """Say what was proposed."""
    if call.as_json:
        output.as_json({"proposals": proposals, "problems": problems})
    else:
        for told in proposals:
            tracked.tell(told, dry_run)


def _opened(paths: list[Path], home: Path, passphrase_file: Path | None, stack: ExitStack) -> list[Path]:
    """The same, with what an encrypted file holds in the file's place: in the home folder, where it would lie anyway,
    until the stack is left."""
    opened, secret = list[Path](), ""
    for path in paths:
        if not path.is_file():
            opened.append(path)
            continue
        with path.open("rb") as stream:
            if not is_sealed(stream.read(64)):
                opened.append(path)
                continue
            stream.seek(0)
            secret = secret or prompts.to_open(passphrase_file)
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            scratch = Path(stack.enter_context(TemporaryDirectory(prefix=".opened-", dir=home)))
            try:
                unsealer = Unsealer(stream, secret)
                plain = scratch / path.name.removesuffix(SUFFIX)
                with plain.open("xb") as target:
                    while piece := unsealer.read(2**20):
                        target.write(piece)
            except Sealed as error:
                raise CommandError(f"{path}: {error}") from error
            opened.append(plain)
    return opened


def _taken_in(
    server: RunningServer,
    found: list[ImportSource],
    query: dict[str, Any],
    problem: Problem,
    quiet: bool,
    staging: Staging,
) -> dict[str, int]:
    """Send everything; what became of it, in numbers."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    counts = Counter(dict.fromkeys(_COUNTED, 0))
    seen: set[str] = set()
    columns = (
        TextColumn("importing"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with output.progress(*columns, quiet=quiet) as bar:
        task = bar.add_task("", total=sum(each.size for each in found))
        try:
            for source in found:
                bar.update(task, description=source.file.name)
                try:
                    for result in _source(server, source, query, problem, seen):
                        staging.heard(source.kind, result)
                        counts.update({key: value for key, value in result.items() if key in _COUNTED})
                except Unreachable:
                    raise
                except (CommandError, OSError, ValueError) as error:
                    problem(source.file, 0, str(error))
                bar.advance(task, source.size)
        finally:
            # Whatever ends it, what it has taught by then does not count before it is looked at.
            staging.put_away()
    return dict(counts)


_COUNTED = (
    "sessions",
    "turns",
    "new",
    "seen",
    "copied",
    "facts",
    "passages",
    "research",
    "candidates",
    "pins",
    "pages",
    "known",
    "forgotten",
)


def _source(
    server: RunningServer, source: ImportSource, query: dict[str, Any], problem: Problem, seen: set[str]
) -> Iterator[dict[str, Any]]:
    """The server's answers to what stands in a file."""
    match source.kind:
        case ImportSourceKind.JSONL:
            lines = source.file.read_bytes().split(b"\n")
            yield from _records(server, source.file, list(enumerate(lines, 1)), query, problem)
        case ImportSourceKind.MARKDOWN:
            yield from _notes(server, source.file, query, problem)
        case _:
            for transcript in _READERS[source.kind](source.file, problem, seen):
                if transcript.messages:
                    try:
                        response = server.send("api/import/session", _placed(source.kind, query), transcript.body())
                    except Unreachable:
                        raise
                    except CommandError as error:
                        problem(source.file, 0, f"session {transcript.session}: {error}")
                        continue
                    yield {**response, "sessions": 1}


def _placed(kind: ImportSourceKind, asked: dict[str, Any]) -> dict[str, Any]:
    """A chat took place in no folder: it is in a project that is called as its site."""
    return (
        asked
        if asked["project"] or kind not in (ImportSourceKind.CHATGPT, ImportSourceKind.CLAUDE_AI)
        else {**asked, "project": WAITING[kind]}
    )


def _records(
    server: RunningServer, file: Path, lines: list[tuple[int, bytes]], query: dict[str, Any], problem: Problem
) -> Iterator[dict[str, Any]]:
    """Send lines, each with its number in the file."""
    written = [(number, line) for number, line in lines if line.strip()]
    for start in range(0, len(written), PIECE):
        piece = written[start : start + PIECE]
        try:
            response = server.send("api/import/records", query, b"\n".join(line for _, line in piece))
        except Unreachable:
            raise
        except CommandError as error:
            problem(file, piece[0][0], f"this line and those up to {piece[-1][0]} were not taken: {error}")
            continue
        for place, why in response.pop("faults"):
            problem(file, piece[place][0], why)
        yield response


def _notes(server: RunningServer, file: Path, query: dict[str, Any], problem: Problem) -> Iterator[dict[str, Any]]:
    """Send notes in Markdown; lines that keep a record of ours are sent as such."""
    plain: list[str] = []
    numbered: list[tuple[int, bytes]] = []
    # At its line breaks alone: a record may hold other marks that Python counts as one.
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, (line, record) in enumerate(zip(lines, as_markdown.records_in(lines), strict=True), 1):
        if isinstance(record, ValueError):
            problem(file, number, f"the record in the comment cannot be read: {record}")
        elif record is None:
            plain.append(line)
        else:
            numbered.append((number, orjson.dumps(record)))
    yield from _records(server, file, numbered, query, problem)
    if numbered:
        # An export of ours: what else stands in it are its headings.
        return
    about = {**query}
    if not query["project"]:
        directory = directory_of(file)
        if directory is not None:
            about["project"] = server.ask("GET", "api/project", {"directory": str(directory)})["project"]
    body = orjson.dumps({"text": "\n".join(plain), "at": time_of(file.stat().st_mtime * 1000)})
    yield server.send("api/import/notes", about, body)


def _learned(server: RunningServer, quiet: bool) -> bool:
    """Wait until what was journaled is learned from; whether it is."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TextColumn("turns"), TimeRemainingColumn())
    with output.progress(*columns, quiet=quiet) as bar:
        first = left = _behind(server)
        task = bar.add_task("", total=first)
        moved = time.monotonic()
        while left and time.monotonic() - moved < STILL:
            time.sleep(EVERY)
            now = _behind(server)
            if now != left:
                left, moved = now, time.monotonic()
            first = max(first, left)
            bar.update(task, total=first, completed=first - left)
    return not left


def _stored(server: RunningServer) -> dict[str, int]:
    """How much is remembered: what is learned of sessions is not in an answer to them, which comes before."""
    stored = server.ask("GET", "api/status").get("stored") or {}
    return {name: int(stored.get(name, 0)) for name in ("facts", "passages")}


def _behind(server: RunningServer) -> int:
    response = server.ask("GET", "api/status")
    return int((response.get("stored") or {}).get("behind", 0))


def _print_summary(data: dict[str, Any]) -> None:
    console = output.screen()
    for each in data["problems"]:
        place = f"{each['file']}:{each['line']}" if each["line"] else each["file"]
        print(f"{place}: {each['why']}", file=sys.stderr)
    if not data["files"]:
        if not data["problems"]:
            console.print(
                "there is nothing to import: no session of Claude Code, Codex or opencode, no CLAUDE.md, AGENTS.md or "
                "the like, no export. Your own Markdown is taken with --kind notes"
            )
        return
    would = "would be " if data["dry_run"] else ""
    if data["sessions"]:
        turns = f"{data['new']} of {wording.count(data['turns'], 'turn')}"
        console.print(f"{wording.count(data['sessions'], 'session')}: {turns} {would}new")
        if data["seen"]:
            console.print(f"{data['seen']} came through the proxy when they took place")
        if data["copied"]:
            console.print(f"{data['copied']} are copies of another session's")
    sorts = ("fact", "passage", "candidate", "page", "pin")
    if data["research"] or any(data[f"{name}s"] for name in sorts):
        taken = [wording.count(data[f"{name}s"], name) for name in sorts if data[f"{name}s"]]
        taken += [f"{data['research']} of research"] if data["research"] else []
        console.print(f"{would}taken in: {', '.join(taken)}")
    if data["known"]:
        console.print(f"known already: {data['known']}")
    if data["forgotten"]:
        console.print(f"forgotten before, and left so: {data['forgotten']}")
    if data["sessions"] and not data["dry_run"]:
        facts, passages = (wording.count(data["more"][f"{name}s"], name) for name in ("fact", "passage"))
        console.print(f"learned: {facts} and {passages} more than before")
    if not data["learned"]:
        console.print("it is all in the journal, and not all of it is learned from yet: that goes on by itself")
