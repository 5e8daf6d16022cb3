"""The report of docs/conformance.md: ``python -m tests.conformance.report [--large-mib N] [--only NAME] [--anew]``.

Starts Palimpsest, a bare relay and LiteLLM's proxy one after the other, runs every case against each, and prints the
table, the versions and how they are configured. LiteLLM is installed into a folder of its own below ``.bench/``, and
what came of each, with why a case failed, is kept in ``.bench/conformance``: what is there is not run again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from memory.version import release
from proxy.conformance.case import ALL, CASES, Result
from proxy.conformance.run import CaseRun, RunRequest, run
from tests.bench.processes import Process, free_port
from tests.bench.targets import LITELLM, WORK, litellm_installed, palimpsest, version_of

KEPT = WORK / "conformance"

LITELLM_CONFIG = """\
model_list:
  - model_name: conformance
    litellm_params: {model: openai/conformance, api_base: "http://127.0.0.1:PORT/v1", api_key: none}
  - model_name: conformance-messages
    litellm_params: {model: anthropic/conformance, api_base: "http://127.0.0.1:PORT", api_key: none}
  - model_name: conformance-gemini
    litellm_params: {model: gemini/conformance, api_base: "http://127.0.0.1:PORT/v1beta", api_key: none}
"""
"""Ollama's format is none that it serves."""

LITELLM_SETTINGS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    # Every caller's key is taken, as the clients of the cases send each its own format's.
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}

LITELLM_MODELS = {
    "chat": "conformance",
    "responses": "conformance",
    "messages": "conformance-messages",
    "gemini": "conformance-gemini",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A proxy that runs: what it is, where it listens, and which model is asked for in each format that it serves."""

    about: str
    process: Process
    port: int
    models: dict[str, str]
    memory_headers: dict[str, str]


def our_own(folder: Path, upstream: int) -> Subject:
    """Palimpsest, as ``palimpsest serve`` starts it."""
    target = palimpsest("palimpsest", folder, folder / "home", upstream)
    assert target.process is not None
    about = f"Palimpsest {release()}: `palimpsest serve --upstream http://127.0.0.1:PORT`"
    return Subject(about, target.process, target.port, dict.fromkeys(ALL, "conformance"), target.headers)


def relay(folder: Path, upstream: int) -> Subject:
    """The fewest lines that carry bytes there and back."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.bare_relay", str(port), f"http://127.0.0.1:{upstream}"]
    process = Process(command, folder / "relay.log")
    process.wait_ready(f"http://127.0.0.1:{port}/")
    about = f"bare relay: `tests/bench/bare_relay.py` on aiohttp {version('aiohttp')}"
    return Subject(about, process, port, dict.fromkeys(ALL, "conformance"), {})


def litellm(folder: Path, upstream: int) -> Subject:
    """LiteLLM's proxy, as its documentation starts it, without a database."""
    environment = litellm_installed()
    config = folder / "litellm.yaml"
    config.write_text(LITELLM_CONFIG.replace("PORT", str(upstream)), encoding="utf-8")
    port = free_port()
    command = [str(environment / "bin" / "litellm"), "--config", str(config), "--host", "127.0.0.1"]
    process = Process([*command, "--port", str(port)], folder / "litellm.log", LITELLM_SETTINGS)
    process.wait_ready(f"http://127.0.0.1:{port}/health/liveliness")
    about = f"LiteLLM {version_of(environment, 'litellm')}: `litellm --config litellm.yaml` without a master key"
    return Subject(about, process, port, LITELLM_MODELS, {})


SUBJECTS: dict[str, Callable[[Path, int], Subject]] = {
    "Palimpsest": our_own,
    "bare relay": relay,
    f"LiteLLM {LITELLM}": litellm,
}


async def tried(subject: Subject, upstream: int, large: int) -> list[CaseRun]:
    """Every case in every format that a proxy serves."""
    ran = []
    for model in dict.fromkeys(subject.models.values()):
        formats = tuple(format for format, its in subject.models.items() if its == model)
        base = f"http://127.0.0.1:{subject.port}"
        asked = RunRequest(base, upstream, model, None, formats, (), large, subject.memory_headers)
        async for each in run(asked):
            print(f"  {each.result.value:8}{each.case.id:22}{each.format:10}{each.said[:90]}", file=sys.stderr)
            ran.append(each)
    return ran


def cell(ran: Sequence[CaseRun]) -> str:
    """What one proxy does in one case: in which formats it fails, what is remarked where it does not."""
    failed = [each.format for each in ran if each.result is Result.FAILED]
    skipped = [each.format for each in ran if each.result is Result.SKIPPED]
    remarks = dict.fromkeys(each.said for each in ran if each.result is Result.PASSED and each.said)
    remark = f" ({'; '.join(remarks)})" if remarks else ""
    if not ran:
        return ""
    if failed:
        return "**no**" if len(failed) == len(ran) else f"**no**: {', '.join(failed)}{remark}"
    if skipped:
        return "–" if len(skipped) == len(ran) else f"yes; – {', '.join(skipped)}{remark}"
    return f"yes{remark}"


def table(proxies: dict[str, list[CaseRun]]) -> str:
    """A case on each line, a proxy in each column."""
    lines = [f"| case | what must be so | {' | '.join(proxies)} |", f"| --- | --- |{' --- |' * len(proxies)}"]
    for each in CASES.values():
        cells = " | ".join(cell([one for one in ran if one.case.id == each.id]) for ran in proxies.values())
        lines.append(f"| `{each.id}` | {each.says} | {cells} |")
    counted = [
        ", ".join(f"{sum(each.result is result for each in ran)} {result.value}" for result in Result)
        for ran in proxies.values()
    ]
    return "\n".join([*lines, f"| | | {' | '.join(counted)} |"])


@dataclass(frozen=True, slots=True)
class Column:
    """What came of one proxy: what it is, when it was tried, and every case."""

    about: str
    ran: list[CaseRun]

    def as_json(self) -> str:
        """As it is kept."""
        ran = [(each.case.id, each.format, each.result, each.said) for each in self.ran]
        return json.dumps({"about": self.about, "ran": ran}, indent=1)

    @classmethod
    def of(cls, text: str) -> Column:
        """What was kept."""
        kept = json.loads(text)
        ran = [CaseRun(CASES[id], format, Result(result), said) for id, format, result, said in kept["ran"]]
        return cls(kept["about"], ran)


def column(name: str, large_mib: int) -> Column:
    """Try one proxy."""
    upstream = free_port()
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        subject = SUBJECTS[name](Path(folder), upstream)
        try:
            ran = asyncio.run(tried(subject, upstream, large_mib * 2**20))
        finally:
            subject.process.stop()
    made = f"{datetime.now(UTC):%Y-%m-%d}, bodies of {large_mib} MiB, Python {platform.python_version()}"
    return Column(f"{subject.about} ({made})", ran)


def main() -> None:
    """Run it and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.report")
    parser.add_argument("--large-mib", type=int, default=64, help="MiB of the largest body")
    parser.add_argument("--only", action="append", choices=list(SUBJECTS), help="one of the three; all")
    parser.add_argument("--anew", action="store_true", help="run again what was run before")
    asked = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    columns: dict[str, Column] = {}
    for name in asked.only or SUBJECTS:
        kept = KEPT / f"{name.replace(' ', '-')}.json"
        if asked.anew or not kept.exists():
            print(name, file=sys.stderr)
            kept.write_text(column(name, asked.large_mib).as_json(), encoding="utf-8")
        columns[name] = Column.of(kept.read_text(encoding="utf-8"))
    print("\n".join(f"- {each.about}" for each in columns.values()))
    print(f"\n{table({name: each.ran for name, each in columns.items()})}")
    print(f"\nlitellm.yaml, with {' '.join(f'{key}={value}' for key, value in LITELLM_SETTINGS.items())}:\n")
    print(f"```yaml\n{LITELLM_CONFIG}```")


if __name__ == "__main__":
    main()
