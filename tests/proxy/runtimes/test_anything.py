"""No rule raises on anything that a client may send: they run for every request, before memory is asked."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.runtimes import RUNTIMES, recognise, user_text
from proxy.wire import DIALECTS
from proxy.wire.dialect import BadRequest, Unreadable

_TEXTS = st.sampled_from(
    [
        "Task: x",
        "Runtime: agent=main | session=agent:main:subagent:1",
        "<environment_context><cwd>/a</cwd>",
        "CRITICAL: Respond with TEXT ONLY",
        "\ud800",
        "_session_",
        '{"session_id": 3}',
        '{"workspaces": {"/a": 1}, "request_kind": {}}',
        "[" * 3000,
    ]
) | st.text(max_size=20)
_ANY: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "developer", "tool"]), "content": _TEXTS | _ANY},
    optional={"type": st.sampled_from(["message", "compaction_trigger", "\ud800"])},
)
_FIELDS = ["client_metadata", "metadata", "output_config", "prompt_cache_key", "system", "instructions", "tools"]
_BODY = st.fixed_dictionaries(
    {"model": st.just("m"), "messages": st.lists(_MESSAGE, max_size=4), "input": st.lists(_MESSAGE, max_size=4)},
    optional={
        field: _ANY | st.fixed_dictionaries({"user_id": _TEXTS, "x-codex-turn-metadata": _TEXTS}) for field in _FIELDS
    },
)
_HEADERS = st.dictionaries(
    st.sampled_from(["x-codex-turn-metadata", "thread-id", "x-claude-code-session-id", "x-claude-code-agent-id"])
    | st.sampled_from(["session_id", "x-session-id", "x-palimpsest-session", "user-agent", "x-openai-subagent"]),
    _TEXTS | st.sampled_from(["codex", "claude-cli/2", "opencode/1", "pi (x", "QwenCode/1", "OpenAI/JS"]),
)


@given(_HEADERS, _BODY)
def test_whatever_is_sent_has_a_runtime_a_kind_an_identity_and_a_place(
    headers: dict[str, str], body: dict[str, Any]
) -> None:
    raw = json.dumps(body).encode()
    for dialect in set(DIALECTS.values()):
        try:
            seen = dialect.read(raw, user_text)
        except (BadRequest, Unreadable):
            continue
        recognise(headers, seen)
        for runtime in RUNTIMES:
            runtime.recognises(headers, seen)
            runtime.kind(headers, seen)
            runtime.identity(headers, seen)
            runtime.place(seen)
