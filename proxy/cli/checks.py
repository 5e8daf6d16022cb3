"""What the doctor looks at beside :mod:`proxy.diagnosis`: what only a command can, which has the data folder for itself
or asks a server. Each function answers with a finding and how to mend it."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from memory.hooks.command import count
from memory.scope import OWN_PROJECT
from memory.stores.lost_journal import left_behind
from proxy.cli.faults import CommandError
from proxy.cli.server import QUICK, RunningServer
from proxy.diagnosis import CheckResult
from proxy.fail_open import LATE
from proxy.settings import UpstreamSettings

_BOUNDED = re.compile(rf"\({LATE}: ([\w.]+)\)")
"""What was late, with the setting that bounds it."""


def lost(folder: Path) -> CheckResult | None:
    """A journal that is gone while what was made from it lies there; None where none is. Nobody else may have the home
    folder open."""
    left = left_behind(folder)
    if left is None:
        return None
    held = asyncio.run(left.vectors()) if left.indexes else 0
    remains = [f"an index with {count(held, 'vector')}"] if left.indexes else []
    remains += [f"{count(len(left.made), 'file')} of pages that were made from it"] if left.made else []
    remains += [f"{count(left.own, 'page')} of your own words"] if left.own else []
    mend = (
        "put a backup back before anything else (palimpsest restore); without one, the next start begins anew: "
        "your own words stay, and what was made is set aside in a folder beside them"
    )
    return CheckResult("journal", "wrong", f"{folder / 'journal.db'} is gone, and there is {', '.join(remains)}", mend)


def upstream_of(server: RunningServer) -> UpstreamSettings:
    """Where a running server sends requests.

    Raises:
        Fault: when it does not answer, or with something else.
    """
    rows = server.ask("GET", "api/config", seconds=QUICK)["settings"]
    values = {each["key"]: each["value"] for each in rows}
    names = {name: f"upstream.{name}" for name in UpstreamSettings.model_fields}
    try:
        return UpstreamSettings.model_validate({name: values[key] for name, key in names.items() if key in values})
    except ValidationError as error:
        raise CommandError(f"the server at {server.url} is of another version") from error


def stores(server: RunningServer, home: Path, runs: bool, begun: bool) -> Iterator[CheckResult]:
    """What the server, or the stores opened here, say of themselves. Where no memory is ``begun`` they are others than
    the data folder's."""
    response = server.ask("GET", "api/status")
    whose = f"the server at {server.url}" if runs else "opened here, as no server runs"
    if response["status"] == "ok" and response["memory"] == "off":
        yield CheckResult("stores", "doubtful", "memory is switched off", "set memory.mode to on")
        return
    if response["why"]:
        for why in response["why"]:
            yield CheckResult("stores", "wrong", why, _mend(why))
    elif not begun:
        yield CheckResult("stores", "well", f"no memory in {home} yet; they open in a temporary folder")
    elif response["memory"] == "paused":
        yield CheckResult("stores", "doubtful", f"{whose}: memory is paused", "palimpsest resume")
    else:
        stored = response["stored"]
        held = f"{count(stored['facts'], 'fact')}, {count(stored['passages'], 'passage')}"
        yield CheckResult("stores", "well", f"{whose}: {held}{_earlier(response['failures'])}")
    if "embedder" in response:
        embedder = response["embedder"]
        yield CheckResult("embedder", "well", f"{embedder['name']}, {embedder['dimensions']} dimensions")


def _earlier(failures: Mapping[str, int]) -> str:
    """What failed since the server was started, and not lately."""
    if not failures:
        return ""
    times = count(sum(failures.values()), "time")
    doing = ", ".join(sorted(failures))
    return f"; memory failed {times} since the start, while {doing}, and not in the last five minutes"


def projects(server: RunningServer) -> CheckResult | None:
    """Clients that tell no project: what is said of the work is then known in that one session only. None where all
    that were seen last tell theirs."""
    response = server.ask("GET", "api/sessions")["sessions"]
    alone = [each for each in response if each["project"] is None or each["project"].startswith(OWN_PROJECT)]
    if not alone:
        return None
    runtimes = ", ".join(sorted({each["runtime"] for each in alone if each["runtime"]})) or "an unknown client"
    found = f"{len(alone)} of the {count(len(response), 'session')} seen last told none ({runtimes})"
    mend = (
        "what is said of the work stays with each of these: have its client say the project in the URL "
        "(…/p/NAME/v1) or in the header x-palimpsest-project; see `palimpsest connect other`"
    )
    return CheckResult("projects", "doubtful", found, mend)


def passed(server: RunningServer) -> CheckResult | None:
    """Clients and paths that were passed on without memory since the server was started; None where there are none.
    That a path has no memory is as it should be; that a caller showed no key is not."""
    response = server.ask("GET", "api/status").get("passed", [])
    posts = [each for each in response if not each["path"].startswith(("GET ", "HEAD ", "OPTIONS "))]
    if not posts:
        return None
    strangers = [each for each in posts if not each["why"].startswith("this path")]
    shown = [f"{each['client']} {each['path']} ({count(each['count'], 'time')})" for each in (strangers or posts)[:6]]
    if not strangers:
        return CheckResult("passed on", "well", f"without memory, which their paths have none of: {'; '.join(shown)}")
    mend = f"{strangers[0]['why']}; palimpsest connect NAME --write puts the key into a client's address"
    return CheckResult("passed on", "doubtful", f"without memory: {'; '.join(shown)}", mend)


def asked(server: RunningServer) -> Iterator[CheckResult]:
    """What waits for a person's word."""
    for each in server.ask("GET", "api/status").get("asked", []):
        yield CheckResult("wait for you", "doubtful", each["text"], each["command"])


def round_trip(server: RunningServer) -> CheckResult:
    """Write, recall and forget, as somebody who does not exist."""
    nobody_scope = {"user": f"doctor {uuid.uuid4()}"}
    text = "The doctor keeps a brass sextant in the third drawer."
    step = "writing"
    try:
        fact = server.ask("POST", "api/remember", nobody_scope, {"text": text})
        step = "recalling"
        found = server.ask("GET", "api/search", {"text": "Where is the sextant kept?", **nobody_scope})["results"]
        held = fact["id"] in [each["id"] for each in found]
        step = "forgetting"
        server.ask("POST", "api/forget", nobody_scope, {"ids": [fact["id"]]})
        left = server.ask("GET", "api/search", {"text": "brass sextant", **nobody_scope})["results"]
    except CommandError as error:
        return CheckResult("round trip", "wrong", f"{step} failed: {error}", _mend(str(error)))
    if not held:
        return CheckResult("round trip", "wrong", "what was written was not recalled", "palimpsest reindex")
    if left:
        return CheckResult("round trip", "wrong", "what was forgotten is still found", "palimpsest reindex")
    return CheckResult("round trip", "well", "written, recalled and forgotten")


def _mend(why: str) -> str:
    """What to do about a sentence of the server's, where it does not say so itself."""
    if bounded := _BOUNDED.search(why):
        return f"if it goes on, raise {bounded[1]}"
    for part, mend in (
        (
            "was deleted or replaced",
            "palimpsest export --out FILE now; then restart, and import it, or put a backup back first",
        ),
        ("pip install '", "run that, and restart the server"),
        ("is full", "make room on the disk"),
        ("journal.db is damaged", "palimpsest restore, or palimpsest restore --salvage"),
        ("wait for the journal", "make room or mend what its log names, and do not stop it before: it alone has these"),
        ("index", "palimpsest reindex"),
        ("no SQLite database", "palimpsest restore, or palimpsest restore --salvage"),
        ("has been fetched", "palimpsest embedder use minilm"),
        ("models/minilm", "palimpsest embedder use minilm"),
        ("behind", "wait a little: the worker catches up"),
        ("(late)", "if it goes on, look what else keeps this machine or its disk busy"),
    ):
        if part in why:
            return mend
    return "see the server's log, and restart it"
