"""How often a result of a tool makes memory search for its error, in recorded sessions.

    python -m tests.bench.errors FOLDER

Told beside it: how often it would if every result asked in which a line names an error.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from memory.context.question import QuestionAuthor, ask
from memory.learning.behaviour.fixes import failing
from proxy.wire import dialect_of
from tests.bench.sessions import CHAT
from tests.bench.transcripts import transcripts

AROUND = 40
"""Messages before a result that are read with it."""


def main(folder: Path) -> None:
    """Print a line."""
    dialect = dialect_of(CHAT)
    assert dialect is not None
    results = named = failed = 0
    for session in transcripts(folder, 0, 0):
        for place, body in enumerate(session.messages):
            if body["role"] != "tool":
                continue
            sent = orjson.dumps({"model": "m", "messages": session.messages[max(place - AROUND, 0) : place + 1]})
            asking = dialect.read(sent, lambda text: text).conversation
            every = asking.messages[-1].results
            results += 1
            for name in ("named", "failed"):
                question = ask(asking, failing=every if name == "named" else [each.result for each in failing(asking)])
                asks = question is not None and question.asker is QuestionAuthor.TOOL
                named += asks and name == "named"
                failed += asks and name == "failed"
    print(f"{results} results: {named} name an error ({named / results:.1%}), {failed} failed ({failed / results:.1%})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
