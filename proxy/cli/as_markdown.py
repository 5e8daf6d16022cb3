"""Records as Markdown: a line for each that people read, with the record itself in a comment, and back.

What stands before the comment is for the eye alone: what is imported again is the record. A line without one is a
person's own, and is read as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from memory.hooks.command import project_of
from proxy.cli import output, wording

_RECORD = re.compile(r"<!-- palimpsest: (\{.*\}) -->\s*$")


def lines(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The lines of a document, without their ends."""
    owner = sort = ""
    for record in records:
        kind = record["sort"]
        if kind == "palimpsest":
            yield f"# What Palimpsest remembers {_comment(record)}"
            continue
        if kind == "tombstones":
            yield ""
            yield f"{wording.count(record['count'], 'memory')} forgotten for good. {_comment(record)}"
            continue
        if (record["owner"], kind) != (owner, sort):
            owner, sort = record["owner"], kind
            yield from ("", f"## {_HEADINGS.get(kind, kind)}: {project_of(owner) or 'everywhere'}", "")
        yield f"- {_readable_line(record)} {_comment(record)}"


def record_in(line: str) -> dict[str, Any] | None:
    """The record that a line keeps, or None where it keeps none.

    Raises:
        ValueError: when there is one and it is broken.
    """
    found = _RECORD.search(line)
    if found is None:
        return None
    record = orjson.loads(found[1])
    if not isinstance(record, dict):
        raise ValueError("it is no object")
    return record


_HEADINGS = {
    "fact": "Facts",
    "passage": "What was said",
    "research": "What sub-agents found",
    "candidate": "What could become a rule, and what was decided",
    "page": "Your own page",
    "pin": "Pinned contents",
}


def _comment(record: dict[str, Any]) -> str:
    # A comment ends at the first "-->": no ">" may stand in it.
    return f"<!-- palimpsest: {orjson.dumps(record).decode().replace('>', chr(92) + 'u003e')} -->"


def _readable_line(record: dict[str, Any]) -> str:
    match record["sort"]:
        case "fact":
            about = [record["kind"], f"since {record['valid_from'][:10]}"]
            about += [f"until {record['valid_until'][:10]}"] if record.get("valid_until") else []
            about += [record["state"]] if record["state"] != "active" else []
            about += ["pinned"] if record["pinned"] else []
            return f"{_line(output.memory_text(record))} _({', '.join(about)})_"
        case "passage":
            return f"{record['at'][:16].replace('T', ' ')} **{record['speaker']}**: {_line(record['text'])}"
        case "research":
            title = record["description"] or record["question"]
            return f"{record['ended'][:10]} **{_line(title)[:120]}**: {_line(record['line'])}"
        case "candidate":
            return f"{_line(record['title'])} _({record['kind']}, {record['state']})_"
        case "pin":
            return str(record.get("handle", record["digest"]))
    return _line(str(record.get("text", "")))


def _line(text: str) -> str:
    """One line, in which no comment begins."""
    return " ".join(text.split()).replace("<!--", "&lt;!--")
