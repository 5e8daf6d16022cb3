"""Why the newest request stands as it does: what was added since its person last spoke, from where, what was not."""

from __future__ import annotations

from tests.proxy.api.asking import Asking
from tests.running import Running

TOLD = "The nightly export to Lisbon failed: the certificate of the mail relay had run out. Rosa renews it by hand."
RULE = "We always use pnpm instead of npm in this project."
ASKED = "Why did the export to Lisbon fail the last time?"


async def test_what_was_added_is_told_with_its_source(proxy: Running, ask: Asking) -> None:
    await proxy.chat(TOLD, "Understood.", RULE, session="first")
    await proxy.learned()
    await proxy.chat(ASKED, session="second")
    await proxy.learned()
    told = await ask("GET", "api/why?project=loom")
    assert told["project"] == "loom" and told["asked"] == ASKED and told["nothing"] == ""
    assert [(each["text"], each["origin"]) for each in told["added"]] == [(TOLD, "user")]
    assert told["added"][0]["why"]["coverage"] > 0 and told["added"][0]["tokens"] > 0
    assert [each["text"] for each in told["page"]] == [RULE]
    assert told["receipt"]["recall_tokens"] > 0 and told["earlier"] == 0
    assert (await ask("GET", "api/why")) == told


async def test_of_a_tool_loop_it_is_all_that_came_since_the_person_spoke(proxy: Running, ask: Asking) -> None:
    await proxy.chat(TOLD, session="first")
    await proxy.learned()
    await proxy.chat(ASKED, session="second")
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    loop = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "two files"},
    ]
    headers = {"x_session_id": "second", "x_palimpsest_project": "loom"}
    await proxy.post("/v1/chat/completions", {"model": "m", "messages": loop}, **headers)
    await proxy.learned()
    told = await ask("GET", "api/why?project=loom")
    assert told["asked"] == ASKED and [each["text"] for each in told["added"]] == [TOLD]
    assert told["receipt"]["recall_tokens"] == 0
    loop += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks!"}]
    await proxy.post("/v1/chat/completions", {"model": "m", "messages": loop}, **headers)
    await proxy.learned()
    told = await ask("GET", "api/why?project=loom")
    assert told["added"] == [] and told["earlier"] == 1 and told["nothing"] == "asks nothing"


async def test_what_was_looked_at_and_left_out_says_why(proxy: Running, ask: Asking) -> None:
    await proxy.chat(TOLD, "Understood.", RULE, session="first")
    await proxy.learned()
    await proxy.chat("What is the capital of Mongolia, and who is in the export business there?", session="second")
    await proxy.learned()
    told = await ask("GET", "api/why?project=loom")
    assert told["added"] == [] and told["nothing"] == "found nothing that belongs here"
    assert {each["fate"] for each in told["left"]} <= {"below the floor", "stands in the request already"}
    assert TOLD in [each["text"] for each in told["left"]]


async def test_another_project_and_another_person_are_not_told(proxy: Running, ask: Asking) -> None:
    await proxy.chat(TOLD, session="first")
    await proxy.learned()
    refused = await ask("GET", "api/why?project=zoo", status=404)
    assert "'zoo'" in refused["error"]
    assert "the last ones were in loom (--project names one)" in refused["error"]
    of_bob = await ask("GET", "api/why?project=loom&user=bob", status=404)
    assert "the last ones" not in of_bob["error"]


async def test_what_was_forgotten_since_is_a_number(proxy: Running, ask: Asking) -> None:
    await proxy.chat(TOLD, session="first")
    await proxy.learned()
    await proxy.chat(ASKED, session="second")
    await proxy.learned()
    [added] = (await ask("GET", "api/why?project=loom"))["added"]
    await ask("POST", "api/forget", {"ids": [added["id"]]})
    told = await ask("GET", "api/why?project=loom")
    assert told["added"] == [] and TOLD not in str(told["left"])
