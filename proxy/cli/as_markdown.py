"""Records as a Markdown document that a person reads, with the records themselves behind it, and back.

What stands above is for the eye alone: what is imported again are the records, which stand one a line in one comment
at the end. Documents of earlier versions had each behind its line, in a comment of its own. A document that keeps no
record is a person's own, and is read as such.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from memory.hooks.command import project_of
from proxy.cli import output, wording

_BEGINS: Final = "<!-- palimpsest records"
_ENDS: Final = "-->"
_RECORD = re.compile(r"<!-- palimpsest: (\{.*\}) -->\s*$")

_HEADINGS = {
    "fact": "Facts",
    "passage": "What was said",
    "research": "What sub-agents found",
    "candidate": "What could become a rule, and what was decided",
    "page": "Your own page",
    "pin": "Pinned contents",
}

_SAID_BY = {
    "person": "your own word",
    "user": "you said so",
    "assistant": "the assistant said so",
    "behaviour": "seen from what was done",
    "file": "from a file",
    "tool": "from a tool's result",
    "web": "from the web",
    "sub-agent": "from a sub-agent",
}


def lines(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The lines of a document, without their ends."""
    owner = sort = ""
    whole = _KeptRecords()
    for record in records:
        whole.add(record)
        kind = record["sort"]
        if kind == "palimpsest":
            yield "# What Palimpsest remembers"
            continue
        if kind == "tombstones":
            if record["count"]:
                yield from ("", f"{wording.count(record['count'], 'memory')} forgotten for good.")
            continue
        if (record["owner"], kind) != (owner, sort):
            owner, sort = record["owner"], kind
            yield from ("", f"## {_HEADINGS.get(kind, kind)}: {project_of(owner) or 'everywhere'}", "")
        yield from _readable(record)
    yield from (
        "",
        f"{_BEGINS}: the same, whole, for `palimpsest import`, one a line.",
        "Whoever takes something out above takes its record out here too: it has the same id.",
        *whole.lines(),
        _ENDS,
    )


def records_in(text: Iterable[str]) -> Iterator[dict[str, Any] | ValueError | None]:
    """For each line of a document the record that it keeps, None where it keeps none, or what is wrong with it."""
    behind = False
    for line in text:
        behind = line.startswith(_BEGINS) or (behind and line.strip() != _ENDS)
        found = _RECORD.search(line)
        kept = line if behind and line.startswith("{") else found[1] if found else None
        try:
            record = None if kept is None else orjson.loads(kept)
            yield record if record is None or isinstance(record, dict) else ValueError("it is no object")
        except ValueError as error:
            yield error


class _KeptRecords:
    """Records until all are read, packed: there may be very many."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(1)
        self._pieces: list[bytes] = []

    def add(self, record: Mapping[str, Any]) -> None:
        # A comment ends at the first "-->": no ">" may stand in it.
        line = orjson.dumps(record).replace(b">", b"\\u003e") + b"\n"
        self._pieces.append(self._packer.compress(line))

    def lines(self) -> Iterator[str]:
        """All of them, once."""
        unpacker, begun = zlib.decompressobj(), b""
        for piece in (*self._pieces, self._packer.flush()):
            *done, begun = (begun + unpacker.decompress(piece)).split(b"\n")
            yield from (line.decode() for line in done)


def _readable(record: Mapping[str, Any]) -> Iterator[str]:
    """A record as a person reads it."""
    match record["sort"]:
        case "fact":
            yield f"- {_line(output.memory_text(dict(record)))} _({', '.join(_about_fact(record))})_"
        case "passage":
            said = f"{record['at'][:16].replace('T', ' ')} **{record['speaker']}**"
            yield f"- {said}: {_line(record['text'])} _({_short(record)})_"
        case "research":
            yield f"### {_line(record['description'] or record['question'])[:120]}"
            yield from ("", f"_{record['ended'][:10]}, {record['outcome']}, {_short(record)}_")
            yield from ("", "Asked:", *_quoted(record["question"]))
            for report in record["reports"]:
                yield from ("", "Found:", *_quoted(report))
            if record["sources"]:
                yield from ("", f"Read: {', '.join(_line(each['name']) for each in record['sources'])}")
            yield ""
        case "candidate":
            decided = [f"decided {record['decided_at'][:10]}"] if record.get("decided_at") else []
            about = (record["kind"], record["state"], *decided, _short(record))
            yield f"- {_line(record['title'])} _({', '.join(about)})_"
            if record["text"].strip() and record["text"].strip() != record["title"].strip():
                yield from (f"  {line}" for line in _quoted(record["text"]))
            if record.get("reason"):
                yield f"  Why it was decided so: {_line(record['reason'])}"
        case "page":
            yield from _quoted(record["text"])
        case "pin":
            yield f"- {record.get('handle', record['digest'])}"
        case _:
            yield f"- {_line(str(record.get('text', '')))}"


def _about_fact(record: Mapping[str, Any]) -> Iterator[str]:
    yield record["kind"]
    yield f"since {record['valid_from'][:10]}"
    if record.get("valid_until"):
        yield f"until {record['valid_until'][:10]}"
    if record.get("expires_at"):
        yield f"expires {record['expires_at'][:10]}"
    if record["state"] != "active":
        yield record["state"]
    if record["pinned"]:
        yield "pinned"
    if record.get("sensitivity", "normal") != "normal":
        yield record["sensitivity"]
    yield _SAID_BY.get(record["origin"], record["origin"])
    for field, words in (("supersedes", "in place of"), ("contradicts", "against"), ("derived_from", "drawn from")):
        if record.get(field):
            yield f"{words} {' and '.join(id[: output.SHORT] for id in record[field])}"
    yield _short(record)


def _short(record: Mapping[str, Any]) -> str:
    return str(record["id"])[: output.SHORT]


def _quoted(text: str) -> Iterator[str]:
    """A text with its lines, as a quotation."""
    for line in text.strip().splitlines():
        yield f"> {_no_comment(line)}".rstrip()


def _line(text: str) -> str:
    """One line, in which no comment begins."""
    return _no_comment(" ".join(text.split()))


def _no_comment(text: str) -> str:
    return text.replace("<!--", "&lt;!--")
