"""Play the corpus, and compare what comes out with what is kept in the repository."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from pathlib import Path

from tests.corpus import digests
from tests.corpus.playing import played
from tests.corpus.scenes import scenes

SHOWN = 20
"""Lines of a scene that are told."""


def main() -> int:
    """Play; 1 where something differs."""
    options = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    options.add_argument("--write", action="store_true", help="keep what comes out as what it is to be")
    options.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the bodies there, and tell what differs in them"
    )
    options.add_argument("--only", default="", metavar="NAME", help="the scenes whose name begins so")
    said = options.parse_args()
    logging.disable(logging.CRITICAL)
    before, now, differ = digests.kept(), dict[str, list[str]](), 0
    for scene in scenes():
        if not scene.name.startswith(said.only):
            now[scene.name] = before.get(scene.name, [])
            continue
        began = time.perf_counter()
        exchanges = asyncio.run(played(scene))
        now[scene.name] = [digests.line(each) for each in exchanges]
        wrong = list(digests.changed(before.get(scene.name, []), now[scene.name]))
        differ += len(wrong)
        print(f"{scene.name}: {len(exchanges)} exchanges, {time.perf_counter() - began:.1f} s", flush=True)
        for one, other in wrong[:SHOWN] if not said.write else ():
            print(f"- {one or '(none)'}\n+ {other or '(none)'}")
        gone = {other for _, other in wrong}
        for each in exchanges if said.keep else ():
            same = said.write or digests.line(each) not in gone
            for told in digests.keep(said.keep, each, same):
                print(told)
    if said.write:
        digests.write(now)
    print(f"{sum(map(len, now.values()))} exchanges, {differ} {'written anew' if said.write else 'not as they were'}")
    return 1 if differ and not said.write else 0


if __name__ == "__main__":
    sys.exit(main())
