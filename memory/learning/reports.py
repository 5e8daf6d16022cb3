"""A report on its way back: framed, indented, escaped, shortened, twice; and still the same report.

Claude Code indents every line and writes an agent's id behind it, Codex, Cline and Gemini CLI wrap it into JSON,
opencode and Qwen Code into tags, OpenClaw into a message of its own. Compared is what is left without white space and
escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from memory.research import Delivery

SHORTENED = 0.25
"""The share of a report's lines that has to have come back for it to be that report, cut down."""

WHOLE = 0.95
_ACK = 400
"""Characters below which a text that speaks of an agent that was begun is only an acknowledgement."""

_TAGS = re.compile(
    r"<(task_result|result|prompt-data|subagent_notification|report|output)\b[^>]{0,200}>", re.IGNORECASE
)
_FOOTER = re.compile(r"(?:\n\s{0,8}(?:agentId:\s|<usage>|total_tokens:|tool_uses:|duration_ms:|</?usage>)[^\n]*+)++")
_HEADER = re.compile(
    r"\A\s*(?:\[Subagent hand-back\][^\n]*\n"
    r"|subagent '[^'\n]{1,100}' finished\.\nTermination Reason: [^\n]{1,100}\nResult:\n)",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    r"(?:async|background|sub-?)\s?agent (?:was )?(?:launched|started|spawned)|\"?status\"?:\s*\"?(?:accepted|running|"
    r"pending)|\"agent_id\"|\"childSessionKey\"|agent is (?:now )?running|runs? in the background",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\W{0,8}(?:(?:the |an? |this )?(?:sub-?)?(?:agent|task|tool)(?: \w{1,20}){0,3}? "
    r"(?:failed|crashed|errored|timed out|aborted|terminated|(?:was )?(?:cancel+ed|interrupted|killed))"
    r"|(?:\w{1,20} )?(?:api |internal |server |fatal |unexpected ){0,3}error\b\s{0,4}[:(\d]"
    r"|(?:request|execution) (?:failed|timed out|aborted)|\[request interrupted)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:agent_?id|child_?session_?key|session_?key|thread_?id|task_?id)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
    r"(?P<id>[\w:.-]{4,120}\w)",
    re.IGNORECASE,
)
_CHARACTERS = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "#39": "'"}
_ENTITY = re.compile(r"&(lt|gt|amp|quot|apos|#39);")
_UNDER_WAY = ("accepted", "queued", "pending", "running", "in_progress")
"""What is said of a sub-agent that has not reported yet, beside which stands what it was asked or how far it is."""
_TEXT_KEYS = frozenset(
    ("text", "result", "output", "report", "completed", "content", "message", "final", "answer", "summary", "response")
)


def acknowledges(result: str) -> bool:
    """Whether a spawn call's result only says that the sub-agent was begun."""
    text = result.strip()
    return not text or (_BEGUN.search(text[:_ACK]) is not None and len(unframed(text)) < 4 * _ACK)


def fails(result: str) -> bool:
    """Whether what a parent was handed back says that its sub-agent came to no report: an error, in a few lines."""
    text = unframed(result)
    return len(text) < 4 * _ACK and _FAILED.match(text) is not None


def unframed(result: str) -> str:
    """The report in what a parent was handed back."""
    text = _HEADER.sub("", result.strip())
    if text[:1] in "{[" and (inner := _longest_report_text(text)):
        return inner
    opened = _TAGS.search(text)
    if opened:
        closing = text.rfind(f"</{opened[1]}>")
        if closing > opened.end():
            text = _unescaped(text[opened.end() : closing].strip("\n"))
            if text.strip()[:1] in "{[" and (inner := _longest_report_text(text.strip())):
                return inner
    last = max(_FOOTER.finditer(text), key=lambda lines: lines.end(), default=None)
    if last is not None and not text[last.end() :].strip():
        text = text[: last.start()]
    return _unindented(text).strip()


def promised(result: str) -> frozenset[str]:
    """The ids of the sub-agents that a spawn call's result says were begun: their reports come under these names."""
    return (
        frozenset(found["id"] for found in _NAMED.finditer(result[: 4 * _ACK])) if acknowledges(result) else frozenset()
    )


def report_of(agent: str, text: str, message: bool = False) -> str:
    """What a text reports of the sub-agent of this id, among others or alone; empty where it says nothing of it. In a
    ``message`` of its own the id may stand anywhere beside the report; in a tool's result, which may speak of anything,
    it names the report."""
    if agent not in text:
        return ""
    body = text.strip()
    opened = _TAGS.search(body)
    if opened and (closing := body.rfind(f"</{opened[1]}>")) > opened.end():
        body = body[opened.end() : closing].strip()
        if body[:1] not in "{[":
            # A message of its own, which names the agent beside the report.
            return _unescaped(body) if message else ""
    try:
        read = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    return max((piece.strip() for piece in _texts_of_agent(agent, read)), key=len, default="")


def delivery(report: str, text: str) -> Delivery:
    """How much of a report stands in a text that its parent got."""
    wanted = plain(report)
    if not wanted or len(text) < min(len(wanted), 40):
        return Delivery.NOT
    found = plain(text)
    if wanted in found:
        return Delivery.WHOLE
    lines = [line for line in map(plain, report.splitlines()) if len(line) >= 16]
    if not lines:
        return Delivery.NOT
    share = sum(len(line) for line in lines if line in found) / sum(map(len, lines))
    if share >= WHOLE:
        return Delivery.WHOLE
    return Delivery.SHORTENED if share >= SHORTENED or _is_beginning_of_report(wanted, found) else Delivery.NOT


def plain(text: str) -> str:
    """A text without what a frame changes: white space, escapes of JSON and XML, all but letters and digits."""
    text = re.sub(r"\\u00([2-7][0-9a-fA-F])", lambda code: chr(int(code[1], 16)), text)
    text = re.sub(r"\\[nrt]|\\(?=[\"\\/])|&(?:lt|gt|amp|quot|apos|#39);", " ", text)
    return "".join(character for character in text if character.isalnum()).casefold()


def _is_beginning_of_report(wanted: str, found: str) -> bool:
    """Whether the beginning of a report came back, and no more of it."""
    head = wanted[:200]
    return len(wanted) > 400 and len(head) == 200 and head in found


def _longest_report_text(text: str) -> str:
    """The longest text among the values that usually hold a report; empty where there is none."""
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return ""
    longest = max((piece.strip() for piece in _texts(read)), key=len, default="")
    # A frame within a frame; what is no JSON, or holds no report, is the report.
    return (longest[:1] == "{" and _longest_report_text(longest)) or longest


def _texts_of_agent(agent: str, value: Any, depth: int = 0) -> Iterator[str]:
    """The texts that stand under an agent's id, or beside it."""
    if isinstance(value, dict) and depth < 5:
        if agent in value:
            yield from _texts(value[agent])
        elif agent in (each for each in value.values() if isinstance(each, str)):
            if value.get("status") in _UNDER_WAY or value.get("state") in _UNDER_WAY:
                return
            yield from _texts({key: inner for key, inner in value.items() if inner != agent})
        else:
            for inner in value.values():
                yield from _texts_of_agent(agent, inner, depth + 1)
    elif isinstance(value, list) and depth < 5:
        for inner in value:
            yield from _texts_of_agent(agent, inner, depth + 1)


def _unescaped(text: str) -> str:
    """The text without the entities of XML, where it was escaped as a whole."""
    escaped = "<" not in text and _ENTITY.search(text) is not None
    return _ENTITY.sub(lambda found: _CHARACTERS[found[1]], text) if escaped else text


def _texts(value: Any, key: str = "", depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if key in _TEXT_KEYS:
            yield value
    elif isinstance(value, dict) and depth < 5:
        for name, inner in value.items():
            yield from _texts(inner, name, depth + 1)
    elif isinstance(value, list) and depth < 5:
        for inner in value:
            yield from _texts(inner, key or "text", depth + 1)


def _unindented(text: str) -> str:
    """The text without white space that stands before every line but the first."""
    lines = text.splitlines()
    rest = [line for line in lines[1:] if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in rest), default=0)
    if not margin or (lines and lines[0].strip() and not lines[0].startswith(" ") and margin < 2):
        return text
    return "\n".join(line[margin:] if line[:margin].isspace() else line for line in lines)
