"""What asks for a title or a summary, in words of our own, and what only looks like it."""

from __future__ import annotations

import pytest

from memory.session import RequestKind
from proxy.runtimes import recognise
from proxy.wire.dialect import RequestView
from tests.proxy.runtimes.views import view

MAIN, SIDE, COMPACT = RequestKind.MAIN, RequestKind.SIDE, RequestKind.COMPACTION
TOLD = "[User]: We deploy by hand.\n[Assistant]: I see.\n" * 8
PAST = (("user", "We deploy by hand."), ("assistant", "I see."))

TITLES = [
    view(("user", "We deploy by hand."), system="Generate concise conversation titles.", tools=()),
    view(("system", "Write short titles for chat sessions."), ("user", "We deploy by hand."), tools=()),
    view(("user", "Your task: create a 2-4 word title for this conversation.\n\nRules:\n- Title only."), tools=()),
    view(("user", "Based on the messages above, suggest a title for the session."), tools=()),
    view(("user", "Hello"), system="You are Ada.\nYou are a title generator. You output one line.", tools=()),
    view(("user", f"{TOLD * 3}\nPlease respond with a title for this thread."), tools=()),
    view(*PAST, ("user", "Come up with a headline for this chat."), tools=()),
]

SUMMARIES = [
    view(("user", TOLD), system="You are Ada.\nYou are a context summarization agent.", tools=()),
    view(("user", TOLD), system="You are tasked with summarizing conversations.", tools=()),
    view(("user", TOLD), system="You are an AI assistant that summarizes chat histories.", tools=()),
    view(("user", f"Provide a concise summary of the following conversation.\n\n{TOLD}"), tools=()),
    view(("user", f"Here is what was said:\n\n{TOLD}\n\nCreate a summary of the conversation above."), tools=()),
]

GOING_ON = view(*PAST, ("user", f"Write a detailed summary of our conversation so far. {'Keep every path. ' * 20}"))

NEITHER = [
    view(("user", "Write a title for my blog."), tools=()),
    view(("user", "Summarize our conversation."), tools=()),
    view(*PAST, ("user", "Give me a summary of the session handling in auth.py.")),
    view(*PAST, ("user", "Summarize the conversation we had.")),
    view(("user", f"Write a summary of the chat module. {'Look at each file. ' * 20}")),
    view(("user", "The page has no title, and this conversation has none either."), tools=()),
    view(
        ("user", "Hello"),
        system="You help people. Keep the title of a conversation short if you are asked for one.",
        tools=(),
    ),
    view(
        ("user", "Hello"),
        system=f"You are a coding agent. {'Be careful. ' * 60}\nSummarize the conversation.",
        tools=(),
    ),
    view(("user", "Hello"), system="You answer questions about a chat app. It makes titles for threads.", tools=()),
]


@pytest.mark.parametrize("seen", TITLES)
def test_a_title_is_a_side_request_in_whatever_words(seen: RequestView) -> None:
    assert recognise({}, seen).kind({}, seen).request is SIDE


@pytest.mark.parametrize("seen", SUMMARIES)
def test_a_summary_of_a_transcript_is_a_compaction_of_its_own(seen: RequestView) -> None:
    kind = recognise({}, seen).kind({}, seen)
    assert (kind.request, kind.extends) == (COMPACT, False)


def test_a_summary_behind_a_history_extends_it() -> None:
    kind = recognise({}, GOING_ON).kind({}, GOING_ON)
    assert (kind.request, kind.extends) == (COMPACT, True)


@pytest.mark.parametrize("seen", NEITHER)
def test_a_person_who_speaks_of_titles_and_summaries_is_a_turn(seen: RequestView) -> None:
    assert recognise({}, seen).kind({}, seen).request is MAIN


def test_a_client_that_names_its_sessions_is_unsure_without_tools() -> None:
    named, ours = {"x-session-id": "s1"}, {"x-palimpsest-session": "s1"}
    seen = view(("user", "Hello"), tools=())
    assert recognise(named, seen).kind(named, seen).unsure
    assert not recognise(ours, seen).kind(ours, seen).unsure
    assert not recognise(named, GOING_ON).kind(named, GOING_ON).unsure
