"""The one door to litellm, for routes that are bridged, for remote embeddings and for background model work.

It is opened only where the settings ask for it: the import takes seconds and more than a hundred megabytes, and
reaches for the network unless it is told to keep to the price list that it brings along.
"""

from __future__ import annotations

import importlib
import logging
import os
from importlib.util import find_spec
from typing import Any

log = logging.getLogger(__name__)

PACKAGES = ("litellm", "mcp")
"""What the extra ``bridge`` installs: litellm imports mcp where there are tools, and does not bring it along."""

_INSTALL = "pip install 'palimpsest-proxy[bridge]'"


class LitellmMissing(ImportError):
    """litellm, or what it needs for what it is asked, is not installed; the message says how to mend it."""


def missing() -> list[str]:
    """Which packages of the extra ``bridge`` are not installed; none is imported."""
    return [name for name in PACKAGES if find_spec(name) is None]


def litellm() -> Any:
    """The module, imported at the first call (slow: call it in a thread), told to be quiet and to keep to itself.

    Raises:
        DoorShut: when it is not installed.
    """
    if find_spec("litellm") is None:
        raise LitellmMissing(f"litellm is not installed: {_INSTALL}")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    module: Any = importlib.import_module("litellm")
    module.telemetry = False
    module.suppress_debug_info = True
    return module


def translating_litellm() -> Any:
    """The module, with what it needs to translate between formats.

    Raises:
        DoorShut: when the extra ``bridge`` is not installed.
    """
    if absent := missing():
        raise LitellmMissing(f"a bridge needs {' and '.join(absent)}: {_INSTALL}")
    module = litellm()
    _stream_what_is_not_known(module)
    return module


def _stream_what_is_not_known(module: Any) -> None:
    """Have a Responses provider stream unless its model is known not to.

    Of a model that its table lacks litellm would fetch the whole reply and then cut it up: the client would wait for
    the end, and where it speaks Chat Completions be told a call's arguments twice.
    """

    def known_not_to(
        _: Any, model: str | None, stream: bool | None, custom_llm_provider: str | None = None, **_more: Any
    ) -> bool:
        if not stream or model is None:
            return False
        names = {model, model.rpartition("/")[2], f"{custom_llm_provider}/{model}"}
        known = [module.model_cost[name] for name in names if name in module.model_cost]
        return any(each.get("supports_native_streaming") is False for each in known)

    try:
        config = importlib.import_module("litellm.llms.openai.responses.transformation").OpenAIResponsesAPIConfig
    except (ImportError, AttributeError):
        # A version that has it elsewhere still bridges; it only streams later.
        log.warning("litellm is not as it is known: a provider whose model it does not know may not stream")
        return
    config.should_fake_stream = known_not_to


def provider_error() -> type[Exception]:
    """The class of all that litellm raises for a provider: it takes the OpenAI SDK's."""
    error: type[Exception] = importlib.import_module("openai").OpenAIError
    return error
