"""What an assistant's own text may teach: what was agreed, what was found to be the cause, what was done.

Much more sparing than with a person: at most two facts a turn, nothing about itself, no advice, no plan. Its advice
to one person is no fact about the world.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.fact import Category, FactKind, Stream
from memory.learning.rules import Rule, RuleFinding, first, rule, technical
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

MOST = 2
"""Facts of one assistant turn at most."""

_CAUSE = RuleFinding(FactKind.OBSERVATION, Category.TECHNICAL, Stream.FLOW, Layer.USER_PROJECT, 0.5)
_DONE = RuleFinding(FactKind.OBSERVATION, Category.PROJECTS, Stream.FLOW, Layer.USER_PROJECT, 0.4)

RULES: tuple[Rule, ...] = (
    rule(
        "the cause",
        _CAUSE,
        "cause caused culprit because",
        r"\b(?:root |real |actual |underlying )?(?:cause|culprit) (?:is|was|of .{2,80} (?:is|was))\b|\b(?:is|"
        r"was) caused by\b|^root cause: ?\w",
        r"\bthe (?:failure|error|crash|bug|problem|issue|test) .{0,60}(?:was|is|happens|happened|failed|"
        r"fails) because\b",
        unless=(r"\b(?:might|may|could|possibly|likely|probably|perhaps|seems?|appears?|let me|if)\b",),
    ),
    rule(
        "done",
        _DONE,
        "fixed switched replaced moved renamed removed migrated reverted upgraded downgraded pinned disabled enabled",
        r"^(?:i(?:'ve| have)? (?:(?:now|also|just|successfully) ){0,2}|done[:!.] ?(?:i )?)?(?:fixed|switched|"
        r"replaced|moved|renamed|removed|migrated|reverted|upgraded|downgraded|pinned|disabled|enabled) (?=.{12,})",
        unless=(r"\b(?:let me|if|would|should|could|can|want|next)\b",),
        when=technical,
    ),
)


def worth_keeping(spoken: Sequence[SpokenSentence]) -> list[tuple[SpokenSentence, RuleFinding]]:
    """The clauses of an assistant's text that are worth keeping, the surest first, at most :data:`MOST`."""
    found = [
        (clause, finding)
        for clause in spoken
        if clause.stated and len(clause.words) > 4 and len(clause.text) <= 320 and (finding := first(RULES, clause))
    ]
    return sorted(found, key=lambda pair: -pair[1].confidence)[:MOST]
