"""Random bodies of each dialect, in random spelling: what hypothesis draws for the laws."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import strategies as st

words = st.text(
    alphabet=st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('"\\/\n\t{}[],:é😀')), max_size=12
)
said = words.filter(lambda text: bool(text))
numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)


class Exact(str):
    """A string that is spelt in some way, but says exactly this: an id, a name, JSON text."""


class Twice(dict[str, Any]):
    """An object in which some keys stand twice: what stood there first does not count."""

    def __init__(self, value: dict[str, Any], first: dict[str, Any]) -> None:
        super().__init__(value)
        self.first = first

    def items(self) -> Any:
        return [*self.first.items(), *super().items()]


def spelt(value: Any, rng: random.Random) -> str:
    """A value as JSON, with white space and escapes wherever they may stand."""
    space = rng.choice(["", "", "", " ", "\n", "\t ", "\r\n"])
    match value:
        case dict():
            pairs = [f"{space}{_string(key, rng)}{space}:{space}{spelt(inner, rng)}" for key, inner in value.items()]
            return "{" + ",".join(pairs) + space + "}"
        case list():
            return "[" + space + f"{space},".join(spelt(inner, rng) for inner in value) + space + "]"
        case str():
            return _string(value, rng)
    return json.dumps(value)


def _string(text: str, rng: random.Random) -> str:
    exact = not text or text in _NAMES or isinstance(text, Exact)
    lone = "" if exact else rng.choice(["", "", "", "", "\\ud83d", "\\udc00x"])
    return json.dumps(text, ensure_ascii=rng.random() < 0.5)[:-1] + lone + '"'


# Words of the formats: they mean something, so they are left as they are.
_NAMES = {
    *("model", "messages", "input", "role", "content", "type", "text", "user", "assistant", "system", "tool"),
    *("tool_call_id", "tool_use_id", "tool_result", "tool_use", "id", "name", "call_id", "output", "arguments"),
    *("message", "function_call", "function_call_output", "input_text", "output_text", "image", "image_url", "url"),
    *(
        "function",
        "tool_calls",
        "custom",
        "input",
        "arguments",
        "reasoning",
        "summary",
        "encrypted_content",
        "phase",
    ),
    *("reasoning_content", "data", "cache_control", "citations", "annotations", "refusal", "name"),
    *("function", "tool_calls", "developer", "is_error", "signature", "thinking", "source", "stream"),
    *("contents", "parts", "functionCall", "functionResponse", "response", "args", "thought", "thoughtSignature"),
    *("inlineData", "fileData", "mimeType", "output", "error"),
}


def extra(taken: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Fields that no dialect knows."""
    return st.dictionaries(words.filter(lambda key: key not in _NAMES and key not in taken), values, max_size=2)


def _parts(kind: str) -> st.SearchStrategy[list[Any]]:
    text = st.builds(lambda text, more: {**more, "type": kind, "text": text}, said, extra(()))
    other = st.builds(lambda more: {**more, "type": "mystery"}, extra(()))
    return st.lists(st.one_of(text, text, other), max_size=3)


def _content(kind: str) -> st.SearchStrategy[Any]:
    return st.one_of(words, _parts(kind), st.none())


def _with_extra(message: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda fields, more: {**more, **fields}, message, extra(()))


chat_messages = _with_extra(
    st.one_of(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "system", "assistant", "wizard"]), "content": _content("text")}
        ),
        st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": words, "content": _content("text")}),
        values.filter(lambda value: isinstance(value, dict)),
    )
)
responses_items = _with_extra(
    st.one_of(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "system", "assistant"]), "content": _content("input_text")},
            optional={"type": st.just("message")},
        ),
        st.fixed_dictionaries(
            {"type": st.just("function_call_output"), "call_id": words, "output": _content("input_text")}
        ),
        st.fixed_dictionaries({"type": st.just("function_call"), "call_id": words, "arguments": words}),
        st.fixed_dictionaries({"type": st.just("mystery")}),
    )
)
_result = _with_extra(
    st.fixed_dictionaries({"type": st.just("tool_result"), "tool_use_id": words, "content": _content("text")})
)
anthropic_messages = _with_extra(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "user", "assistant"]),
            "content": st.one_of(
                _content("text"), st.builds(lambda parts, result: [*parts, result], _parts("text"), _result)
            ),
        }
    )
)

_gemini_parts = st.lists(
    st.one_of(
        st.builds(lambda text, more: {**more, "text": text}, said, extra(())),
        st.builds(lambda text: {"functionResponse": {"name": "f", "response": {"output": text}}}, words),
        st.builds(lambda value: {"functionResponse": {"id": "i", "response": value}}, values),
        st.builds(lambda text: {"text": text, "thought": True}, words),
        st.just({"inlineData": {"mimeType": "image/png", "data": "iVBO"}}),
        st.builds(lambda more: {**more, "mystery": 1}, extra(())),
    ),
    max_size=3,
)
gemini_contents = _with_extra(
    st.one_of(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "user", "model"]), "parts": _gemini_parts}),
        st.fixed_dictionaries({"parts": st.one_of(_gemini_parts, st.none())}),
    )
)

ollama_messages = _with_extra(
    st.one_of(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "system", "assistant", "tool"]), "content": st.one_of(words, st.none())},
            optional={"images": st.lists(words, max_size=2), "thinking": words},
        ),
        values.filter(lambda value: isinstance(value, dict)),
    )
)

MESSAGES: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "/chat/completions": ("messages", chat_messages),
    "/responses": ("input", responses_items),
    "/messages": ("messages", anthropic_messages),
    ":generateContent": ("contents", gemini_contents),
    "/api/chat": ("messages", ollama_messages),
}


@st.composite
def bodies(draw: st.DrawFn, path: str) -> bytes:
    """A body of the dialect at a path."""
    field, messages = MESSAGES[path]
    value = {
        **draw(extra((field, "model"))),
        "model": "m",
        field: draw(st.lists(messages, max_size=4)),
        **draw(extra((field, "model"))),
    }
    rng = draw(st.randoms(use_true_random=False))
    mark = rng.choice(["", "", "\ufeff"])
    return (mark + spelt(value, rng)).encode()
