"""``palimpsest doctor``: look at everything that has to be right, and say how to mend what is not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer

from proxy import diagnosis
from proxy.cli import checks, output
from proxy.cli.faults import CommandError
from proxy.cli.instance_lock import owned
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.cli.server import running
from proxy.cli.server_access import has_memory, reach, reach_empty
from proxy.connect.machine import look
from proxy.diagnosis import CheckResult
from proxy.setting_sources import SettingsError
from proxy.settings import Loaded, UpstreamSettings

MARKS = {"well": ("✓", "green"), "doubtful": ("!", "yellow"), "wrong": ("✗", "red")}


def doctor(as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """Check settings, data folder, vocabularies, provider, stores, embedder, and a write → recall → forget."""
    findings = []
    for finding in examine(home, config):
        findings.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        output.as_json({"findings": [asdict(finding) for finding in findings]})
    if any(finding.verdict == "wrong" for finding in findings):
        raise typer.Exit(1)


def examine(home: Home, config: ConfigFile) -> Iterator[CheckResult]:
    """Every finding, as it is made."""
    try:
        settled = loaded(home, config)
    except SettingsError as error:
        for fault in error.faults:
            yield CheckResult(
                "settings", "wrong", fault, "correct it there; docs/reference/settings.md lists every setting"
            )
        return
    # A server may have been started with options that are not in the settings of this command.
    chatgpt = "codex" in look(Path.home(), Path.cwd(), os.environ).logins
    yield from diagnosis.found_here(settled, _upstream(settled), chatgpt)
    # To open the stores would begin a journal anew.
    if lost := _lost(settled):
        yield lost
    else:
        yield from _stores(settled)


def _lost(settled: Loaded) -> CheckResult | None:
    home = settled.settings.home
    if not home.is_dir() or settled.settings.memory.postgresql.url is not None:
        return None
    try:
        with owned(home, patience=0.0):
            return checks.lost(home)
    except (CommandError, OSError):
        return None  # somebody has it open, which is told with the stores


def _upstream(settled: Loaded) -> UpstreamSettings:
    """Where requests go: those of the server that runs, if one does."""
    server = running(settled.settings.home)
    try:
        return settled.settings.upstream if server is None else checks.upstream_of(server)
    except (CommandError, OSError):
        return settled.settings.upstream  # that it does not answer is told with the stores


def _stores(settled: Loaded) -> Iterator[CheckResult]:
    try:
        runs = running(settled.settings.home) is not None
        begun = runs or has_memory(settled.settings)
        # Where there is none yet, that it would work is tried elsewhere: who only looks begins no memory.
        with (reach if begun else reach_empty)(settled) as server:
            found = list(checks.stores(server, settled.settings.home, runs, begun))
            yield from found
            if not any(each.what == "stores" and each.verdict == "wrong" for each in found[:1]):
                if projects := checks.projects(server):
                    yield projects
                if runs and (passed := checks.passed(server)):
                    yield passed
                yield from checks.asked(server)
                yield checks.round_trip(server)
    except (CommandError, OSError) as error:
        yield CheckResult("stores", "wrong", str(error), "stop the other process, or mend what it names")


def _show(finding: CheckResult) -> None:
    from rich.text import Text

    mark, colour = MARKS[finding.verdict]
    console = output.screen()
    console.print(Text.assemble((mark, colour), f" {finding.what}: {finding.found}"), soft_wrap=True)
    if finding.mend:
        console.print(Text(f"    {finding.mend}", "dim"), soft_wrap=True)
