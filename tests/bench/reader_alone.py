"""What is learnt of talk about work by the trained reader alone, without the written rules.

    python -m tests.bench.reader_alone < conversations.jsonl

Lines in and out are those of ``palimpsest extract --jsonl``. What a person asks to have remembered, and which of the
ways they pick that they were offered, is still found by its form.
"""

from __future__ import annotations

import sys

from memory.clock import local_now
from memory.learning import rule_extraction
from memory.learning.offline import extract_jsonl
from memory.learning.rules import RuleFinding
from memory.learning.speech import SpokenSentence

_judge = rule_extraction.judge


def private_only(clause: SpokenSentence) -> RuleFinding | None:
    """What the rules find, but for talk about work."""
    return None if clause.technical or clause.work else _judge(clause)


def main() -> None:
    """Read conversations, print what is learnt of them."""
    setattr(rule_extraction, "judge", private_only)  # noqa: B010 (mypy takes a function for a constant)
    for line in extract_jsonl(sys.stdin, local_now()):
        print(line)


if __name__ == "__main__":
    main()
