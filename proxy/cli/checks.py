"""What the doctor looks at: one function for each thing, which answers with a finding and how to mend it."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from memory.language.static_embedding import DATA
from memory.models.litellm_client import missing
from memory.scope import OWN_PROJECT
from memory.stores.backups.restoring import replaced_in
from memory.stores.lost_journal import SET_ASIDE, files_aside, left_behind
from memory.stores.spill import BROKEN
from memory.version import DISTRIBUTION
from proxy.cli.faults import CommandError
from proxy.cli.server import QUICK, RunningServer, answers
from proxy.cli.wording import count
from proxy.settings import Loaded, UpstreamSettings

_REINSTALL = f"pip install --force-reinstall --no-deps {DISTRIBUTION}"

Verdict = Literal["well", "doubtful", "wrong"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was found; ``mend`` says what to do where it is not well."""

    what: str
    verdict: Verdict
    found: str
    mend: str = ""


def settings(loaded: Loaded) -> CheckResult:
    """That they could be read at all was seen before; here is where they come from."""
    sources = sorted({source for source in loaded.sources.values() if not source.startswith("option ")})
    return CheckResult(
        "settings", "well", f"read, {len(loaded.sources)} changed" + (f" by {', '.join(sources)}" if sources else "")
    )


def packages() -> CheckResult:
    """``proxy`` and ``memory`` are common names: another distribution may have brought its own."""
    others = sorted({each.name for each in distributions() if _has_ours(each)} - {DISTRIBUTION})
    if not others:
        return CheckResult("packages", "well", "no other `proxy` or `memory` is installed here")
    return CheckResult(
        "packages",
        "doubtful",
        f"{', '.join(others)} also brings a package called `proxy` or `memory`",
        f"install {DISTRIBUTION} into an environment of its own: pipx install {DISTRIBUTION}",
    )


def _has_ours(distribution: Distribution) -> bool:
    """Whether a distribution brings a package called like one of ours. The library's own answer makes a path of each
    file of each distribution, which takes most of a second."""
    declared = (distribution.read_text("top_level.txt") or "").split()
    files = "\n" + (distribution.read_text("RECORD") or "")
    return any(name in declared or f"\n{name}/" in files or f"\n{name}.py," in files for name in ("proxy", "memory"))


def home(folder: Path, min_free_mib: int) -> CheckResult:
    """The data folder is ours, closed to others, and has room."""
    if not folder.exists():
        parent = next(each for each in folder.parents if each.exists())
        if not os.access(parent, os.W_OK | os.X_OK):
            return CheckResult("data folder", "wrong", f"{folder} cannot be made", "choose another with --home")
        return CheckResult("data folder", "well", f"{folder} will be made at the first start")
    if not folder.is_dir():
        return CheckResult(
            "data folder", "wrong", f"{folder} is no folder", "move it away, or choose another with --home"
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return CheckResult("data folder", "wrong", f"{folder} may not be written", f"chown {os.getuid()} {folder}")
    open_ones = [
        file
        for file in (folder, folder / "token", folder / "identity.key", folder / "key", folder / "journal.db")
        if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077
    ]
    # A closed folder closes what lies in it.
    if folder in open_ones:
        homes = ", ".join(map(str, open_ones))
        return CheckResult("data folder", "wrong", f"others may read {homes}", f"chmod -R go-rwx {folder}")
    free = shutil.disk_usage(folder).free // 2**20
    if free < min_free_mib:
        mend = "make room, or lower memory.journal.min_free_mib"
        return CheckResult("data folder", "wrong", f"{free} MiB are free, {min_free_mib} are kept free", mend)
    return CheckResult("data folder", "well", f"{folder}, closed to others, {free} MiB free")


def aside(folder: Path) -> CheckResult | None:
    """Exchanges that were set aside for the journal and cannot be read. None where there are none."""
    broken = sorted((folder / "aside").glob(f"*{BROKEN}"))
    if not broken:
        return None
    mend = (
        "the log says why; what they hold is in no memory: delete them, as the next `forget` does where the data "
        "folder is one person's"
    )
    message = f"{count(len(broken), 'exchange')} cannot be read: {', '.join(map(str, broken[:3]))}"
    return CheckResult("set aside", "doubtful", message + (" …" if len(broken) > 3 else ""), mend)


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


def begun_anew(folder: Path) -> CheckResult | None:
    """A journal that was begun anew since the one before it was gone. None where what it left has been dealt with."""
    folders = sorted(folder.glob(f"{SET_ASIDE}*/"))
    if not folders:
        return None
    days = ", ".join(each.name.removeprefix(SET_ASIDE) for each in folders)
    places = ", ".join(map(str, folders))
    pages = files_aside(folder)
    again = "; or take in what stood on the pages (`palimpsest import FILE --project NAME`)" if pages else ""
    mend = f"stop the server and put a backup back (palimpsest restore){again}. Then delete {places}"
    found = f"it was gone and is begun anew ({days})" + (f"; what was made from it lies in {places}" if pages else "")
    return CheckResult("journal", "doubtful", found, mend)


def replaced(folder: Path) -> CheckResult | None:
    """What a restored backup took the place of; None where it was deleted."""
    folders = replaced_in(folder)
    if not folders:
        return None
    places = ", ".join(map(str, folders))
    mend = "what was forgotten since may still stand there: delete it once you miss nothing"
    return CheckResult("restored", "doubtful", f"what was there before a backup was put back lies in {places}", mend)


def vocabularies(folder: Path = DATA) -> CheckResult:
    """Tokens are counted, with the vocabulary in the package."""
    from memory.models.tokens import O200K, TokenCounter

    tokens = TokenCounter(folder=folder)
    counted = tokens.count("a palimpsest is a page written over many times")
    if not tokens.exact:
        mend = f"{_REINSTALL}; until then tokens are estimated"
        return CheckResult("token vocabularies", "doubtful", f"{folder / O200K.file} cannot be read", mend)
    return CheckResult(
        "token vocabularies", "well", f"{O200K.name} counts ({counted} tokens in a sentence of nine words)"
    )


def windows(file: Path = DATA / "windows.json") -> CheckResult:
    """The table of models' windows is there."""
    from memory.models.windows import read_table

    try:
        models = len(read_table(file.read_bytes()))
    except (OSError, ValueError):
        models = 0
    if not models:
        mend = f"{_REINSTALL}; until then memory.default_window is taken"
        return CheckResult("models' windows", "doubtful", f"{file} cannot be read", mend)
    return CheckResult("models' windows", "well", f"{models} models are known")


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


def upstreams(upstream: UpstreamSettings) -> Iterator[CheckResult]:
    """Whether a connection to each provider can be made; nothing is sent."""
    urls = [upstream.url] if upstream.url else [upstream.openai, upstream.anthropic]
    for url in dict.fromkeys([*urls, *(route.url for route in upstream.routes if route.url)]):
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.hostname and answers(parts.hostname, port):
            yield CheckResult("provider", "well", f"{url} takes connections")
        else:
            mend = "check the network and the address (upstream.*, PALIMPSEST_UPSTREAM)"
            yield CheckResult("provider", "wrong", f"{url} takes no connection", mend)


def bridges(upstream: UpstreamSettings) -> Iterator[CheckResult]:
    """Whether what translates between formats is installed, where a route needs it."""
    wanted = [route.bridge for route in upstream.routes if route.bridge]
    if not wanted:
        return
    if absent := missing():
        message = f"{', '.join(wanted)} cannot be reached without {' and '.join(absent)}"
        yield CheckResult("bridge", "wrong", message, f"pip install '{DISTRIBUTION}[bridge]'")
    for name in (route.key_from for route in upstream.routes if route.key_from):
        if not os.environ.get(name):
            yield CheckResult("bridge", "doubtful", f"{name} is not set here", f"export {name} where the server runs")


def language_model(name: str | None) -> Iterator[CheckResult]:
    """Whether what asks a model for background work is installed, where one is named."""
    if name and "litellm" in missing():
        message = f"{name} cannot be asked without litellm; rules do its work"
        yield CheckResult("background model", "wrong", message, f"pip install '{DISTRIBUTION}[bridge]'")


def stores(server: RunningServer, runs: bool) -> Iterator[CheckResult]:
    """What the server, or the stores opened here, say of themselves."""
    response = server.ask("GET", "api/status")
    whose = f"the server at {server.url}" if runs else "opened here, as no server runs"
    if response["status"] == "ok" and response["memory"] == "off":
        yield CheckResult("stores", "doubtful", "memory is switched off", "set memory.mode to on")
        return
    if response["why"]:
        for why in response["why"]:
            yield CheckResult("stores", "wrong", why, _mend(why))
    elif response["memory"] == "paused":
        yield CheckResult("stores", "doubtful", f"{whose}: memory is paused", "palimpsest resume")
    else:
        stored = response["stored"]
        yield CheckResult(
            "stores", "well", f"{whose}: {count(stored['facts'], 'fact')}, {count(stored['passages'], 'passage')}"
        )
    if "embedder" in response:
        embedder = response["embedder"]
        yield CheckResult("embedder", "well", f"{embedder['name']}, {embedder['dimensions']} dimensions")


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
        ("late", "if it goes on, raise memory.recall.deadline_ms"),
    ):
        if part in why:
            return mend
    return "see the server's log, and restart it"
