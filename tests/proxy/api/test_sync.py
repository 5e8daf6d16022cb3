"""What another machine sends, over HTTP: nobody learns of another's memories by it, and nothing that was forgotten
comes back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from proxy.auth.tokens import FILE, TokenRole, new_token, read_tokens, write_tokens
from tests.proxy.api.asking import Asking
from tests.proxy.drafts import draft
from tests.running import Running

OLD, NEW = "The porch sensor reads two degrees high.", "The porch sensor reads three degrees high."


def record(owner: str, text: str) -> dict[str, Any]:
    return {**draft(owner, text), "state": "active"}


async def test_a_person_learns_only_of_their_own_memories_whether_they_are_there(proxy: Running, ask: Asking) -> None:
    rex = (await ask("POST", "api/remember?user=bob", {"text": "Bob's dog is called Rex."}, status=201))["id"]
    cat = (await ask("POST", "api/remember?user=ann", {"text": "Ann's cat is called Zorro."}, status=201))["id"]
    text, made = new_token("ann", TokenRole.USER, datetime.now(UTC), "ann")
    file = proxy.edge.settings.home / FILE
    write_tokens(file, [*read_tokens(file), made])
    ann = Asking(proxy, text)
    assert (await ann("POST", "api/sync/there", {"ids": [rex, cat]}))["there"] == [cat]
    assert (await ask("POST", "api/sync/there?user=bob", {"ids": [rex, cat]}))["there"] == [rex]
    await ask("POST", "api/quarantine?user=ann", {"since": "2020-01-01"})
    assert (await ann("POST", "api/sync/there", {"ids": [cat]}))["there"] == [cat], "in quarantine, too"


async def test_what_was_forgotten_does_not_come_back_as_a_change(ask: Asking) -> None:
    gone = (await ask("POST", "api/remember", {"text": NEW}, status=201))["id"]
    await ask("POST", "api/forget", {"ids": [gone]})
    held = record("u:/local", OLD)
    assert (await ask("POST", "api/sync", {"new": [held]}))["new"] == 1
    done = await ask("POST", "api/sync", {"changed": [{**held, "text": NEW.upper()}]})
    assert (done["changed"], done["buried"]) == (0, [held["id"]])
    assert (await ask("GET", f"api/facts/{held['id']}"))["text"] == OLD
    done = await ask("POST", "api/sync", {"changed": [{**held, "pinned": True}]})
    assert (done["changed"], done["buried"]) == (1, [])
