"""What an assistant's own text may teach: what was agreed, what was found to be the cause, what was done.

Much more sparing than with a person: at most two facts a turn, nothing about itself, no advice, no plan. Its advice
to one person is no fact about the world.
"""

from __future__ import annotations

from memory.fact import Category, Kind, Stream
from memory.learning.rules import Finding, Rule, first, rule
from memory.learning.speech import Clause
from memory.scope import Layer

MOST = 2
"""Facts of one assistant turn at most."""

_AGREED = Finding(Kind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.5)
_CAUSE = Finding(Kind.OBSERVATION, Category.TECHNICAL, Stream.FLOW, Layer.USER_PROJECT, 0.5)
_DONE = Finding(Kind.OBSERVATION, Category.PROJECTS, Stream.FLOW, Layer.USER_PROJECT, 0.4)

RULES: tuple[Rule, ...] = (
    rule(
        "agreed",
        "agreed decided decision",
        r"^(?:as )?we (?:have |had )?(?:agreed|decided|settled on)\b|^as (?:agreed|decided)\b|^(?:final |"
        r"key )?decision(?: made)?: ?\w",
        _AGREED,
    ),
    rule(
        "cause",
        "cause caused culprit reason because",
        r"\b(?:the )?(?:root |real |actual |underlying )?(?:cause|culprit) (?:is|was|of .{2,80} (?:is|was))\b|"
        r"\b(?:is|was) caused by\b|^root cause: ?\w|\bthe (?:failure|error|crash|bug|problem|issue|"
        r"test) .{0,60}(?:was|is|happens|happened|failed|fails) because\b",
        _CAUSE,
        unless=r"\b(?:might|may|could|possibly|likely|probably|perhaps|seems?|appears?|let me|if)\b",
    ),
    rule(
        "done",
        "i i've fixed switched replaced moved renamed removed added migrated",
        r"^(?:i(?:'ve| have)? (?:now |also |just |successfully ){0,2}|done[:!.] ?(?:i )?)?(?:fixed|switched|"
        r"replaced|moved|renamed|removed|migrated|reverted|upgraded|downgraded|pinned|disabled|enabled) (?=.{12,})",
        _DONE,
        unless=r"\b(?:let me|if|would|should|could|can|want|next)\b",
        when=lambda clause: clause.technical,
    ),
)


def reported(spoken: list[Clause]) -> list[tuple[Clause, Finding]]:
    """The clauses of an assistant's text that are worth keeping, the surest first, at most :data:`MOST`."""
    found = [
        (clause, finding)
        for clause in spoken
        if clause.stated and 5 <= len(clause.words) and len(clause.text) <= 320 and (finding := first(RULES, clause))
    ]
    return sorted(found, key=lambda pair: -pair[1].confidence)[:MOST]
