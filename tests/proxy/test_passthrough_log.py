"""What was passed on without memory is told by program and path, and by no name that anybody chose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.cli import checks
from proxy.passthrough_log import MOST, PassthroughKind, PassthroughLog, program, shape
from tests.fake_provider import fake_provider
from tests.running import running


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/v1/embeddings?key=AIzaSecret", "/v1/embeddings"),
        ("/v1beta/models/my-model-7b:countTokens", "/v1beta/models/*:countTokens"),
        ("/v1/responses/resp_123abc/input_items", "/v1/responses/*/input_items"),
        ("/openai/deployments/secretname/embeddings", "/openai/deployments/*/embeddings"),
        ("/", "/"),
    ],
)
def test_a_path_is_told_without_names(path: str, told: str) -> None:
    assert shape(path) == told


def test_a_program_is_told_without_its_version() -> None:
    assert program("claude-cli/2.1.329 (external, cli)") == "claude-cli"
    assert program("OpenAI/JS 5.20.1") == "OpenAI/JS"
    assert program("") == program("\x00") == "unknown"


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=80))
def test_whatever_comes_is_counted_and_no_more_is_kept_than_a_few(asked: list[tuple[str, str, str]]) -> None:
    passed = PassthroughLog()
    for agent, path, why in asked:
        passed.add(agent, "POST", path, why)
    assert sum(count for _, count in passed.counted) == len(asked)
    assert len(passed.counted) <= MOST + 1


async def test_the_status_tells_who_was_passed_on(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        _, _, headers = await proxy.post("/v1/embeddings", {"model": "m", "input": "x"}, user_agent="indexer/1.0")
        why = "this path has no memory"
        assert headers["x-palimpsest-status"] == f"passed; {why}"
        assert (PassthroughKind("indexer", "POST /v1/embeddings", why), 1) in proxy.edge.passed.counted


class _Server:
    def __init__(self, *told: dict[str, object]) -> None:
        self._told = [*told]

    def ask(self, *request: object) -> dict[str, object]:
        return {"passed": self._told}


@pytest.mark.parametrize(
    ("why", "verdict"), [("this path has no memory", "well"), ("not a process of ours", "doubtful")]
)
def test_the_doctor_lists_them(why: str, verdict: str) -> None:
    listed = {"client": "indexer", "path": "GET /v1/models", "why": "this path has no memory", "count": 9}
    assert checks.passed(_Server(listed)) is None  # type: ignore[arg-type]
    other = {"client": "indexer", "path": "POST /v1/embeddings", "why": why, "count": 2}
    found = checks.passed(_Server(listed, other))  # type: ignore[arg-type]
    assert found is not None and found.verdict == verdict
    assert "indexer POST /v1/embeddings (2 times)" in found.found and "/v1/models" not in found.found
