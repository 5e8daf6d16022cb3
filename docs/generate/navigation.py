"""The site's navigation, read from the lists of ``index.md``: a new page is one line there. A hook of MkDocs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINE = re.compile(r"^(?:## (?P<section>.+)|- \[(?P<title>[^\]]+)\]\((?P<page>[^)]+\.md)\))", re.MULTILINE)


def navigation(docs: Path) -> list[Any]:
    """Sections of pages, as MkDocs's ``nav`` has them; a page that is an index of its folder becomes a section."""
    nav: list[Any] = [{"Overview": "index.md"}]
    pages: list[Any] = nav
    for line in _LINE.finditer((docs / "index.md").read_text(encoding="utf-8")):
        if line["section"]:
            pages = []
            nav.append({line["section"]: pages})
        else:
            pages.append({line["title"]: _below(docs, line["page"])})
    return nav


def on_config(config: Any) -> None:
    """Called by MkDocs before it builds."""
    config.nav = navigation(Path(config.docs_dir))


def _below(docs: Path, page: str) -> Any:
    folder = page.removesuffix("index.md")
    if folder == page:
        return page
    listed = _LINE.finditer((docs / page).read_text(encoding="utf-8"))
    return [{"Overview": page}, *({line["title"]: folder + line["page"]} for line in listed if line["page"])]
