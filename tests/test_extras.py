"""The default path needs no extra, and where one is missing a message names it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory.models.embedder_choice import choose_embedder
from memory.models.litellm_client import LitellmMissing, translating_litellm
from memory.stores.errors import StoreFault
from memory.stores.index_server import client_of

ROOT = Path(__file__).parent.parent

_WITHOUT_EXTRAS = """
import sys
for name in ("litellm", "mcp", "qdrant_client", "uvloop", "openai"):
    sys.modules[name] = None  # importing it fails as if it were not installed
from proxy.cli import main
sys.argv = ["palimpsest", "demo"]
main()
"""


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if these packages were not installed."""
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_the_demo_learns_and_recalls_without_any_extra(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_EXTRAS],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "<recalled-memory>" in done.stdout and "estimated" not in done.stderr


@pytest.mark.parametrize(("absent", "named"), [(["litellm"], "litellm"), (["litellm", "mcp"], "litellm and mcp")])
def test_a_bridge_names_its_extra(monkeypatch: pytest.MonkeyPatch, absent: list[str], named: str) -> None:
    without(monkeypatch, *absent)
    with pytest.raises(LitellmMissing, match=rf"needs {named}: .*palimpsest-proxy\[bridge\]"):
        translating_litellm()


def test_a_remote_embedder_names_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "litellm")
    with pytest.raises(FileNotFoundError, match=r"palimpsest-proxy\[bridge\]"):
        choose_embedder("litellm:openai/text-embedding-3-small", tmp_path)


def test_a_server_for_the_index_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "qdrant_client")
    with pytest.raises(StoreFault, match=r"qdrant-client: .*palimpsest-proxy\[server\]"):
        client_of("http://127.0.0.1:1", None)
