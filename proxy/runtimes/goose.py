"""goose: an id in a header, its surroundings behind what a person said, summaries in the user's role."""

from __future__ import annotations

import re
from dataclasses import replace

from memory.conversation import Conversation, Role
from memory.session import Patience, RequestKind
from proxy.runtimes.environment import ClientEnvironment, place_in
from proxy.runtimes.runtime import BEGINNING, Headers, Identity, Runtime, SideRequestSign, preamble
from proxy.wire.dialect import RequestView

_SESSION = "agent-session-id"
_TURN_CONTEXT = re.compile(r"<turn-context>[^<]{0,20}<current-time>[\s\S]{0,2000}?</turn-context>")
_COMPACTED = "Your context was compacted. The previous message contains a summary"
"""How the words begin that it puts into the model's mouth behind a summary."""


class Goose(Runtime):
    """goose, over any format. It compacts by the tokens that are reported."""

    name = "goose"
    offers_tools = True
    patience = Patience(share=0.8)
    signs = (
        SideRequestSign(
            RequestKind.COMPACTION, False, system="An llm context limit was reached when a user", tools=False
        ),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By a header that only it sends, by its user agent, or by its prompts."""
        if _SESSION in headers or headers.get("user-agent", "").lower().startswith("goose"):
            return True
        opening = preamble(view)[:2000]
        return "AI agent called goose" in opening or "subagent within the goose AI framework" in opening

    def own_identity(self, headers: Headers, view: RequestView) -> Identity:
        """Each agent has a session of its own, sub-agents too; whose a sub-agent is, it does not say."""
        return Identity(headers.get(_SESSION))

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """By its own system prompt."""
        return "specialized subagent within the goose" in preamble(view)[:2000]

    def place(self, view: RequestView) -> ClientEnvironment:
        """Its directory stands behind what a person said, in the same text."""
        for message in view.conversation.messages[:BEGINNING]:
            if message.role is Role.USER and (told := _TURN_CONTEXT.search(message.text)):
                return place_in(told[0])
        return super().place(view)

    def attributed(self, conversation: Conversation) -> Conversation:
        """When it has compacted a session, the model's summary stands in the user's role, as the model wrote it where
        that was not in the form it asked for: only what follows tells that no person said it."""
        messages = conversation.messages
        summaries = {
            index - 1
            for index, message in enumerate(messages[:BEGINNING])
            if index and message.role is Role.ASSISTANT and message.text.startswith(_COMPACTED)
        }
        if not any(messages[index].spoken for index in summaries):
            return conversation
        told = [replace(each, spoken="") if index in summaries else each for index, each in enumerate(messages)]
        return replace(conversation, messages=told)
