"""Claude Code's session files: a line for each event, of which the person's and the model's messages are some.

A model's message stands in as many lines as it has blocks, all with its id. Sub-agents have files of their own beside
the session's, or, in older versions, lines in it that are marked as a side chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proxy.cli.transcripts.transcript import Problem, Transcript, objects, text_of, time_of

RUNTIME = "claude-code"
PATH = "/v1/messages"

_NOT_CONVERSATION = ("isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
"""Marks of lines that stand in a role though nobody spoke: notices, a summary, an error."""


def read(file: Path, problem: Problem, seen: set[str]) -> Iterator[Transcript]:
    """The sessions in a file: the agent's own, and those of its sub-agents. ``seen`` are the ids of the lines that
    were read before: a session that was forked begins with a copy of another's."""
    found: dict[str, Transcript] = {}
    ids: dict[str, str] = {}  # session → the id of its newest message
    roots: dict[str, str] = {}  # line → the first line of its side chain
    for number, line in objects(file, problem):
        message = line.get("message")
        if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            continue
        if any(line.get(mark) is True for mark in _NOT_CONVERSATION) or message.get("model") == "<synthetic>":
            continue
        at = time_of(line.get("timestamp"))
        if at is None or not isinstance(message.get("content"), str | list):
            problem(file, number, "a message has no timestamp" if at is None else "a message has no content")
            continue
        agent = _agent_of_line(line, roots)
        transcript = found.setdefault(agent, _begun(file, line, agent))
        transcript.directory = transcript.directory or text_of(line.get("cwd"))
        transcript.model = text_of(message.get("model")) or transcript.model
        mark = text_of(line.get("uuid")) or ""
        wire_message = {"role": line["type"], "content": message["content"]}
        id = text_of(message.get("id")) or ""
        if id and ids.get(agent) == id and wire_message["role"] == "assistant":
            transcript.messages[-1]["content"] = [*_blocks(transcript.messages[-1]), *_blocks(wire_message)]
        else:
            transcript.add(wire_message, at, copied=bool(mark) and mark in seen)
        ids[agent] = id
        if mark:
            seen.add(mark)
    yield from found.values()


def looks_so(line: dict[str, Any]) -> bool:
    """Whether a file with such a line is one of Claude Code's."""
    return isinstance(line.get("sessionId"), str) or (line.get("type") == "summary" and "leafUuid" in line)


def _agent_of_line(line: dict[str, Any], roots: dict[str, str]) -> str:
    """Which agent a line is of: empty for the session's own."""
    if agent := text_of(line.get("agentId")):
        return agent
    if line.get("isSidechain") is not True:
        return ""
    mark, above = text_of(line.get("uuid")) or "", text_of(line.get("parentUuid")) or ""
    roots[mark] = roots.get(above, mark)
    return roots[mark]


def _begun(file: Path, line: dict[str, Any], agent: str) -> Transcript:
    session = text_of(line.get("sessionId")) or file.stem
    if not agent:
        return Transcript(RUNTIME, file.stem if not file.stem.startswith("agent-") else session, PATH)
    return Transcript(RUNTIME, f"{session}/{agent}", PATH, parent=session, subagent=True)


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
