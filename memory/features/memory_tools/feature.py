"""Memory's tools, behind the hooks: answered, and offered for the length of a session."""

from __future__ import annotations

from typing import Any

from memory.features.memory_tools.offering import ToolOffering
from memory.features.memory_tools.tools import MemoryTools
from memory.hooks.feature import Core, Feature
from memory.services.tiers.content import Contents
from memory.services.tool_calls import AnswersTools, OffersTools


class MemoryToolsFeature(Feature):
    """The feature."""

    name = "memory_tools"

    def __init__(self, core: Core) -> None:
        settings = core.settings.tools
        self.offering = ToolOffering(core.sessions, settings.offer)
        self.tools = MemoryTools(
            settings.tokens,
            core.journal,
            core.recall,
            core.commands,
            core.learner,
            Contents(core.journal).content,
            core.new_id,
            core.now,
        )

    def port(self, kind: type[Any]) -> Any:
        return {AnswersTools: self.tools, OffersTools: self.offering}.get(kind)


FEATURE = MemoryToolsFeature
