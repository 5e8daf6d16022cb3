"""What the rules of each table find in a clause, or None where none of them speaks."""

from __future__ import annotations

from memory.language.words import vocabulary
from memory.learning.rules import RuleFinding, first, rule_table
from memory.learning.speech import SpokenSentence

_NO_NAME = vocabulary(
    "it he she they we i you this that these those the a an there here what who which one everyone everybody "
    "nobody someone somebody each every all most some both neither none claude codex copilot gpt chatgpt "
    "assistant agent user users my our your his her their its"
)


def decision(clause: SpokenSentence) -> RuleFinding | None:
    """The decision or requirement that a clause states."""
    return first(rule_table("decisions")["rules"], clause)


def reason(clause: SpokenSentence) -> RuleFinding | None:
    """What a request says on the side: "can you remove it, since it is no longer supported"."""
    return first(rule_table("decisions")["reasons"], clause)


def statement(clause: SpokenSentence) -> RuleFinding | None:
    """The lasting fact about the work that a clause states."""
    return first(rule_table("statements")["rules"], clause)


def instruction(clause: SpokenSentence) -> RuleFinding | None:
    """The standing rule or prohibition that a clause lays down."""
    return first(rule_table("instructions")["rules"], clause)


def correction(clause: SpokenSentence) -> RuleFinding | None:
    """The correction that a clause makes."""
    return first(rule_table("corrections")["rules"], clause)


def preference(clause: SpokenSentence) -> RuleFinding | None:
    """The preference that a clause states; one that is told of the past may have passed."""
    table = rule_table("preferences")
    found = first(table["rules"], clause)
    return (first(table["past"], clause) or found) if found is not None and found.standing else found


def personal(clause: SpokenSentence) -> RuleFinding | None:
    """What a clause says about the person's own life."""
    return first(rule_table("personal")["rules"], clause)


def person_finding(clause: SpokenSentence) -> RuleFinding | None:
    """What a clause says about somebody who is named at its beginning."""
    head = clause.plain.split(" ", 1)[0]
    # "It prefers", "The linter wants": no name. A name has its capital, and its clause no code.
    if clause.technical or head in _NO_NAME or head.capitalize() not in clause.text[:80]:
        return None
    return first(rule_table("personal")["of_others"], clause)
