"""One session as a client sends it, recorded for the tests: ``make e2e ARGS='recorded codex'``.

A question; a command that fails, where the client has tools; the session resumed, with a sub-agent, where it has any.
What the client sent is made neutral and put into ``tests/data/requests``, in place of what stood there. Memory takes no
part in it.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from tests.e2e.install import FOLDER, PACKAGES
from tests.e2e.neutral import Neutral
from tests.e2e.script import MARK
from tests.e2e.stage import Failed, Stage
from tests.e2e.tap import NUMBER, Sent

REQUESTS: Final = Path(__file__).resolve().parents[1] / "data" / "requests"
QUESTION: Final = "Which port does the staging gateway listen on?"
FAILURE: Final = "error: libwombat.so.3 not found"
MORE: Final = "Good. What else is there to do?"
ERRAND: Final = "Look how the parser of this project splits a line."
REPORT: Final = "It splits at commas, and knows no quoting rule."
CHANGED: Final = """\
It should keep what is quoted.

parser.py
<<<<<<< SEARCH
    return line.split(",")
=======
    return next(csv.reader([line]))
>>>>>>> REPLACE
"""
"""What a client without tools is answered, so that it changes a file."""
SAID: Final = (QUESTION, FAILURE, MORE, ERRAND, REPORT)

_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key")
NOT_KEPT: Final = ("host", "content-length", "accept-encoding", "connection", "transfer-encoding", *_CREDENTIALS)
"""Headers of the connection and the credential, which whoever sends the body has his own."""
_ADDRESSED = re.compile(r"\A/p/[^/]+")
"""The project in an address, which is no part of what a client says."""


class Recorded(Stage):
    """A session that is recorded."""

    name = "recorded"

    def settings(self) -> Mapping[str, Any]:
        return {"memory": {"page": {"enabled": False}, "recall": {"enabled": False}}}

    async def scenes(self) -> None:
        """All of it."""
        if self.client.tools:
            await self.check("a question, and a command that fails", self._asks)
        else:
            await self.check("a question", lambda: self.turn(QUESTION, say="On 7443."))
        if self.client.delegates:
            await self.check("resumed, with a sub-agent", self._resumes)
        else:
            said = "That is all." if self.client.tools else CHANGED
            await self.check("resumed", lambda: self.turn(MORE, resume=True, say=said))
        await self.check("its requests are written", self._written)

    async def _asks(self) -> None:
        (self.project / "check.sh").write_text(f"echo 'make: checking'; echo '{FAILURE}'; exit 2\n")
        _, forwarded = await self.turn(QUESTION, calls=(self.client.shell("sh check.sh"),), say="On 7443.")
        if not any(FAILURE in one.raw for one in forwarded):
            raise Failed("the command's result was not sent")

    async def _resumes(self) -> None:
        child = self.model.script.add(
            calls=(self.client.read(self.project / "parser.py"), *self.client.reports(REPORT)), say=REPORT
        )
        calls = self.client.delegate(f"{ERRAND} {child.mark}")
        await self.turn(MORE, resume=True, calls=calls, say="That is all.")
        if not self.model.of_step(child.number):
            raise Failed("the sub-agent sent nothing")

    async def _written(self) -> None:
        forwarded = {one.headers.get(NUMBER): one for one in self.model.seen}
        sent = [one for one in self.tap.sent if str(one.number) in forwarded]
        if not all(forwarded[str(one.number)].raw.encode() == one.raw for one in sent):
            raise Failed("memory took part in it")
        place = self.client.place
        neutral = Neutral(
            {
                str(place.projects[0]): "/srv/gate",
                str(place.projects[1]): "/srv/other",
                str(place.home): "/home/ada",
                str(place.temporary): "/tmp/ada",
                str(place.packages): "/opt/client",
                str(FOLDER): "/opt",
                platform.release(): "6.1.0",
                f"host={platform.node()}": "host=box",
            },
            date.today(),
        )
        told = {"client": PACKAGES[self.client.name], "requests": [recorded(one, neutral) for one in sent]}
        REQUESTS.mkdir(exist_ok=True)
        text = neutral_json(told)
        if left := [
            name for name in (str(FOLDER.parent), os.environ.get("USER", "")) if len(name) > 4 and name in text
        ]:
            raise Failed(f"{left} is still in it")
        (REQUESTS / f"{self.client.name}.json").write_text(text, encoding="utf-8")


def recorded(one: Sent, neutral: Neutral) -> dict[str, Any]:
    """A request as it is kept."""
    headers = {name: neutral.text(value) for name, value in one.headers.items() if name not in NOT_KEPT}
    found = MARK.search(one.raw.decode())
    said = (*SAID, found[0]) if found else SAID
    path = _ADDRESSED.sub("", neutral.text(one.path))
    return {"path": path, "headers": headers, "body": neutral.body(one.body, said)}


def neutral_json(told: Mapping[str, Any]) -> str:
    """A request a line, so that a change can be read."""
    lines = [json.dumps(one, ensure_ascii=False) for one in told["requests"]]
    return f'{{"client": {json.dumps(told["client"])}, "requests": [\n' + ",\n".join(lines) + "\n]}\n"
