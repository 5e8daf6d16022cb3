"""Links of Markdown pages that lead to no file, or to no heading of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Broken:
    """A link that leads nowhere."""

    page: Path
    target: str
    why: str

    def __str__(self) -> str:
        return f"{self.page}: {self.target}: {self.why}"


def broken(root: Path, pages: Iterable[Path]) -> Iterator[Broken]:
    """The broken links of some pages below ``root``; addresses on the web are not followed."""
    for page in pages:
        prose = _CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
        for target in _LINK.findall(prose):
            if not _ELSEWHERE.match(target) and (why := _fault(page, target)):
                yield Broken(page.relative_to(root), target, why)


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings have, as GitHub and MkDocs write them."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        plain = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
        anchor = plain.strip().replace(" ", "-")
        same = sum(1 for each in found if re.fullmatch(re.escape(anchor) + r"(-\d+)?", each))
        found.add(f"{anchor}-{same}" if same else anchor)
    return found


def _fault(page: Path, target: str) -> str:
    path, _, anchor = unquote(target).partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return "there is no such file"
    if anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
        return "the page has no such heading"
    return ""
