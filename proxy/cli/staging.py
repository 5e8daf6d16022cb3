"""What is imported and waits for a person's word: put into quarantine while it comes, and told in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memory.learning.notes import RUNTIME
from proxy.cli import output, wording
from proxy.cli.server import RunningServer
from proxy.cli.transcripts import chats
from proxy.cli.transcripts.found import ImportSourceKind

WAITING = {
    ImportSourceKind.CHATGPT: chats.CHATGPT,
    ImportSourceKind.CLAUDE_AI: chats.CLAUDE_AI,
    ImportSourceKind.NOTES: RUNTIME,
}
"""What was not said to an agent at work waits for a person's word, by the program that it counts as."""

STRONGEST = 10
"""Findings that are told."""

TURNS = 200
"""Turns after which what was learned of them is put away: so long some of it could be recalled."""

_FINDINGS = ("decision", "preference", "convention", "correction")


class Staging:
    """Puts what is imported away, session by session. With ``on`` False nothing is."""

    def __init__(self, server: RunningServer, asked: Mapping[str, Any], on: bool) -> None:
        self._server = server
        self._asked = {"user": asked["user"]}
        self._on = on
        self._waiting: list[str] = []
        self._turns = 0
        self._programs: set[str] = set()
        self.found: list[dict[str, Any]] = []

    def heard(self, kind: ImportSourceKind, told: Mapping[str, Any]) -> None:
        """A session was taken in."""
        if not self._on or kind not in WAITING or not told.get("new"):
            return
        self._programs.add(WAITING[kind])
        self._waiting.append(told["session"])
        self._turns += int(told["new"])
        if self._turns >= TURNS:
            self.put_away()

    def put_away(self) -> None:
        """Put into quarantine what was learned of the sessions that came since the last time."""
        if self._waiting:
            told = self._server.ask(
                "POST", "api/quarantine", self._asked, {"sessions": self._waiting, "for_review": True}
            )
            self.found += [each for each in told["memories"] if each["sort"] == "fact"]
        self._waiting, self._turns = [], 0

    @property
    def programs(self) -> Sequence[str]:
        """As what it came."""
        return sorted(self._programs)

    def told(self) -> dict[str, Any]:
        """For a program."""
        return {"programs": self.programs, "facts": dict(_kinds(self.found)), "strongest": strongest(self.found)}


def strongest(facts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a person said to hold, the weightiest first."""
    said = [each for each in facts if each["kind"] in _FINDINGS and each["origin"] == "user"]
    said = [each for each in said if each["sensitivity"] == "normal"]
    return sorted(said, key=lambda each: (-each["confidence"] * each["importance"], each["id"]))[:STRONGEST]


def tell_staged(staging: Staging) -> None:
    """Tell what waits, and how to decide about it."""
    console, me = output.screen(), wording.program()
    if not staging.programs:
        return
    kinds = ", ".join(wording.count(number, kind) for kind, number in _kinds(staging.found))
    console.print(f"\nfound: {kinds or 'no fact, only talk'}. Nothing of it is used before you say so.")
    for each in strongest(staging.found):
        console.print(f"  {each['kind']}: {output.memory_text(each)}", highlight=False, markup=False)
    for program in staging.programs:
        ways = (
            ("quarantine", "all that waits"),
            (f"quarantine --release --from program={program}", "use it"),
            (f"forget ID, or --from program={program}", "forget one, or all"),
        )
        widest = max(len(way) for way, _ in ways)
        for way, does in ways:
            # A command that is cut in two cannot be copied.
            console.print(f"  {me} {way:<{widest}}  {does}", highlight=False, soft_wrap=True)


def _kinds(facts: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return Counter(each["kind"] for each in facts).most_common()
