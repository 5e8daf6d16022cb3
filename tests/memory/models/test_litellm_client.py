"""What is changed of litellm."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from memory.models.litellm_client import _stream_what_is_not_known


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of litellm's that decides, as far as it is used."""
    found = type("OpenAIResponsesAPIConfig", (), {})
    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(OpenAIResponsesAPIConfig=found))
    return found


def test_a_model_streams_unless_it_is_known_not_to(config: Any) -> None:
    _stream_what_is_not_known(SimpleNamespace(model_cost={"slow": {"supports_native_streaming": False}, "o": {}}))
    asked = config().should_fake_stream
    assert asked("slow", True, "openai") and asked("openai/slow", True)
    assert not asked("o", True) and not asked("unheard-of", True) and not asked("slow", False)
    assert not asked("o", True, custom_llm_provider="openai", whatever_else="a later version asks")


def test_a_litellm_of_another_shape_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace())
    _stream_what_is_not_known(SimpleNamespace(model_cost={}))
