"""What keeps a runtime from compacting a session by itself, while its older parts are shed on the way.

Most runtimes decide by the usage that the provider reports. That is the usage after shedding, so their windows stay
the model's real ones. Those that estimate their own history need a larger window, or their switch. Each line here was
looked up in the runtime's documentation or source, and holds for the version that is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from proxy.connect.plan import ConnectPlan

WINDOW = 200_000
"""Tokens that a model is taken to read at once, where nobody says better."""

TIMES = 4
"""How many times the real window an estimating runtime is told: a session is shed long before its history is so
large, and a single content that fills a whole window is still compacted."""

_BY_USAGE = (
    "It compacts by the usage that the provider reports, which is what is left after shedding: let its window be the "
    "model's real one."
)

Stretch = Callable[[ConnectPlan, int], ConnectPlan]


def stretched(planned: ConnectPlan, window: int) -> ConnectPlan:
    """A plan with what its runtime needs so that it lets long sessions be; ``window`` is what its model really reads
    at once, in tokens."""
    stretch = _STRETCHES.get(planned.runtime)
    return stretch(planned, window) if stretch else planned


def _by_usage(planned: ConnectPlan, window: int) -> ConnectPlan:
    return replace(planned, notes=(*planned.notes, _BY_USAGE))


def _opencode(planned: ConnectPlan, window: int) -> ConnectPlan:
    """1.18: compacts by usage, but would prune old results by its own estimate, which moves the cached prefix."""
    set_ = planned.with_values(planned.changes[0].path, {("compaction", "prune"): False})
    note = "compaction.prune is switched off: what is old is shed on the way, where it pays."
    return replace(set_, notes=(*set_.notes, _BY_USAGE, note))


def _cline(planned: ConnectPlan, window: int) -> ConnectPlan:
    """3.0.65: 90 % of ``contextWindow`` of the provider's settings, by its own estimate of the request."""
    path = ("providers", "openai-compatible", "settings", "contextWindow")
    set_ = planned.with_values(planned.changes[0].path, {path: TIMES * window})
    note = _note("contextWindow", window) + (
        " Where Cline knows the model by itself it may not hold: run cline with --compaction off then."
    )
    return replace(set_, notes=(*set_.notes, note))


def _openclaw(planned: ConnectPlan, window: int) -> ConnectPlan:
    """2026.9: windows stand at each model in a list, which only its user knows, so its switch is set instead. It still
    compacts when a provider says that a request is too long."""
    set_ = planned.with_values(planned.changes[0].path, {("agents", "defaults", "compaction", "enabled"): False})
    note = (
        "It compacts by its own estimate, so agents.defaults.compaction.enabled is false: sessions are shed on the way "
        "instead. When a provider refuses a request as too long it compacts all the same. In versions without that "
        f"switch say contextWindow: {TIMES * window} at each model under models.providers instead."
    )
    return replace(set_, notes=(*set_.notes, note))


def _aider(planned: ConnectPlan, window: int) -> ConnectPlan:
    """0.86: summarizes its history beyond a few thousand tokens, by its own count."""
    set_ = planned.with_values(planned.changes[0].path, {("max-chat-history-tokens",): TIMES * window})
    return replace(set_, notes=(*set_.notes, _note("max-chat-history-tokens", window)))


def _copilot(planned: ConnectPlan, window: int) -> ConnectPlan:
    """1.0.102: 80 % of the largest prompt, by the usage that is reported, and when it resumes by its own estimate."""
    key = "COPILOT_PROVIDER_MAX_PROMPT_TOKENS"
    environment = {**planned.environment, key: str(TIMES * window)}
    return replace(planned, environment=environment, notes=(*planned.notes, _note(key, window)))


def _note(key: str, window: int) -> str:
    return (
        f"It compacts by its own estimate of a history, so {key} is {TIMES * window:,}, {TIMES} times the {window:,} "
        "tokens that the model reads: sessions are shed on the way instead. For another model say --window TOKENS."
    )


_STRETCHES: dict[str, Stretch] = {
    "opencode": _opencode,
    "codex": _by_usage,
    "claude": _by_usage,
    "qwen": _by_usage,
    "crush": _by_usage,
    "kilo": _opencode,
    "pi": _by_usage,
    "cline": _cline,
    "openclaw": _openclaw,
    "aider": _aider,
    "copilot": _copilot,
}
