"""What redaction alters in recorded sessions, where next to nothing is a secret, and what it costs.

python -m tests.bench.redaction FOLDER [--most N]
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from memory.learning.redact import redact
from tests.bench.transcripts import text_of, transcripts

_IDENTIFIER = re.compile(r"[A-Za-z_][\w./:-]{6,}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=0, help="sessions to look at; 0 for all")
    arguments = parser.parse_args()
    seen, altered = set[str](), set[str]()
    spent, characters = 0.0, 0
    for session in transcripts(arguments.folder, 0, arguments.most):
        for body in session.messages:
            calls = [call["function"]["arguments"] for call in body.get("tool_calls") or []]
            for text in (text_of(body), *calls):
                began = time.process_time()
                redacted = redact(text).text
                spent += time.process_time() - began
                characters += len(text)
                names = set(_IDENTIFIER.findall(text))
                seen |= names
                if redacted is not text:
                    altered |= {name for name in names if name not in redacted}
    share = len(altered) / len(seen) if seen else 0.0
    print(f"{len(seen)} identifiers, {len(altered)} altered somewhere ({share:.3%})")
    print(f"{characters / 1e6:.1f} million characters, {spent * 1e9 / max(characters, 1):.0f} ns of CPU for each")
    for name in sorted(altered)[:40]:
        print(f"  {name[:80]}")


if __name__ == "__main__":
    main()
