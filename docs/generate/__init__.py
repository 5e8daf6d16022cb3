"""The reference pages, made from the code: ``python -m docs.generate`` writes them.

``settings`` reads the models and ``config/default.yaml``, ``commands`` the command line, ``endpoints`` the routes;
``links`` finds links between pages that lead nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.generate import commands, endpoints, settings

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"

WRITTEN = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
"""Every page there is, the generated ones too."""

PAGES: dict[Path, Callable[[], str]] = {
    DOCS / "reference" / "settings.md": settings.page,
    DOCS / "reference" / "cli.md": commands.page,
    DOCS / "reference" / "http-api.md": endpoints.page,
}
"""Each generated page and what makes its text."""


def outdated() -> list[Path]:
    """The pages that are not what the code would make of them."""
    return [path for path, make in PAGES.items() if not path.exists() or path.read_text(encoding="utf-8") != make()]
