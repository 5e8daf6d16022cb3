"""goose, by requests as 1.52 sent them: its surroundings, and summaries that no person said."""

from pathlib import Path

from proxy.runtimes import recognise
from proxy.runtimes.goose import Goose
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.runtimes.senders import CHAT, SENDERS
from tests.proxy.runtimes.views import view
from tests.running import running

BEHIND = (
    "<turn-context>\n<current-time>2026-11-26 17:21:00 +00:00</current-time>\n"
    "<working-directory>/srv/gate</working-directory>\n</turn-context>"
)
COMPACTED = (
    "Your context was compacted. The previous message contains a summary of the conversation so far.\n"
    "Just continue the conversation naturally."
)
HEADERS = {"agent-session-id": "20261126_3"}


def test_its_directory_stands_behind_what_a_person_said() -> None:
    assert Goose().place(view(("user", f"Look at the gate.\n{BEHIND}"))).directory == "/srv/gate"
    compacted = view(("user", "a summary"), ("assistant", COMPACTED), ("user", f"Go on.\n{BEHIND}"))
    assert Goose().place(compacted).directory == "/srv/gate"
    assert Goose().place(view(("user", "What is a <turn-context>?"))).directory is None


def test_a_sub_agent_has_a_session_of_its_own_and_says_what_it_was_asked() -> None:
    asked = view(
        ("user", f"Subagent ID: 20261126_5\n\nLook at the parser.\n{BEHIND}"),
        system="You are a specialized subagent within the goose AI framework, created by AAIF.",
    )
    [message] = asked.conversation.messages
    assert message.spoken == "Look at the parser."
    assert recognise({}, asked).is_subagent({}, asked)
    assert recognise(HEADERS, asked).identity(HEADERS, asked).session == "20261126_3"


def test_a_summary_is_nobodys_words_in_whatever_form_the_model_wrote_it() -> None:
    formed = view(("user", "# Conversation Summary\n\n## User Messages\n- I always want tabs in C files."))
    assert not formed.conversation.messages[0].spoken
    free = view(("user", "I always want tabs in C files."), ("assistant", COMPACTED), ("user", "Go on."))
    assert [each.spoken for each in Goose().attributed(free.conversation).messages] == ["", "", "Go on."]
    talk = view(("user", "I always want tabs."), ("assistant", "Yes."), ("user", "Go on.")).conversation
    assert Goose().attributed(talk) is talk


async def test_nothing_is_learnt_from_a_summary(tmp_path: Path) -> None:
    sender = SENDERS[f"goose over {CHAT}"]
    summarized = (("human", "Our database is called kestrel."), ("assistant", COMPACTED), ("human", "Go on."))
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.post(CHAT, sender.body(summarized), **sender.headers)
        await proxy.learned()
        found = await asking(proxy)("GET", "api/facts")
    assert not [each for each in found["facts"] if "kestrel" in each["text"]], found
