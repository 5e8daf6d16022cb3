"""What an assistant's own text may teach: what was found to be the cause, what was done.

Much more sparing than with a person: at most two facts a turn, nothing about itself, no advice, no plan. Its advice
to one person is no fact about the world.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.learning.rules import RuleFinding, first, rule_table
from memory.learning.speech import SpokenSentence

MOST = 2
"""Facts of one assistant turn at most."""


def worth_keeping(spoken: Sequence[SpokenSentence]) -> list[tuple[SpokenSentence, RuleFinding]]:
    """The clauses of an assistant's text that are worth keeping, the surest first, at most :data:`MOST`."""
    rules = rule_table("assistant")["rules"]
    found = [
        (clause, finding)
        for clause in spoken
        if clause.stated and len(clause.words) > 4 and len(clause.text) <= 320 and (finding := first(rules, clause))
    ]
    return sorted(found, key=lambda pair: -pair[1].confidence)[:MOST]
