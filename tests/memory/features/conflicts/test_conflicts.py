"""What is unsettled, over HTTP; and pairs as values."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from memory.features.conflicts.commands import format_conflicts
from memory.features.conflicts.feature import conflicts
from tests.fake_provider import fake_provider
from tests.memory.context.making import NOW, SAID, fact
from tests.proxy.api.asking import asking
from tests.running import running


def test_what_is_at_odds_as_a_whole_comes_before_exceptions_and_what_is_over_is_none() -> None:
    rule = fact("Tests are written with pytest.", valid_from=SAID)
    part = fact(
        "In staging tests are not written with pytest.", valid_from=SAID + timedelta(days=1), contradicts=(rule.id,)
    )
    port = fact("The gateway listens on 80.", valid_from=SAID)
    other = fact("The gateway listens on 90.", valid_from=SAID, contradicts=(port.id,))
    over = fact("The gateway listens on 70.", valid_from=SAID, contradicts=(port.id,), expires_at=NOW)
    found = conflicts([rule, part, port, other, over], NOW)
    assert [(each.older.id, each.exception) for each in found] == [(min(port.id, other.id), False), (rule.id, True)]


async def test_a_conflict_is_listed_until_a_person_confirms_one_side(tmp_path: Path) -> None:
    async with fake_provider() as upstream, running(upstream, tmp_path / "home") as proxy:
        ask = asking(proxy)
        assert (await ask("GET", "api/conflicts?project=loom")) == {"conflicts": [], "count": 0}
        await ask("POST", "api/remember?project=loom", {"text": "The gateway listens on port 7443."}, status=201)
        new = await ask("POST", "api/remember?project=loom", {"text": "The gateway listens on port 8443."}, status=201)
        listed = await ask("GET", "api/conflicts?project=loom")
        ((newer, older),) = [(each["newer"]["text"], each["older"]["text"]) for each in listed["conflicts"]]
        assert (newer, older) == ("The gateway listens on port 8443.", "The gateway listens on port 7443.")
        assert any("8443" in line for line in format_conflicts(listed))
        assert (await ask("GET", "api/conflicts?project=other"))["count"] == 0
        await ask("POST", f"api/facts/{new['id']}/confirm", {})
        assert (await ask("GET", "api/conflicts?project=loom"))["count"] == 0
