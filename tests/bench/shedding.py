"""How well sheds keep what is needed next, on recorded sessions and without a proxy.

    python -m tests.bench.shedding FOLDER [--window 60000] [--limit 40] [--min-tokens 0] [--half 0|1] [--cold] [--json]

Every turn of a session is one request: the planner that the server calls decides what leaves, its edits are made in
every later request, and the request is judged by what the recorded next step used. What came in with the newest
exchange is not journaled yet, so that nothing of it can be shed. Tokens are bytes of JSON / 4, for the planner too.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.context.budget import budget, remaining
from memory.context.paging import ShedContents
from memory.context.retention_value import SheddablePart
from memory.context.shed import plan
from memory.context.shed_plan import ShedPlan
from memory.conversation import Conversation, Form, Image, Part, Text, ToolCall, ToolResult, kind_of
from memory.edits import Act, ActiveEdits, ContentTier, Entry, Ledger, handle
from memory.services.window.paging import AT_A_RESULT, found_in, gone_from, take_in
from memory.services.window.sheddable_parts import LEAST, LEAVES
from memory.settings import SheddingSettings
from proxy.wire.openai_chat import OpenAIChat
from tests.bench.tiering import Overviews
from tests.bench.transcripts import (
    DISTANT,
    Body,
    Rendered,
    Seen,
    Tally,
    Transcript,
    broken,
    common,
    names_in,
    schemas_of,
    transcripts,
)

Planner = Callable[..., ShedPlan]
Paging = Callable[["Play", int, ActiveEdits], str]
"""What is added at the newest message: the session, how many of its messages the request has, and what holds."""


@dataclass
class Rules:
    """How a run is played."""

    window: int = 60_000
    reserve: int = 4_000
    shares: SheddingSettings = field(default_factory=SheddingSettings)
    planner: Planner = plan
    paging: Paging | None = None
    warm: bool = True
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Recorded:
    """A transcript with all that does not depend on the rules, so that it is made once."""

    transcript: Transcript
    conversation: Conversation
    schemas: list[Any]
    plain: list[Rendered]
    names: list[frozenset[str]]
    overviews: Overviews

    @classmethod
    def of(cls, transcript: Transcript) -> Recorded:
        """Read a transcript."""
        body = json.dumps({"model": "m", "messages": transcript.messages}).encode()
        conversation = OpenAIChat().read(body, _spoken).conversation
        return cls(
            transcript,
            conversation,
            schemas_of(transcript.messages),
            [Rendered.of(each) for each in transcript.messages],
            [names_in(each) for each in transcript.messages],
            Overviews(conversation),
        )

    def requests(self) -> Iterable[int]:
        """For each turn how many messages its request has."""
        bodies = self.transcript.messages
        for index in range(1, len(bodies)):
            if bodies[index]["role"] == "assistant" and bodies[index - 1]["role"] in ("user", "tool"):
                yield index


def _spoken(text: str) -> str:
    return text


class Play:
    """One session as it goes on."""

    def __init__(self, recorded: Recorded, rules: Rules) -> None:
        self.recorded, self.rules = recorded, rules
        self.ledger = Ledger()
        self.tally = Tally()
        self.keys = recorded.conversation.keys()
        tools = len(json.dumps(recorded.schemas, ensure_ascii=False).encode()) // 4
        self.budget = budget(rules.window, rules.reserve, rules.shares, tools)
        self._rendered: dict[tuple[int, tuple[Any, ...]], Rendered] = {}
        self._before: list[Rendered] = []
        self._client_before = 0
        self.journaled = 0

    def run(self, most: int = 600) -> Tally:
        """Play all its requests."""
        seen, added = Seen(), 0
        for number, count in enumerate(self.recorded.requests()):
            while added < count:
                seen.add(added, self.recorded.transcript.messages[added], self.recorded.names[added])
                added += 1
            if number >= most:
                break
            forwarded = self.request(count, number)
            self.judge(forwarded, count)
            if (number + 1) % 3 == 0 or number < 29:
                self.support(forwarded, count, seen)
            self.journaled = count + 1
        return self.tally

    def request(self, count: int, number: int) -> list[Rendered]:
        """Decide about one request, and what is forwarded of it."""
        conversation = self.recorded.conversation
        shown = Conversation(conversation.dialect, conversation.model, conversation.messages[:count])
        keys, head = self.keys[:count], shown.head
        standing = self.ledger.active(keys, head)
        forwarded = self.forwarded(count, standing)
        sizes = [each.tokens if each is not None else 0 for each in forwarded]
        decided = self.rules.planner(
            shown,
            self.pieces(count, head, standing),
            sizes,
            self.budget,
            standing,
            self.rules.warm,
            remaining(number),
            **self.rules.options,
        )
        for each in decided.replacements:
            digest, occurrence = keys[each.message]
            self.ledger.write(
                Entry(digest, occurrence, each.text, Form.PART, "shed", (), Act.REPLACE, each.part, each.tier)
            )
        cut = getattr(decided, "cut", None)
        if cut is not None:
            digest, occurrence = keys[cut.message]
            self.ledger.write(Entry(digest, occurrence, cut.text, Form.SUFFIX, "rotate", (), Act.CUT))
            self.tally.sums["cuts"] += 1
        if decided.shed is not None:
            self.tally.sums["sheds"] += 1
            standing = self.ledger.active(keys, head)
        if self.rules.paging is not None:
            text = self.rules.paging(self, count, standing)
            if text:
                digest, occurrence = keys[count - 1]
                self.ledger.write(Entry(digest, occurrence, text, Form.SUFFIX, "paged"))
            standing = self.ledger.active(keys, head)
        return [each for each in self.forwarded(count, standing) if each is not None]

    def pieces(self, count: int, head: int, standing: ActiveEdits) -> list[SheddablePart]:
        """What may be shed: what is journaled and large enough."""
        found = []
        for index in range(head, min(count, self.journaled)):
            if index in standing.dropped:
                continue
            message = self.recorded.conversation.messages[index]
            for number, part in enumerate(message.parts):
                kind = kind_of(part)
                tokens = self.recorded.overviews.tokens(index, number)
                if kind in LEAVES and tokens >= LEAST and message.role.value not in ("system", "developer"):
                    entry = standing.replaced.get((index, number))
                    line, overview = self.recorded.overviews.of(index, number)
                    found.append(
                        SheddablePart(
                            index,
                            number,
                            kind,
                            tokens,
                            line,
                            overview,
                            size(overview),
                            entry.tier if entry else ContentTier.L2,
                            handle(message.digest, number),
                        )
                    )
        return found

    def forwarded(self, count: int, standing: ActiveEdits) -> list[Rendered | None]:
        """The messages as they leave, None for one that was dropped."""
        edits: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for (index, part), entry in standing.replaced.items():
            edits[index].append((part, entry.text))
        for index, entry in standing.entries:
            if entry.text:
                edits[index].append((-1, entry.text))
        result: list[Rendered | None] = []
        for index in range(count):
            if index in standing.dropped:
                result.append(None)
            elif index not in edits:
                result.append(self.recorded.plain[index])
            else:
                named = tuple(edits[index])
                if (index, named) not in self._rendered:
                    message = self.recorded.conversation.messages[index]
                    body = edited(self.recorded.transcript.messages[index], message.parts, named)
                    self._rendered[index, named] = Rendered.of(body)
                result.append(self._rendered[index, named])
        return result

    def judge(self, forwarded: Sequence[Rendered], count: int, cold: bool = False) -> None:
        """Validity, size, prefix and cost; in a ``cold`` cache there is no prefix that could be kept."""
        sums, plain = self.tally.sums, self.recorded.plain
        frame = len(json.dumps(self.recorded.schemas, ensure_ascii=False, separators=(",", ":")).encode()) + 1
        tokens, client = sum(each.tokens for each in forwarded), sum(each.tokens for each in plain[:count])
        faults = broken([each.body for each in forwarded])
        sums["requests"] += 1
        sums["invalid"] += bool(faults)
        sums["over"] += tokens > self.rules.window * 1.01
        sums["client_over"] += client > self.rules.window * 1.01
        sums["tokens"] += tokens
        sums["client_tokens"] += client
        length = frame + sum(len(each.serial) for each in forwarded)
        client_length = frame + sum(len(each.serial) for each in plain[:count])
        if self._before:
            if not cold:
                sums["kept"] += frame + common(self._before, forwarded)
                sums["before"] += frame + sum(len(each.serial) for each in self._before)
                sums["client_kept"] += self._client_before
            sums["bytes"] += length
            sums["client_bytes"] += client_length
        self._before = list(forwarded)
        self._client_before = client_length

    def support(self, forwarded: Sequence[Rendered], count: int, seen: Seen) -> None:
        """What the recorded next step used that was last seen long ago, and is in the request."""
        sums = self.tally.sums
        sizes = [each.tokens for each in self.recorded.plain[:count]]
        behind = [0] * (count + 1)
        for index in range(count - 1, -1, -1):
            behind[index] = behind[index + 1] + sizes[index]
        blob = " ".join(each.blob for each in forwarded)
        for name in self.recorded.names[count]:
            at = seen.at.get(name)
            if at is None:
                continue
            there = name in blob
            sums["near"] += 1
            sums["near_ok"] += there
            if behind[at + 1] >= DISTANT:
                sums["distant"] += 1
                sums["distant_ok"] += there
                sums["lines_ok"] += there and seen.line.get(name, name) in blob


def comes_back(tokens: int) -> Paging:
    """What the server would page in, at most so many tokens at a person's message."""
    absent: dict[str, ShedContents] = defaultdict(ShedContents)

    def paged(play: Play, count: int, standing: ActiveEdits) -> str:
        if not (standing.replaced or standing.dropped):
            return ""
        whole = play.recorded.conversation
        shown = Conversation(whole.dialect, whole.model, whole.messages[:count])
        known, gone = absent[play.recorded.transcript.id], gone_from(shown, standing)
        take_in(known, shown, gone)
        room = tokens if shown.messages[-1].spoken else int(tokens * AT_A_RESULT)
        return found_in(known, shown, standing, gone, room).text

    return paged


def edited(body: Body, parts: Sequence[Part], edits: Iterable[tuple[Any, ...]]) -> Body:
    """A message with texts in its parts' places, or behind its own (part -1)."""
    result: dict[str, Any] = {**body, "tool_calls": [dict(call) for call in body.get("tool_calls") or []]}
    if "tool_calls" not in body:
        del result["tool_calls"]
    texts = [number for number, part in enumerate(parts) if isinstance(part, Text | ToolResult | Image)]
    calls = [number for number, part in enumerate(parts) if isinstance(part, ToolCall)]
    for part, text in sorted(edits, key=lambda each: each[0] < 0):
        content = result.get("content")
        if part < 0:
            if isinstance(content, list):
                result["content"] = [*content, {"type": "text", "text": text}]
            else:
                result["content"] = f"{content or ''}\n\n{text}"
        elif part in calls:
            call = result["tool_calls"][calls.index(part)]
            call["function"] = {**call["function"], "arguments": text}
        elif isinstance(content, list) and len(texts) == len(content) and body["role"] != "tool":
            number = texts.index(part)
            result["content"] = [*content[:number], {"type": "text", "text": text}, *content[number + 1 :]]
        else:
            result["content"] = text
    return result


def size(text: str) -> int:
    """Tokens of a text as it stands in JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode()) // 4


def played(recorded: Sequence[Recorded], rules: Rules) -> Mapping[str, Tally]:
    """Play all; the sums by source, and of all together."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for each in recorded:
        tally = Play(each, rules).run()
        tallies["all"].add(tally)
        tallies[each.transcript.source].add(tally)
    return tallies


def table(tallies: Mapping[str, Tally]) -> str:
    """The measures as lines."""
    rows = {name: tally.row() for name, tally in tallies.items()}
    columns = list(next(iter(rows.values())))
    lines = ["".join(f"{name:>12}" for name in ["", *columns])]
    for name, row in rows.items():
        cells = (
            f"{row[column]:>12.3f}" if isinstance(row[column], float) else f"{row[column]:>12}" for column in columns
        )
        lines.append(f"{name:>12}{''.join(cells)}")
    return "\n".join(lines)


def main() -> None:
    """Play a folder and print the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--window", type=int, default=60_000)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--min-tokens", type=int, default=0)
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--cold", action="store_true", help="each request finds the provider's cache gone")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = transcripts(chosen.folder, chosen.min_tokens, chosen.limit)
    if chosen.half is not None:
        found = found[chosen.half :: 2]
    shares = SheddingSettings()
    rules = Rules(window=chosen.window, paging=comes_back(shares.paging_tokens), warm=not chosen.cold)
    tallies = played([Recorded.of(each) for each in found], rules)
    if chosen.json:
        print(json.dumps({name: tally.row() for name, tally in tallies.items()}, indent=1))
    else:
        print(table(tallies))


if __name__ == "__main__":
    main()
