"""The table of docs/conformance.md: ``python -m tests.conformance.report Palimpsest=a.json LiteLLM=b.json,c.json``.

Each name has the results of ``palimpsest conformance --json``, in one file or several.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from proxy.conformance.case import ALL, CASES, Result
from proxy.conformance.run import FILES

Results = dict[tuple[str, str], str]
"""By case and format."""


def cell(id: str, results: Results) -> str:
    """What one proxy does in one case."""
    by = {format: results[id, format] for format in ALL if (id, format) in results}
    failed = [format for format, result in by.items() if result == Result.FAILED]
    skipped = [format for format, result in by.items() if result == Result.SKIPPED]
    if not by:
        return ""
    if failed:
        return "**no**" if len(failed) == len(by) else f"**no**: {', '.join(failed)}"
    return "yes" if not skipped else "–" if len(skipped) == len(by) else f"yes; – {', '.join(skipped)}"


def table(proxies: dict[str, Results]) -> str:
    """A case on each line, a proxy in each column."""
    assert FILES
    lines = [f"| case | what must be so | {' | '.join(proxies)} |", f"| --- | --- |{' --- |' * len(proxies)}"]
    for each in CASES.values():
        cells = " | ".join(cell(each.id, results) for results in proxies.values())
        lines.append(f"| `{each.id}` | {each.says} | {cells} |")
    counted = [
        " ".join(f"{sum(told == result for told in results.values())} {result.value}," for result in Result).rstrip(",")
        for results in proxies.values()
    ]
    return "\n".join([*lines, f"| | | {' | '.join(counted)} |"])


def main() -> None:
    """Print it."""
    proxies: dict[str, Results] = {}
    for told in sys.argv[1:]:
        name, _, files = told.partition("=")
        results = proxies.setdefault(name, {})
        for file in files.split(","):
            for each in json.loads(Path(file).read_text(encoding="utf-8"))["results"]:
                results[each["id"], each["format"]] = each["result"]
    print(table(proxies))


if __name__ == "__main__":
    main()
