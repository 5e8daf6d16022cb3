"""The five APIs, as far as the cases need them: one file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from proxy.conformance.formats.api_format import ApiFormat
from proxy.conformance.formats.chat import CHAT
from proxy.conformance.formats.gemini import GEMINI
from proxy.conformance.formats.messages import MESSAGES
from proxy.conformance.formats.ollama import OLLAMA
from proxy.conformance.formats.responses import RESPONSES

FORMATS: Final[Mapping[str, ApiFormat]] = {each.name: each for each in (CHAT, RESPONSES, MESSAGES, GEMINI, OLLAMA)}
"""The formats by their names."""
