"""What a sub-agent's exchanges and its parent's make of a research, and the pieces by which it is found.

Nothing of it is taken for true: it is what a sub-agent read and said. Everything here is a value; the worker writes it
down (:mod:`memory.features.subagents.research_worker`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.actions import ActionKind, action
from memory.conversation import Message, Role, Text, ToolCall, ToolResult, Usage
from memory.language.sentences import BlockShape, blocks
from memory.learning.hearsay import without_orders
from memory.learning.passages import passages
from memory.learning.sensitivity import is_guarded
from memory.ports import Journaled
from memory.research import Delivery, Errand, Research, ResearchOutcome, ResearchSource, SourceKind
from memory.tiers.shape import Hint, Tiers

SOURCES = 400
"""Sources of one research at most."""

PIECES = 600
"""Passages of one trail that are searched at most. What is beyond stands in the trail all the same."""

PIECE = 1200
"""Characters of a passage of the trail."""

MAX_QUESTION_CHARS, MAX_REPORT_CHARS = 40_000, 400_000
"""Characters that are kept as texts beside the trail."""

OPENING = 400
"""Characters of a question's opening: what it is about stands there."""

TYPICAL: Mapping[str, float] = {"opening": 60.0, "question": 300.0, "findings": 60.0, "report": 800.0}
"""Stems of a typical text of each of the four by which a question is compared, by the piece's name."""

_URL = re.compile(r"https?://[^\s\"'<>\\)\]}`]{4,500}")

READ = 20_000
"""Characters of a question or a report that are looked at for what is confidential."""


@dataclass(frozen=True, slots=True)
class ObservedExchange:
    """An exchange as the worker that keeps research sees it: the end of its request (``fresh`` counts from there), and
    the reply also where it was cut; ``answered`` says whether it was whole."""

    journaled: Journaled
    model: str
    usage: Usage | None
    answered: bool


@dataclass(frozen=True, slots=True)
class ResearchPassage:
    """A text by which a research is found: the four of :data:`TYPICAL`, and passages of the report and the trail."""

    name: str
    text: str
    source: bytes = b""
    turn: int = 0
    piece: int = 0


def begun(
    id: str,
    owner: str,
    person: str,
    observed: ObservedExchange,
    errand: Errand | None,
    directory: str = "",
    commit: str = "",
) -> Research:
    """A research at the first exchange of its session."""
    journaled = observed.journaled
    research = Research(
        id=id,
        owner=owner,
        person=person,
        question=opening_question(journaled.messages)[:MAX_QUESTION_CHARS],
        began=journaled.session.started_at,
        ended=journaled.at,
        session=journaled.session.id,
        runtime=journaled.session.runtime,
        model=observed.model,
        directory=directory,
        commit=commit,
    )
    return sent(research, errand) if errand is not None else research


def sent(research: Research, errand: Errand) -> Research:
    """A research of which it is known with which call it was sent."""
    return replace(
        research,
        call=errand.call,
        tool=errand.tool,
        agent=errand.agent,
        description=errand.description,
        question=errand.prompt[:MAX_QUESTION_CHARS],
    )


def opening_question(messages: Sequence[Message]) -> str:
    """The question that opens a session: the last that was said in the user's role before an assistant spoke."""
    text = ""
    for message in messages:
        if message.role is Role.ASSISTANT:
            break
        if message.role is Role.USER:
            text = message.spoken or text or message.text
    return text.strip()


def gone_on(research: Research, observed: ObservedExchange) -> Research:
    """A research with one more exchange of its session."""
    journaled, reply = observed.journaled, observed.journaled.reply
    fresh = [journaled.messages[index] for index in journaled.fresh]
    new = [m.digest for m in fresh if m.role in (Role.USER, Role.TOOL, Role.OTHER) or not research.requests]
    again = any(message.role is Role.USER and message.spoken for message in fresh) and bool(research.requests)
    reports, outcome = research.reports, ResearchOutcome.CUT
    if reply is not None and observed.answered:
        outcome = ResearchOutcome.RUNNING if reply.calls else ResearchOutcome.FINISHED
        text = reply.text.strip()[:MAX_REPORT_CHARS]
        if outcome is ResearchOutcome.FINISHED and text:
            reports_left = reports if again or not reports else reports[:-1]
            reports = (*reports_left, text)
    usage = observed.usage
    return replace(
        research,
        ended=max(research.ended, journaled.at),
        model=observed.model or research.model,
        reports=reports,
        outcome=outcome,
        trail=(*research.trail, *new, *([reply.digest] if reply is not None else [])),
        sources=_joined(research.sources, sources([*fresh, *([reply] if reply else [])])),
        requests=research.requests + 1,
        tokens=research.tokens + (usage.input if usage else 0),
        written=research.written + (usage.output if usage else 0),
    )


def handed_back(research: Research, text: str, digest: bytes, delivered: Delivery, at: datetime) -> Research:
    """A research whose report came back to its parent, at ``at`` in the message ``digest``. Where the sub-agent's own
    last words are not known (it ended with a tool's call), what came back is its report."""
    if not research.reports and text:
        outcome = ResearchOutcome.UNSEEN if not research.session else ResearchOutcome.FINISHED
        research = replace(research, reports=(text[:MAX_REPORT_CHARS],), outcome=outcome)
    if delivered is Delivery.NOT or (research.delivery is Delivery.WHOLE and delivered is not Delivery.WHOLE):
        return research
    first = research.delivery is Delivery.NOT
    # A reply's end is not written down: that its parent went on says when it was over.
    ended = max(research.ended, at) if first else research.ended
    return replace(research, delivery=delivered, returned=digest, ended=ended)


def unseen(id: str, owner: str, person: str, errand: Errand, parent: str, began: datetime, ended: datetime) -> Research:
    """A research of a sub-agent that did not pass through the proxy."""
    bare = Research(id, owner, person, "", began, ended, parent=parent, outcome=ResearchOutcome.UNSEEN)
    return sent(bare, errand)


def with_tiers(research: Research, tiers: Callable[[str, Hint], Tiers]) -> Research:
    """A research with L0 and L1 of its report."""
    short_forms = tiers(research.report, Hint()) if research.report.strip() else Tiers("", "")
    heard = without_orders(research.report)
    # The line is what a talk comes upon; whoever asks for the research has the report as it is.
    line = short_forms.line if heard == research.report else tiers(heard, Hint()).line if heard.strip() else ""
    return replace(research, line=line, overview=short_forms.overview)


def sources(messages: Iterable[Message]) -> tuple[ResearchSource, ...]:
    """What tools were asked for in some messages: addresses, files, commands."""
    found: dict[ResearchSource, None] = {}
    for message in messages:
        for call in message.calls:
            did = action((0, 0), call, None, None)
            for url in _URL.findall(call.arguments):
                found[ResearchSource(SourceKind.URL, url.rstrip(".,;:"))] = None
            if did.command:
                found[ResearchSource(SourceKind.COMMAND, " ".join(did.command.split())[:500])] = None
            if did.kind is not ActionKind.DELEGATE:
                for path in did.paths:
                    if "://" not in path:
                        found[ResearchSource(SourceKind.FILE, path)] = None
    return tuple(found)[:SOURCES]


def pieces(research: Research, trail: Sequence[Message]) -> list[ResearchPassage]:
    """The texts by which a research is found: what it was asked and what it reported, as wholes; then passages of the
    report, and of what its tools gave back."""
    opening = f"{research.description}\n{research.question[:OPENING]}".strip()
    found = [ResearchPassage("opening", opening), ResearchPassage("question", research.question)]
    if report := research.report:
        found += [ResearchPassage("findings", _report_summary(research)), ResearchPassage("report", report)]
        found += [ResearchPassage("passage", text, turn=-1, piece=place) for place, text in passages(report)]
    calls = {call.id: call for message in trail for call in message.calls}
    room = PIECES
    for turn, message in enumerate(trail):
        for result in message.results:
            cut = list(_result_passages(result, calls))[:room]
            found += [ResearchPassage("trail", text, message.digest, turn, place) for place, text in enumerate(cut)]
            room -= len(cut)
    return [piece for piece in found if piece.text.strip()]


def listed(research: Research, trail: Sequence[Message]) -> str:
    """A report, and behind it what the sub-agent did to find that out, a line for each call and result with the handle
    of the whole."""
    calls = {call.id: call for message in trail for call in message.calls}
    lines = []
    for turn, message in enumerate(trail):
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolResult):
                call = calls.get(part.call_id)
                did = f"{call.name} {_call_summary(call)}" if call is not None else "a result"
                lines.append(f"{research.handle}.{turn}.{place}  {did} → {len(part.text)} characters")
    body = research.report or "(nothing was reported)"
    return "\n".join([body, "", "What was read for it:", *lines]) if lines else body


def _call_summary(call: ToolCall) -> str:
    did = action((0, 0), call, None, None)
    return " ".join((did.paths[0] if did.paths else did.command or call.arguments).split())[:160]


def _report_summary(research: Research) -> str:
    """What a report says in short: its headings, and its line."""
    headings = [block.text for block in blocks(research.report) if block.shape is BlockShape.HEADING]
    return "\n".join([research.line, *headings[:40]])


def _result_passages(result: ToolResult, calls: Mapping[str, ToolCall]) -> Iterable[str]:
    """A tool's result in passages of about :data:`PIECE` characters, cut at line ends, each after what was asked."""
    call = calls.get(result.call_id)
    about = ""
    if call is not None:
        about = _call_summary(call)
    held = ""
    for line in "\n".join(part.text for part in result.content if isinstance(part, Text)).splitlines():
        if held and len(held) + len(line) > PIECE:
            yield f"{about}\n{held}" if about else held
            held = ""
        held = f"{held}\n{line[:PIECE]}" if held else line[:PIECE]
    if held.strip():
        yield f"{about}\n{held}" if about else held


def _joined(known: Sequence[ResearchSource], new: Iterable[ResearchSource]) -> tuple[ResearchSource, ...]:
    seen = {(source.kind, source.name) for source in known}
    return (*known, *(source for source in new if (source.kind, source.name) not in seen))[:SOURCES]


def in_confidence(research: Research) -> Research:
    """A research that says what is confidential stays with its person, whoever else works on the project."""
    texts = (research.question, *research.reports)
    private = any(is_guarded(text[:READ]) for text in texts)
    return replace(research, owner=research.person) if private and research.person else research
