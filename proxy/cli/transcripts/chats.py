"""Conversations out of the exports of chat sites: ChatGPT's and Claude.ai's, as the zip that comes by mail or unpacked.

Both have a list of conversations in ``conversations.json`` (large ones of ChatGPT in several files with a number).
ChatGPT keeps every version of a message in a tree, of which only the branch that ends at ``current_node`` is what was
read last; Claude.ai gives one line of messages. What a person attached is somebody's text, and is left out.
"""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from proxy.cli.transcripts.transcript import Problem, Transcript, text_of, time_of

CHATGPT, CLAUDE_AI = "chatgpt", "claude.ai"
PATH = "/v1/chat/completions"

LARGEST = 2**30
"""Bytes of one file of conversations; a zip can say that it holds anything."""

_NAME = re.compile(r"conversations(?:[-_]\d{1,4})?\.json", re.IGNORECASE)
_SPOKEN = ("text", "multimodal_text")
_HEAD = 4096
_UNREADABLE = (
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
)
"""What unpacking raises: damage wherever it is, a way of packing that is not known, a password."""


def read(file: Path, problem: Problem, seen: set[str]) -> Iterator[Transcript]:
    """The conversations of an export."""
    for name, data in _files(file, problem):
        try:
            found = _lenient_json(data)
        except (ValueError, RecursionError) as error:
            problem(file, 0, f"{name} is no JSON: {error}")
            continue
        for place, each in enumerate(found if isinstance(found, list) else [found], 1):
            transcript = _conversation(each) if isinstance(each, Mapping) else None
            if transcript is None:
                problem(file, 0, f"{name}: conversation {place} is of no kind that we know")
            elif transcript.session not in seen:
                seen.add(transcript.session)
                yield transcript


def what_is_wrong(file: Path) -> str | None:
    """Why a zip holds no conversations that can be read; None where it does, or is no zip by its name."""
    if file.suffix.lower() != ".zip":
        return None
    try:
        with zipfile.ZipFile(file) as packed:
            members = [each for each in packed.infolist() if _is_conversations(each.filename)]
            for each in members[:1]:
                with packed.open(each) as stream:
                    stream.read(_HEAD)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    except _UNREADABLE as error:
        return f"it cannot be unpacked, fetch it again: {error}"
    return None if members else "no conversations.json is in it: it is no export of ChatGPT or Claude.ai"


def site_of(file: Path) -> str | None:
    """Which site a file is an export of, by its beginning; None where it is none."""
    try:
        if file.suffix.lower() == ".zip":
            with zipfile.ZipFile(file) as packed:
                member = next((each for each in packed.infolist() if _is_conversations(each.filename)), None)
                if member is None:
                    return None
                with packed.open(member) as stream:
                    head = stream.read(_HEAD)
        elif _is_conversations(file.name):
            with file.open("rb") as stream:
                head = stream.read(_HEAD)
        else:
            return None
    except _UNREADABLE:
        return None
    begun = head.decode(json.detect_encoding(head), "ignore")
    if not begun.lstrip().startswith(("[", "{")):
        return None
    if '"mapping"' in begun:
        return CHATGPT
    return CLAUDE_AI if '"chat_messages"' in begun or '"uuid"' in begun else None


def _files(file: Path, problem: Problem) -> Iterator[tuple[str, bytes]]:
    if file.suffix.lower() != ".zip":
        if file.stat().st_size > LARGEST:
            problem(file, 0, f"it has more than {LARGEST >> 20} MiB")
        else:
            yield file.name, file.read_bytes()
        return
    if wrong := what_is_wrong(file):
        problem(file, 0, wrong)
        return
    with zipfile.ZipFile(file) as packed:
        for member in sorted(packed.infolist(), key=lambda each: each.filename):
            if not _is_conversations(member.filename):
                continue
            try:
                with packed.open(member) as stream:
                    data = stream.read(LARGEST + 1)
            except _UNREADABLE as error:
                problem(file, 0, f"{member.filename} cannot be unpacked, fetch it again: {error}")
                continue
            if len(data) > LARGEST:
                problem(file, 0, f"{member.filename} has more than {LARGEST >> 20} MiB")
            else:
                yield member.filename, data


def _lenient_json(data: bytes) -> Any:
    """What a file says. Where it is none of strict JSON, that is read which programs write all the same: another
    encoding, a mark at the beginning, half of a character (an emoji that was cut in two), which becomes a "?".

    Raises:
        ValueError: when it is no JSON at all.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return orjson.loads(json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace"))


def _is_conversations(name: str) -> bool:
    return _NAME.fullmatch(name.rpartition("/")[2]) is not None


def _conversation(told: Mapping[str, Any]) -> Transcript | None:
    if isinstance(told.get("mapping"), Mapping):
        return _of_chatgpt(told)
    return _of_claude(told) if isinstance(told.get("chat_messages"), list) else None


def _of_chatgpt(told: Mapping[str, Any]) -> Transcript | None:
    id = text_of(told.get("conversation_id")) or text_of(told.get("id"))
    if id is None:
        return None
    found = Transcript(CHATGPT, id, PATH, model=text_of(told.get("default_model_slug")) or "")
    at = _from_unix_seconds(told.get("create_time"))
    for message in _last_branch(told["mapping"], told.get("current_node")):
        at = _from_unix_seconds(message.get("create_time")) or at
        role = _mapping(message.get("author")).get("role")
        text = _said_to_chatgpt(message)
        if role in ("user", "assistant") and text and at is not None:
            found.add({"role": role, "content": text}, at)
    return found


def _last_branch(nodes: Mapping[str, Any], end: object) -> list[Mapping[str, Any]]:
    """The messages from the root to the end of the branch that was read last; without an end, to the last leaf."""
    if not isinstance(end, str) or end not in nodes:
        leaves = [id for id, node in nodes.items() if not _mapping(node).get("children")]
        end = leaves[-1] if leaves else None
    found: list[Mapping[str, Any]] = []
    passed: set[str] = set()
    while isinstance(end, str) and end in nodes and end not in passed:
        passed.add(end)
        node = _mapping(nodes[end])
        if isinstance(message := node.get("message"), Mapping):
            found.append(message)
        end = node.get("parent")
    return found[::-1]


def _said_to_chatgpt(message: Mapping[str, Any]) -> str:
    """What a person or the model said in a message; nothing of calls of tools, custom instructions and hidden ones."""
    content = _mapping(message.get("content"))
    hidden = _mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if hidden or content.get("content_type") not in _SPOKEN or message.get("recipient", "all") != "all":
        return ""
    parts = content.get("parts")
    return "\n".join(each for each in parts if isinstance(each, str)).strip() if isinstance(parts, list) else ""


def _of_claude(told: Mapping[str, Any]) -> Transcript | None:
    id = text_of(told.get("uuid"))
    if id is None:
        return None
    found = Transcript(CLAUDE_AI, id, PATH, model=text_of(told.get("model")) or "")
    at = time_of(told.get("created_at"))
    for message in told["chat_messages"]:
        if not isinstance(message, Mapping):
            continue
        at = time_of(message.get("created_at")) or at
        role = {"human": "user", "user": "user", "assistant": "assistant"}.get(str(message.get("sender")))
        text = _said_to_claude(message)
        if role and text and at is not None:
            found.add({"role": role, "content": text}, at)
    return found


def _said_to_claude(message: Mapping[str, Any]) -> str:
    """The text blocks of a message: thinking and tools are no talk. Older exports have the text alone."""
    blocks = message.get("content")
    texts = [
        each["text"]
        for each in (blocks if isinstance(blocks, list) else ())
        if isinstance(each, Mapping) and each.get("type") == "text" and isinstance(each.get("text"), str)
    ]
    return ("\n".join(texts) or text_of(message.get("text")) or "").strip()


def _from_unix_seconds(told: object) -> str | None:
    return time_of(told * 1000) if isinstance(told, int | float) and not isinstance(told, bool) and told > 0 else None


def _mapping(told: object) -> Mapping[str, Any]:
    return told if isinstance(told, Mapping) else {}
