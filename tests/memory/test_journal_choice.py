"""A journal keeps what the settings of its start let stand, whatever those of an earlier start in the process were."""

from __future__ import annotations

from pathlib import Path

from memory.bootstrap import open_memory
from memory.scope import Layer, Scope
from memory.settings import MemorySettings, NumberKind, PolicySettings
from tests.memory.services.person.test_commands import unguarded
from tests.memory.stores.derived_facts import exchange, session, user

ADA = Scope("acme", "ada", "loom")
TEXT = "The account is DE89 3704 0044 0532 0130 00."


async def kept(home: Path, also: tuple[NumberKind, ...]) -> str:
    """What is kept of the text where the organisation redacts cards, and everybody these as well."""
    settings = MemorySettings(policies={"acme": PolicySettings(redact=("cards",))}, redact=also)
    memory = await open_memory(settings, home, unguarded)
    assert memory is not None
    said = user(TEXT)
    await memory.journal.commit(exchange("e1", [said], of=session("s1", ADA)))
    [found] = await memory.journal.messages_by_digest(ADA.owner(Layer.USER) or "", said.digest.hex())
    await memory.close()
    return found.message.text


async def test_what_an_organisation_redacts_follows_the_settings_of_everybody(tmp_path: Path) -> None:
    assert await kept(tmp_path / "one", ()) == TEXT
    assert await kept(tmp_path / "two", ("ibans",)) == "The account is [secret: iban]."
    assert await kept(tmp_path / "three", ()) == TEXT
