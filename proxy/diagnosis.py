"""What the doctor looks at that needs no shell and no running server, one function for each thing: settings, packages,
the data folder, tables, and what requests need on their way. Each answers with a finding and how to mend it.

Whether anything takes connections at an address.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from memory.hooks.command import count
from memory.language.static_embedding import DATA
from memory.models.litellm_client import missing
from memory.stores.backups.restoring import replaced_in
from memory.stores.lost_journal import SET_ASIDE, files_aside
from memory.stores.spill import BROKEN
from memory.version import DISTRIBUTION
from proxy.settings import Loaded, UpstreamSettings


def takes_connections(host: str, port: int, seconds: float) -> bool:
    """Whether a connection can be made there within some seconds; nothing is sent."""
    try:
        with socket.create_connection((host, port), timeout=seconds):
            return True
    except OSError:
        return False


_REINSTALL = f"pip install --force-reinstall --no-deps {DISTRIBUTION}"

CONNECTS = 2.0
"""Seconds that a provider may take to take a connection."""

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


def upstreams(upstream: UpstreamSettings, chatgpt: bool = False) -> Iterator[CheckResult]:
    """Whether a connection to each provider can be made; nothing is sent. Where logins of ``chatgpt`` go is tried
    only where there is one."""
    urls = [upstream.url] if upstream.url else [upstream.openai, upstream.anthropic]
    if chatgpt and not upstream.url:
        urls.append(upstream.chatgpt)
    for url in dict.fromkeys([*urls, *(route.url for route in upstream.routes if route.url)]):
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.hostname and takes_connections(parts.hostname, port, CONNECTS):
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


def found_here(settled: Loaded, upstream: UpstreamSettings, chatgpt: bool = False) -> Iterator[CheckResult]:
    """Every finding of the things above, as it is made. ``upstream`` is where requests go, and ``chatgpt`` says that
    some of them come with a login of it."""
    folder = settled.settings.home
    yield settings(settled)
    yield packages()
    yield home(folder, settled.settings.memory.journal.min_free_mib)
    yield from filter(None, (aside(folder), replaced(folder)))
    yield vocabularies()
    yield windows()
    yield from language_model(settled.settings.memory.model.name)
    yield from upstreams(upstream, chatgpt)
    yield from bridges(upstream)
    yield from filter(None, [begun_anew(folder)])
