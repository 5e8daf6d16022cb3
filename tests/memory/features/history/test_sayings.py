"""All that was said of a memory, over HTTP: by whom, when, in which session, and in which words."""

from __future__ import annotations

from pathlib import Path

from memory.fact import Origin, Sensitivity
from memory.features.history.sayings import said_again
from tests.fake_provider import fake_provider
from tests.memory.stores.derived_facts import fact, passage
from tests.proxy.api.asking import asking
from tests.running import running

RULE = "The staging cluster is called heron, and only Rosa may restart it."
SAID = (RULE, f"Thank you. {RULE}", f"{RULE}\n\nAnd <b>nothing</b> else.")


async def test_a_memory_has_all_its_sayings_from_the_oldest_to_the_newest(tmp_path: Path) -> None:
    async with fake_provider() as upstream, running(upstream, tmp_path / "home") as proxy:
        ask = asking(proxy)
        for number, text in enumerate(SAID):
            await proxy.chat("Hello there.", "Hello.", text, session=f"s{number}")
            await proxy.learned()
        [held] = (await ask("GET", "api/facts?text=heron"))["facts"]
        told = await ask("GET", f"api/facts/{held['id'][:8]}/sayings")
        assert told["id"] == held["id"] and told["sessions"] == 3 and told["later"] is None
        assert [each["text"] for each in told["sayings"]] == list(SAID)
        assert [each["likely"] for each in told["sayings"]] == [False, True, True]
        assert {each["who"] for each in told["sayings"]} == {"user"} and all(each["whole"] for each in told["sayings"])
        assert len({each["session"] for each in told["sayings"]}) == 3
        first = await ask("GET", f"api/facts/{held['id']}/sayings?limit=2")
        assert [each["text"] for each in first["sayings"]] == list(SAID[:2]) and first["later"] == 2
        rest = await ask("GET", f"api/facts/{held['id']}/sayings?limit=2&from=2")
        assert [each["text"] for each in rest["sayings"]] == [SAID[2]] and rest["later"] is None
        await ask("GET", f"api/facts/{held['id']}/sayings?from=x", status=422)
        await ask("GET", f"api/facts/{held['id']}/sayings?user=bob", status=404)


async def test_what_was_written_down_by_hand_was_said_in_its_own_words(tmp_path: Path) -> None:
    async with fake_provider() as upstream, running(upstream, tmp_path / "home") as proxy:
        ask = asking(proxy)
        held = await ask("POST", "api/remember?project=loom", {"text": "Only Rosa restarts heron."}, status=201)
        [said] = (await ask("GET", f"api/facts/{held['id']}/sayings"))["sayings"]
        assert (said["text"], said["who"], said["session"]) == ("Only Rosa restarts heron.", "user", "")


def test_a_message_says_it_again_that_has_most_of_its_words_and_is_the_persons() -> None:
    held = fact("Deploys run on Friday evenings", source=b"a" * 16, origin=Origin.USER)
    own = passage("Fridays, then.", source=b"a" * 16)
    again = passage("As I said: deploys run on Friday evenings.", source=b"b" * 16)
    other = passage("Deploys are slow", source=b"c" * 16)
    agent = passage("Deploys run on Friday evenings, noted.", source=b"d" * 16, speaker="assistant")
    secret = passage("Deploys run on Friday evenings", source=b"e" * 16, sensitivity=Sensitivity.RESTRICTED)
    assert said_again(held, [other, again, agent, secret, own]) == [own, again]
