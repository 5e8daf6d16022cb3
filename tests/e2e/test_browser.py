"""Where what web pages can do was not tried, that does not count as held."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.e2e import browser, pages


@pytest.mark.parametrize("attempts", [browser, pages])
def test_without_a_browser_it_fails_aloud(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], attempts: ModuleType
) -> None:
    monkeypatch.setattr(attempts, "program", lambda: None)
    monkeypatch.setattr("sys.argv", ["attempts"])
    assert attempts.main() == 2
    assert "NOT RUN" in capsys.readouterr().err
