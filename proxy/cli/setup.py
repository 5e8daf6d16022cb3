"""``palimpsest setup``, and ``palimpsest`` alone: the first day, one question after the other.

Nothing is changed without a yes, and each thing that is can be done, and undone, by a command of its own, which is
told.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from proxy.cli import importing, output, prompts, service, wording
from proxy.cli.call import Call, takes
from proxy.cli.connecting import ORIGINALS_FOLDER, address_of
from proxy.cli.faults import STOPPED, CommandError
from proxy.cli.prompts import agreed
from proxy.cli.runtime_names import installed
from proxy.cli.server import RunningServer, running
from proxy.cli.status_summary import glance
from proxy.cli.transcripts.found import ImportSource, ImportSourceKind, places, sources
from proxy.connect import (
    GUIDES,
    LAUNCHES,
    ConnectPlan,
    FilePreview,
    NotEditable,
    carry_out,
    connected_files,
    look,
    plan,
    preview,
)
from proxy.explanations import source as told_source
from proxy.settings import Settings

_INTRODUCTION = (
    "Palimpsest gives coding agents a memory. This looks for a server, your clients and their past sessions, and asks "
    "before each change; Ctrl-C ends it at any point, and what was done until then stays."
)
_KEYS = "y: right · n: wrong, forget it · e: say it better · Enter: leave it · q: enough"
_NOTHING_RUNS = 2
"""The code of a glance at a home whose server does not run."""

STRONGEST = 10
"""Findings that are shown for a yes or no."""

_FINDINGS = frozenset(("decision", "preference", "convention", "correction"))

_WHOSE = {ImportSourceKind.CLAUDE: "Claude Code", ImportSourceKind.CODEX: "Codex"}
"""Whose sessions are a file each; all of opencode's are in one."""


@dataclass(frozen=True, slots=True)
class SetupFindings:
    """What is on this machine: runtimes, with what connecting each would write, and why one cannot be written."""

    plans: tuple[ConnectPlan, ...]
    changes: Mapping[str, Sequence[FilePreview]]
    faults: Mapping[str, str]
    histories: tuple[ImportSource, ...]

    @property
    def as_json(self) -> dict[str, Any]:
        """For a program."""
        return {
            "runtimes": [
                {
                    "runtime": each.runtime,
                    "title": each.title,
                    "connected": each.runtime not in self.faults and not self.changes[each.runtime],
                    "files": [str(change.path) for change in each.changes],
                    "warnings": each.warnings,
                    "fault": self.faults.get(each.runtime, ""),
                }
                for each in self.plans
            ],
            "histories": dict(Counter(each.kind.value for each in self.histories)),
        }


@takes()
def setup(
    call: Call,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Answer every question with yes.")] = False,
    unless_done: Annotated[bool, typer.Option("--unless-done", hidden=True)] = False,
) -> None:
    """Find what is installed, connect it, and learn from the sessions that there are: one question after the other.

    With --json it only says what it finds. Where nobody is at the terminal, it asks nothing and needs --yes."""
    settings = call.loaded().settings
    if unless_done and connected_files(settings.home / ORIGINALS_FOLDER):
        line, code, _ = glance(settings.home)
        me = wording.program()
        _say(line if code != _NOTHING_RUNS else f"{line}; start it with `{me} serve`, or one client: `{me} run claude`")
        _say(f"{me} setup goes through it again, {me} status and {me} why tell more, {me} --help has all commands.")
        return
    if not (call.as_json or yes or prompts.is_interactive()):
        raise CommandError(
            "setup asks, and nobody is at this terminal: say --yes, or use `palimpsest connect NAME --write`, "
            "`palimpsest import` and `palimpsest service install`",
            2,
        )
    if call.as_json:
        output.as_json(_look_at_machine(settings).as_json)
        return
    try:
        _ask_all(call, settings, yes)
    except typer.Abort:
        print(file=sys.stderr)  # The question's line is not ended yet.
        stays = f"what was done until here stays, `{wording.program()} setup` goes on from it"
        raise CommandError(f"stopped: {stays}", STOPPED) from None


def _ask_all(call: Call, settings: Settings, yes: bool) -> None:
    """One question after the other."""
    if not yes:
        _say(_INTRODUCTION)
    _install_service(call, settings, yes)
    found = _look_at_machine(settings)
    connected = [each.title for each in found.plans if _connect_runtime(each, found, settings, yes)]
    learned = _import_histories(call, found.histories, yes)
    if learned and not yes:
        with call.reach() as server:
            _review_findings(server)
    _end(settings, connected)


def _look_at_machine(settings: Settings) -> SetupFindings:
    """Look at this machine; nothing is changed."""
    machine = look(Path.home(), Path.cwd(), os.environ)
    where = address_of(settings)
    here = installed()
    plans, changes, faults = [], {}, {}
    for name in GUIDES:
        if name not in here:
            continue
        planned = plan(name, where, machine, window=settings.memory.default_window)
        plans.append(planned)
        try:
            changes[name] = [each for each in preview(planned) if each.diff]
        except (NotEditable, OSError) as error:
            faults[name] = str(error)
    histories = sources(places(None), None, lambda *_: None)
    return SetupFindings(tuple(plans), changes, faults, tuple(histories))


def _install_service(call: Call, settings: Settings, yes: bool) -> None:
    """A server that is there from login on, where the machine can keep one."""
    if server := running(settings.home):
        _say(f"The server runs at {server.url}.")
        return
    manager = service.offered(settings)
    if manager and agreed(f"No server runs. Keep one running from login on, with {manager}?", yes):
        try:
            service.install(dry_run=False, yes=True, as_json=False, home=call.home, config=call.config)
        except CommandError as error:
            print(f"! {error}", file=sys.stderr)
    else:
        _say(f"No server runs yet: `{wording.program()} serve` starts one, in a terminal that stays open.")


def _connect_runtime(planned: ConnectPlan, found: SetupFindings, settings: Settings, yes: bool) -> bool:
    """Whether a runtime is connected now; one that is found and is not is shown first."""
    print()
    me = wording.program()
    if settings.credentials:
        _say(f"{planned.title}: there are credentials in the settings: {me} connect {planned.runtime} --key KEY")
        return False
    if fault := found.faults.get(planned.runtime):
        _say(f"! {planned.title}: {fault}. `{me} connect {planned.runtime}` shows what to put there by hand.")
        return False
    if not planned.changes:
        once = f"`{me} run {planned.runtime}` starts it with memory, " if planned.runtime in LAUNCHES else ""
        _say(f"{planned.title}: {once}`{me} connect {planned.runtime}` prints what to set for good.")
        return False
    if not found.changes[planned.runtime]:
        _say(f"{planned.title} is connected already.")
        return True
    for each in found.changes[planned.runtime]:
        print(each.diff)
    for warning in planned.warnings:
        _say(f"! {warning}")
    if not agreed(f"Connect {planned.title} in this way?", yes):
        return False
    carry_out(found.changes[planned.runtime], settings.home / ORIGINALS_FOLDER)
    _say(f"connected; `{me} connect {planned.runtime} --undo` puts back what was there")
    for name, value in planned.environment.items():
        print(f"and in your shell's start file: export {name}={value}")
    return True


def _import_histories(call: Call, found: Sequence[ImportSource], yes: bool) -> bool:
    """Whether something was learned from sessions that there are."""
    if not found:
        return False
    counts = Counter(each.kind for each in found)
    notes = counts.pop(ImportSourceKind.MARKDOWN, 0)
    histories = [
        f"{wording.count(number, 'session')} of {_WHOSE[kind]}" for kind, number in counts.items() if kind in _WHOSE
    ]
    if ImportSourceKind.OPENCODE in counts:
        histories = [each for each in histories if "opencode" not in each] + ["the sessions of opencode"]
    histories += [wording.count(notes, "file") + " of notes for agents"] if notes else []
    print()
    _say(f"Found {', '.join(histories)}.")
    if not agreed("Learn from them? All of it stays on this machine.", yes):
        _say(f"`{wording.program()} import` does that whenever you like.")
        return False
    try:
        importing.import_(
            paths=None,
            kind=None,
            dry_run=False,
            project=None,
            at_here=False,
            user=None,
            as_json=False,
            home=call.home,
            config=call.config,
        )
    except typer.Exit:
        pass  # What could not be read was told, with file and line.
    except CommandError as error:
        print(f"! {error}", file=sys.stderr)
        return False
    return True


def _review_findings(server: RunningServer) -> None:
    """The strongest findings, for a yes or a no, one key each."""
    strongest = strongest_of(server.ask("GET", "api/facts", {"limit": 1000})["facts"])
    if not strongest:
        return
    now = datetime.now().astimezone()
    _say(f"\nThe strongest of what was learned, for you to judge, one key each:\n{_KEYS}")
    for place, each in enumerate(strongest, 1):
        told = told_source({**each, "runtime": ""}, None, now)
        _say(f"\n{place} of {len(strongest)}  {output.memory_text(each)}\n   {told}")
        done = _decide_finding(server, each)
        if not done:
            return
        _say(f"   {done}")


def _decide_finding(server: RunningServer, each: Mapping[str, Any]) -> str:
    """What was done with a finding; empty where the person has had enough."""
    path = f"api/facts/{each['id']}"
    while True:
        match prompts.key().lower():
            case "y":
                server.ask("POST", f"{path}/confirm", body={})
                return "confirmed"
            case "n":
                server.ask("DELETE", path)
                return "forgotten"
            case "e":
                if text := (prompts.edited(f"{each['text']}\n", "finding.md") or "").strip():
                    server.ask("POST", f"{path}/update", body={"text": text})
                    return f"now: {text}"
            case "\r" | "\n" | " ":
                return "left as it is"
            case "q" | "\x1b":
                return ""


def strongest_of(facts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What a person said to hold, the surest, weightiest and most often said first."""
    findings = [dict(each) for each in facts if each["kind"] in _FINDINGS and each["origin"] == "user"]
    plain = [each for each in findings if each["sensitivity"] == "normal"]
    plain.sort(key=lambda each: (-each["sessions"], -each["confidence"] * each["importance"], each["id"]))
    return plain[:STRONGEST]


def _end(settings: Settings, connected: Sequence[str]) -> None:
    me = wording.program()
    print()
    if not connected:
        _say(f"Nothing is connected yet: `{me} connect` lists what can be.")
    elif running(settings.home) is None:
        names = ", ".join(connected)
        _say(f"! {names}: connected, and no server runs yet. Until one does, they reach no model: `{me} serve`.")
    else:
        _say(f"{', '.join(connected)}: work as always. What one session teaches is there in the next.")
    print(f"  {me} why       what was added to your last request, and from where")
    print(f"  {me} status    how memory stands")
    print(f"  {me} open      all of it in your browser")


def _say(text: str) -> None:
    """A sentence or two, broken between words where the terminal ends."""
    output.screen().print(text)
