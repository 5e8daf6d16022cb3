"""opencode: ids in headers for every session and its parent; a title beside the first turn; its own compaction."""

from __future__ import annotations

from memory.session import Patience
from proxy.runtimes.runtime import Headers, Identity, Runtime
from proxy.wire.dialect import RequestView


class OpenCode(Runtime):
    """opencode, over any of the three dialects. A fork of a session has an id of its own and no parent."""

    name = "opencode"
    offers_tools = True
    patience = Patience()

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent."""
        return headers.get("user-agent", "").startswith("opencode/")

    def own_identity(self, headers: Headers, view: RequestView) -> Identity:
        """``x-session-id`` and ``x-parent-session-id``; on the Responses wire the cache key is the session, too."""
        session = headers.get("x-session-id") or headers.get("x-session-affinity")
        return Identity(session, headers.get("x-parent-session-id"))


class Kilo(OpenCode):
    """Kilo's command line: ids, titles and compaction are opencode's."""

    name = "kilo"

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent."""
        return headers.get("user-agent", "").startswith("Kilo-Code/")
