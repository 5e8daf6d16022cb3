"""Injected instructions that an assistant repeats word for word: what of them a later talk could come upon.

``python -m tests.bench.repeated FILE [FOLDER]``: FILE holds a line of JSON with a ``text`` for each of them (gzipped,
of 21 to 1,499 characters). Each stands in a page between two harmless paragraphs, and the page is the reply of a
sub-agent, of a talk that sent one, of a talk that read the page itself, and of a talk that read nothing. It comes back
where the passages that are learnt hold seven tenths of the words with which it begins. With a FOLDER of recorded
sessions: how much of what their sub-agents reported, and of what was said after reading something, can still be found.
No proxy is needed, and nothing is kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from memory.conversation import Message, Role, Text, ToolCall, ToolResult
from memory.language.sentences import sentences
from memory.language.words import stems
from memory.learning.hearsay import without_orders
from memory.learning.lesson import learn
from memory.ports import Journaled
from memory.scope import Scope
from memory.session import RequestKind, Session
from tests.bench.research import calls_in
from tests.bench.transcripts import text_of, transcripts

AT = datetime(2026, 1, 1, tzinfo=UTC)
BEGINNING, SHARE = 300, 0.7
HARMLESS = "Revenue grew by four percent."
PAGE = f"Quarterly report overview. {HARMLESS}\n\n%s\n\nThe next section covers staffing."
WAYS = {
    "a sub-agent's report": (RequestKind.SUBAGENT, "fetch_page"),
    "the talk that sent it": (RequestKind.MAIN, "Task"),
    "a talk that read it": (RequestKind.MAIN, "fetch_page"),
    "a talk that read nothing": (RequestKind.MAIN, ""),
}


def learnt(reply: str, kind: str, tool: str) -> str:
    """What is kept to be found of a reply, in the turn in which a tool gave back the same."""
    asked = Message(Role.USER, (Text("Summarise it."),), b"asked", spoken="Summarise it.")
    read = (
        Message(Role.ASSISTANT, (ToolCall("c", tool, "{}"),), b"call"),
        Message(Role.TOOL, (ToolResult("c", (Text(reply),)),), b"back"),
    )
    messages = (asked, *read) if tool else (asked,)
    said = Message(Role.ASSISTANT, (Text(reply),), b"said")
    session = Session("s", "k", Scope(user="u", project="p"), "generic", AT, AT)
    exchange = Journaled(1, "e", session, kind, AT, messages, tuple(range(len(messages))), said)
    lesson = learn(exchange)
    return "\n".join([*(each.text for each in lesson.pieces), *(each.draft.text for each in lesson.facts)])


def comes_back(text: str, kept: str) -> bool:
    """Whether a text's beginning stands in what is kept, as far as words tell."""
    wanted = set(stems(text[:BEGINNING]))
    return bool(wanted) and len(wanted & set(stems(kept))) >= SHARE * len(wanted)


def said_in(folder: Path) -> Iterator[str]:
    """What agents said to a person after they had read something."""
    for transcript in transcripts(folder, 0, 0):
        read = False
        for body in transcript.messages:
            if body["role"] == "assistant" and read and not body.get("tool_calls"):
                yield text_of(body)
            read = body["role"] == "tool" or (read and body["role"] != "user")


def stays(texts: Iterable[str]) -> str:
    """The share of sentences that are kept, of texts of some length."""
    every = [text for text in texts if len(text) > 400]
    before = sum(len(sentences(text)) for text in every)
    after = sum(len(sentences(without_orders(text))) for text in every)
    return f"{after / max(before, 1):.3f} of {before} sentences in {len(every)}"


def main() -> None:
    """Print what came back, way by way, and what stays of recorded reports."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.repeated", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    options = parser.parse_args()
    with gzip.open(options.file, "rt", encoding="utf-8") as lines:
        texts = [text for line in lines if 20 < len(text := json.loads(line)["text"]) < 1500]
    for name, (kind, tool) in WAYS.items():
        kept = [learnt(PAGE % text, kind, tool) for text in texts]
        back = sum(comes_back(text, each) for text, each in zip(texts, kept, strict=True))
        harmless = sum(HARMLESS in each for each in kept)
        print(f"{name}: {back} of {len(texts)} come back, the harmless sentence beside them {harmless} times")
    if options.folder:
        print(f"of reports stay {stays(call.report for call in calls_in(options.folder, 0))}")
        print(f"of replies after reading stay {stays(said_in(options.folder))}")


if __name__ == "__main__":
    main()
