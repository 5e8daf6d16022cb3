"""What a server keeps of sessions that are over is bounded: see ``python -m tests.bench.kept``."""

from __future__ import annotations

from pathlib import Path

from tests.bench.kept import BOUNDS, WITHOUT, grown, halves

SESSIONS = 10


async def test_nothing_grows_with_the_sessions_but_what_has_a_bound(tmp_path: Path) -> None:
    before, after = await halves(tmp_path / "home", SESSIONS, night=False)
    found = grown(before, after, SESSIONS // 2)
    assert found.keys() <= BOUNDS.keys(), found
    assert "proxy.wire.slices.SliceCache._known" in found, "what is known to grow is seen"
    assert {name for name, (_, most) in after.cached.items() if most is None} <= WITHOUT
