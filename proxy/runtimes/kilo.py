"""Kilo: built on opencode, whose headers it sends under a name of its own."""

from __future__ import annotations

from proxy.runtimes.opencode import OpenCode
from proxy.runtimes.runtime import Headers
from proxy.wire.dialect import RequestView


class Kilo(OpenCode):
    """Kilo's command line: ids, titles and compaction are opencode's."""

    name = "kilo"

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent."""
        return headers.get("user-agent", "").startswith("Kilo-Code/")
