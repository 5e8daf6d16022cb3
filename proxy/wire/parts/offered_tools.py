"""The tools that a request offers."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from proxy.wire.slice_cache import SliceCache
from proxy.wire.slices import is_list, text_of


def offered(
    tools: msgspec.Raw | None, names: Callable[[msgspec.Raw], tuple[str, ...]], memo: SliceCache
) -> tuple[tuple[str, ...], str]:
    """The names of the tools, as the dialect finds them, and the JSON text of their definitions; remembered, since
    they come again with every request of a session."""
    if tools is None or not is_list(tools):
        return (), ""
    return memo.of(tools, "tools", lambda raw: (names(raw), text_of(raw)))
