"""Which provider answers a request: the first route that fits its dialect and model, else the default."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from proxy.settings import Route, UpstreamSettings


def route_of(settings: UpstreamSettings, dialect: str, model: str) -> Route | None:
    """The route that a request of a known dialect takes; None for the default."""
    for route in settings.routes:
        if route.dialect in ("*", dialect) and fnmatchcase(model, route.model):
            return route
    return None


def base_of(settings: UpstreamSettings, dialect: str, model: str) -> str:
    """The base address for a request of a known dialect."""
    route = route_of(settings, dialect, model)
    if route is not None and route.url:
        return route.url
    if settings.url:
        return settings.url
    return settings.anthropic if dialect == "anthropic-messages" else settings.openai


def base_for_path(settings: UpstreamSettings, path: str, headers: Mapping[str, str]) -> str:
    """The base address for a path that is passed through; whose API it is, its headers tell."""
    if settings.url:
        return settings.url
    anthropic = (
        "anthropic-version" in headers
        or "x-api-key" in headers
        or path.startswith(("/v1/messages", "/messages", "/api/"))
        or headers.get("user-agent", "").startswith(("claude-cli", "Claude", "Anthropic/"))
    )
    return settings.anthropic if anthropic else settings.openai
