"""What a tool of memory's answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A tool's answer; ``memories`` are the ids of what stands in it, and ``failed`` says that nothing was done."""

    text: str
    memories: tuple[str, ...] = ()
    failed: bool = False
