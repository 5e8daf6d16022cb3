"""What memory did, in plain words: who said a memory and when, why it was given, why another one was not."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory.hooks.command import count, project_of, where

THERE = "stands in the request already"

_FOUND_NOTHING = "found nothing that belongs here"

_NOTHING = {
    "asks nothing": "what you said asks nothing of memory",
    _FOUND_NOTHING: "memory holds nothing that belongs to it",
    "has used up its budget": "this turn has had as many tokens of memory as it may (memory.recall.tokens)",
    "is switched off": "recall is switched off (memory.recall.enabled)",
}

_FATES = {
    "below the floor": "it has too little to do with it",
    "no room": "there was no room for it",
    "says what another one says": "another one says the same",
    "a question of then": "it was a question itself",
    "said by a fact that is known": "a fact that was learnt from it says it",
    "expired": "its time is over",
    "superseded": "something newer took its place",
    "archived": "it was put away",
}

_PARTS = {
    "coverage": "words in common",
    "cosine": "alike in meaning",
    "beside": "said near one that fits",
    "graph": "names in common",
    "recency": "recent",
    "person": "of the person meant",
    "applies": "applies to this work",
}

_SHEDS = {
    "trim": "what is stale was shortened",
    "fold": "the oldest and largest results were shortened",
    "rotate": "older messages were left out, and a note stands for them",
}

_SPEAKERS = {
    "user": "you said so",
    "person": "you wrote it on the page",
    "assistant": "the assistant said so",
    "file": "a file of the project says so",
    "tool": "a tool printed it, or the model noted it",
    "web": "a page of the web said so",
    "sub-agent": "a sub-agent reported it",
    "behaviour": "it was seen in your work",
}


def source(held: dict[str, Any], project: str | None, now: datetime) -> str:
    """Who said a memory, when, and where."""
    at_time: datetime | str = held.get("recorded_at") or held["at"]
    at = (datetime.fromisoformat(at_time) if isinstance(at_time, str) else at_time).astimezone()
    if held.get("derived_from"):
        who = f"put together from {count(len(held['derived_from']), 'memory')}"
    elif held["sort"] == "turn":
        who = "you said so" if held["origin"] == "user" else f"said by {held['speaker']}"
    elif held["origin"] == "user" and not held["session"]:
        who = "you told memory so"
    else:
        who = _SPEAKERS[held["origin"]]
    parts = [f"{who} {ago(at, now)}, on {at:%Y-%m-%d}"]
    if (its := project_of(held["owner"])) != project:
        parts.append(f"in {where(held['owner'])}" if its else "for all projects")
    if runtime := client(held["runtime"]):
        parts.append(f"with {runtime}")
    return ", ".join(parts)


def ago(at: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max((now - at).total_seconds(), 0)
    for unit, length in (("year", 365 * 86400), ("month", 30 * 86400), ("week", 7 * 86400), ("day", 86400)):
        if seconds >= length:
            return f"{count(int(seconds // length), unit)} ago"
    return f"{count(int(seconds // 3600), 'hour')} ago" if seconds >= 3600 else "within the last hour"


def client(runtime: str) -> str:
    """A client by its name; nothing of one that nobody wrote rules for."""
    return "" if runtime == "generic" else runtime


def because(why: dict[str, float]) -> str:
    """What of its score spoke for it most; empty where that is not known any more."""
    if "same error" in why:
        return "the same error came back"
    if not why:
        return ""
    words, meaning = why.get("coverage", 0.0), why.get("cosine", 0.0)
    return "it shares words with what you said" if words >= meaning else "it means something like what you said"


def part(of: str) -> str:
    """What a part of a memory's score says for it."""
    return _PARTS.get(of, of)


def shed(step: str) -> str:
    """What a step of shedding did with a request."""
    return _SHEDS.get(step, step)


def nothing(reason: str, before: bool = False) -> str:
    """Why nothing was added, to a request in which something stands from ``before``."""
    if before and reason == _FOUND_NOTHING:
        return "memory holds nothing more that belongs to it"
    return _NOTHING.get(reason, reason)


def fate(of: str) -> str:
    """Why a memory was looked at and not added."""
    return _FATES.get(of, of)


def money(dollars: float) -> str:
    """US dollars; sums of cents in full. What rounds to nothing is neither gained nor lost."""
    rounded = round(dollars, 2 if abs(dollars) >= 1 else 4)
    sign, sum_ = "-" if rounded < 0 else "", abs(rounded)
    return f"{sign}${sum_:,.2f}" if sum_ >= 1 else f"{sign}${sum_:.4f}"
