"""Write the reference pages; with ``--check`` only report what is out of date and which links are broken."""

from __future__ import annotations

import sys

from docs.generate import PAGES, ROOT, WRITTEN, outdated
from docs.generate.links import broken


def main(arguments: list[str]) -> int:
    """The exit code: 1 where a check found something."""
    if arguments == ["--check"]:
        faults = [f"{path.relative_to(ROOT)} is out of date: run python -m docs.generate" for path in outdated()]
        faults += [str(link) for link in broken(ROOT, WRITTEN)]
        print("\n".join(faults) or "The documentation is up to date, and its links resolve.")
        return 1 if faults else 0
    for path, make in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
