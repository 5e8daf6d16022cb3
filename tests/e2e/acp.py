"""One turn with a client that resumes its sessions for an editor only, by the Agent Client Protocol on its stdin and
stdout: ``python acp.py NOTE PROMPT [--resume] -- PROGRAM …``. What the agent says in it is written out.

``NOTE`` is the file in which the folder's last session is named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

ALLOWED = ("allow_always", "allow_once")
"""Kinds of answers, the best first, to an agent that asks whether it may use a tool."""


class Refused(Exception):
    """The agent answered with an error, or not at all."""


class Agent:
    """An agent, spoken to line by line."""

    def __init__(self, reads: IO[str], writes: IO[str]) -> None:
        self._reads, self._writes = reads, writes
        self._asked = 0
        self.said = ""

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a call. What the agent asks meanwhile is answered, and what it says is ``said``.

        Raises:
            Refused: with the agent's own words.
        """
        self._asked += 1
        self.said = ""
        self._send({"id": self._asked, "method": method, "params": params})
        for told in self._heard():
            if told.get("id") == self._asked and "method" not in told:
                if "error" in told:
                    raise Refused(f"{method}: {told['error']}")
                return told.get("result") or {}
            if told.get("method") == "session/request_permission":
                self._send({"id": told["id"], "result": {"outcome": allowed(told["params"]["options"])}})
            elif told.get("method") == "session/update":
                self.said += spoken_in(told["params"]["update"])
            elif "id" in told and "method" in told:
                self._send({"id": told["id"], "error": {"code": -32601, "message": "not offered here"}})
        raise Refused(f"{method}: the agent ended")

    def _heard(self) -> Iterator[dict[str, Any]]:
        for line in self._reads:
            if line.startswith("{"):
                yield json.loads(line)

    def _send(self, message: Mapping[str, Any]) -> None:
        self._writes.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._writes.flush()


def spoken_in(update: Mapping[str, Any]) -> str:
    """What an update tells of the agent's own words."""
    return str(update["content"].get("text", "")) if update["sessionUpdate"] == "agent_message_chunk" else ""


def allowed(options: list[Mapping[str, Any]]) -> dict[str, str]:
    """The answer that lets a tool be used."""
    chosen = min(options, key=lambda each: [*ALLOWED, each["kind"]].index(each["kind"]))
    return {"outcome": "selected", "optionId": str(chosen["optionId"])}


def main(note: Path, prompt: str, resume: bool, command: list[str]) -> None:
    """One turn in this folder."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    agent = Agent(process.stdout, process.stdin)
    files = {"readTextFile": False, "writeTextFile": False}
    agent.ask("initialize", protocolVersion=1, clientCapabilities={"fs": files})
    here = os.getcwd()
    sessions: dict[str, str] = json.loads(note.read_text()) if note.exists() else {}
    place = {"cwd": here, "mcpServers": list[str]()}
    if resume:
        agent.ask("session/load", sessionId=sessions[here], **place)
    else:
        sessions[here] = agent.ask("session/new", **place)["sessionId"]
        note.write_text(json.dumps(sessions))
    told = agent.ask("session/prompt", sessionId=sessions[here], prompt=[{"type": "text", "text": prompt}])
    print(agent.said)
    process.kill()
    if told.get("stopReason") != "end_turn":
        sys.exit(f"the turn ended with {told}")


if __name__ == "__main__":
    at = sys.argv.index("--")
    main(Path(sys.argv[1]), sys.argv[2], "--resume" in sys.argv[3:at], sys.argv[at + 1 :])
