"""Which provider answers a request: the first route that fits, else the default of its API.

Nothing is guessed: an API that is not known here, and a key that belongs to another company than the address, are
refused in words.

Whether an organisation lets its people's requests go to a provider.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import parse_qs, unquote, urlsplit

from memory.learning.secrets.issued import kind_of
from memory.policy import Policy
from proxy.errors import Refusal
from proxy.settings import UpstreamRoute, UpstreamSettings
from proxy.upstream import chatgpt
from proxy.wire.model_name import GOOGLE_METHOD


class Api(StrEnum):
    """Whose API a path belongs to."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    OLLAMA = "ollama"
    EITHER = "either"
    UNKNOWN = "unknown"


_OPENAI = frozenset(
    {
        "chat", "responses", "completions", "embeddings", "images", "audio", "moderations", "batches", "fine_tuning",
        "vector_stores", "conversations", "assistants", "threads", "realtime", "uploads", "evals", "containers",
        "videos", "edits", "fine-tunes", "rerank", "chatkit", "engines", "organization",
    }
)  # fmt: skip
_ANTHROPIC = frozenset({"messages", "complete", "organizations"})
_GEMINI = frozenset(
    {"models", "tunedModels", "cachedContents", "files", "corpora", "batches", "operations", "auth_tokens"}
)
_OLLAMA = frozenset(
    {"chat", "generate", "tags", "show", "ps", "version", "embed", "embeddings", "pull", "push", "create", "copy"}
    | {"delete", "blobs", "me", "signout", "web_search", "web_fetch"}
)
_GEMINI_VERSION = re.compile(r"v1(alpha|beta)\d{0,2}")
_EITHER = frozenset({"", "models", "files", "skills"})
_CLAUDE_CODE = re.compile(r"/api/(hello|oauth|claude_|claude-code|claude_code|event_logging)")
_CLAUDE_AGENT = re.compile(r"(claude-cli|claude-code|claude|anthropic)\b", re.IGNORECASE)

_COMPANIES_BY_KEY = (
    ("sk-ant-", "Anthropic"),
    ("sk-or-", "OpenRouter"),
    ("sk-lf-", "Langfuse"),
    ("sk-", "OpenAI"),
    ("AIza", "Google"),
    ("AQ.", "Google"),
    ("ya29.", "Google"),
    ("gsk_", "Groq"),
    ("xai-", "xAI"),
    ("hf_", "Hugging Face"),
    ("nvapi-", "NVIDIA"),
    ("pplx-", "Perplexity"),
    ("r8_", "Replicate"),
    ("fw_", "Fireworks"),
    ("tgp_v1_", "Together"),
    ("csk-", "Cerebras"),
    ("ABSK", "Amazon Bedrock"),
    ("bedrock-api-key-", "Amazon Bedrock"),
    *((begin, "GitHub") for begin in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")),
    ("glpat-", "GitLab"),
)
"""Those that models are asked with. Of others the shape tells that they are nobody's here."""
_NOBODYS = re.compile(r"(?:api|live|test|private|webhook|ntlm|palimpsest) |jwt$|$")
_COMPANIES_BY_HOST = {
    "anthropic.com": "Anthropic",
    "openrouter.ai": "OpenRouter",
    "openai.com": "OpenAI",
    "chatgpt.com": chatgpt.COMPANY,
    "googleapis.com": "Google",
    "groq.com": "Groq",
    "x.ai": "xAI",
    "huggingface.co": "Hugging Face",
}
_DIALECTS = {
    Api.OPENAI: frozenset({"*", "openai-chat", "openai-responses"}),
    Api.ANTHROPIC: frozenset({"*", "anthropic-messages"}),
    Api.OLLAMA: frozenset({"*", "ollama-chat"}),
    Api.GEMINI: frozenset({"*", "gemini-generate"}),
    Api.EITHER: frozenset({"*", "openai-chat", "openai-responses", "anthropic-messages"}),
    Api.UNKNOWN: frozenset({"*"}),
}


def route_of(settings: UpstreamSettings, dialect: str, model: str) -> UpstreamRoute | None:
    """The route that a request of a known dialect takes; None for the default."""
    return _first_fitting_route(settings, frozenset({"*", dialect}), model, local=dialect == "ollama-chat")


def base_of(settings: UpstreamSettings, dialect: str, model: str, headers: Mapping[str, str], path: str = "") -> str:
    """The base address for a request of a known dialect.

    Raises:
        Refusal: 501, when its path is that of another provider, and nothing says where it goes; 401, when its key
            belongs to another company.
    """
    route = route_of(settings, dialect, model)
    url = route.url if route is not None and route.url else settings.url
    if url and (route is not None or dialect != "ollama-chat" or is_local(url)):
        return _checked(url, headers, path)
    if dialect.startswith("openai-") and chatgpt.COMPANY in companies_of_keys(headers, path):
        return _chatgpt_login_address(settings, headers, path)
    own = {"anthropic-messages": settings.anthropic, "gemini-generate": settings.gemini, "ollama-chat": settings.ollama}
    base = own.get(dialect, settings.openai)
    # Anthropic speaks OpenAI's chat format, too.
    if dialect == "openai-chat" and company_of(base) == "OpenAI" and "Anthropic" in companies_of_keys(headers, path):
        base = settings.anthropic
    if company_of(base) and api_of(path, headers) is Api.UNKNOWN:
        raise _unknown()
    return _checked_default(base, headers, path)


def base_for_path(settings: UpstreamSettings, path: str, headers: Mapping[str, str], model: str = "") -> str:
    """The base address for a path that is passed through, as it stands behind a URL's prefix.

    Raises:
        Refusal: 501, when nothing says where it goes; 401, when its key belongs to another company.
    """
    api = api_of(path, headers)
    route = _first_fitting_route(settings, _dialects_of_path(path, api), model, local=api is Api.OLLAMA)
    if route is not None:
        if route.bridge:
            message = (
                f"the model {model!r} is reached by a bridge, which carries requests to talk to it and nothing else"
            )
            raise Refusal(501, message, "model")
        return _checked(str(route.url), headers, path)
    if settings.url and (api is not Api.OLLAMA or is_local(settings.url)):
        return _checked(settings.url, headers, path)
    if api in (Api.OPENAI, Api.EITHER, Api.UNKNOWN) and chatgpt.COMPANY in companies_of_keys(headers, path):
        return _chatgpt_login_address(settings, headers, path)
    if api is Api.UNKNOWN:
        raise _unknown()
    if api is Api.OLLAMA:
        return _checked_default(settings.ollama, headers, path)
    if api is Api.GEMINI or (api is Api.EITHER and _shown_as_google(headers, path)):
        base = settings.gemini
    else:
        base = settings.anthropic if api is Api.ANTHROPIC or _is_for_anthropic(api, headers, path) else settings.openai
    return _checked_default(base, headers, path)


def check_bridged(route: UpstreamRoute, headers: Mapping[str, str]) -> None:
    """Whether a request's credential may go over a bridge, where the route names no key of its own.

    Raises:
        Refusal: 401, for a ChatGPT login: it is good at its own host alone.
    """
    if route.key_from is None and chatgpt.COMPANY in companies_of_keys(headers):
        raise Refusal(401, "the login of ChatGPT is not sent over a bridge: name a key with key_from in its route")


def depends_on_model(settings: UpstreamSettings, path: str, headers: Mapping[str, str]) -> bool:
    """Whether where a path goes can depend on the model that its body names."""
    dialects = _dialects_of_path(path, api_of(path, headers))
    return any(route.dialect in dialects and route.model != "*" for route in settings.routes)


def api_of(path: str, headers: Mapping[str, str]) -> Api:
    """Whose API a path belongs to."""
    plain = unquote(path.partition("?")[0])
    segments = plain.strip("/").split("/")
    if segments[0] == "upload" and len(segments) > 1:
        segments = segments[1:]
    version = segments[0]
    if _GEMINI_VERSION.fullmatch(version):
        return Api.GEMINI if segments[1:2] and segments[1] in _GEMINI else Api.UNKNOWN
    if version == "v1":
        segments = segments[1:] or [""]
    if segments[0] in ("models", "tunedModels") and GOOGLE_METHOD.search(segments[-1]):
        return Api.GEMINI
    if segments[0] == "api":
        claude = _CLAUDE_CODE.match(plain) or _CLAUDE_AGENT.match(headers.get("user-agent", ""))
        local = segments[1:2] and segments[1] in _OLLAMA
        return Api.ANTHROPIC if claude else Api.OLLAMA if local else Api.UNKNOWN
    for names, api in ((_OPENAI, Api.OPENAI), (_ANTHROPIC, Api.ANTHROPIC), (_EITHER, Api.EITHER)):
        if segments[0] in names:
            return api
    return Api.UNKNOWN


def companies_of_keys(headers: Mapping[str, str], path: str = "") -> frozenset[str]:
    """Whose keys a request carries, by what they begin with; a key of no known form is nobody's."""
    credentials = [headers.get(name, "") for name in ("authorization", "x-api-key", "api-key")]
    keys = [value.strip().rpartition(" ")[2] for value in credentials]
    googles = _googles_keys(headers, path)
    found = {_company_of_key(key, chatgpt.COMPANY if chatgpt.is_login(headers, key) else "") for key in keys if key}
    # An account that is named beside them says nothing of Google's.
    found |= {_company_of_key(key, chatgpt.COMPANY if chatgpt.is_login({}, key) else "Google") for key in googles}
    return frozenset(found) - {""}


def _googles_keys(headers: Mapping[str, str], path: str) -> list[str]:
    """The keys that are shown in Google's own two ways; there a key of no known form is Google's, too, but that others
    have parameters of that name as well."""
    shown = [headers.get("x-goog-api-key", "").strip()]
    keys = parse_qs(path.partition("?")[2]).get("key", [])
    if api_of(path, headers) in (Api.GEMINI, Api.EITHER):
        shown += keys
    else:
        shown += [key for key in keys if _company_of_key(key, "")]
    return [key for key in shown if key]


def _shown_as_google(headers: Mapping[str, str], path: str) -> bool:
    return any(_company_of_key(key, "Google") == "Google" for key in _googles_keys(headers, path))


def _company_of_key(key: str, otherwise: str) -> str:
    for begin, company in _COMPANIES_BY_KEY:
        if key.startswith(begin):
            return company
    kind = kind_of(key)
    if _NOBODYS.match(kind):
        return otherwise
    company = kind.rpartition(" ")[0]
    known = (name for name in _COMPANIES_BY_HOST.values() if name.casefold() == company.casefold())
    return next(known, company)


@lru_cache(maxsize=64)
def company_of(base: str) -> str:
    """Whose address it is; empty where it is none of the known companies'."""
    host = (urlsplit(base).hostname or "").rstrip(".")
    return next((name for end, name in _COMPANIES_BY_HOST.items() if host == end or host.endswith(f".{end}")), "")


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _first_fitting_route(
    settings: UpstreamSettings, dialects: frozenset[str], model: str, local: bool = False
) -> UpstreamRoute | None:
    """The first route that fits. What is asked of a ``local`` server leaves this machine only where a route names its
    dialect: one for any dialect was not meant for it."""
    for route in settings.routes:
        if route.dialect not in dialects or not fnmatchcase(model, route.model):
            continue
        if not local or route.dialect != "*" or (route.url is not None and is_local(route.url)):
            return route
    return None


def _dialects_of_path(path: str, api: Api) -> frozenset[str]:
    segments = path.partition("?")[0].split("/")
    if "responses" in segments:
        return frozenset({"*", "openai-responses"})
    return frozenset({"*", "openai-chat"}) if "chat" in segments and api is Api.OPENAI else _DIALECTS[api]


def _is_for_anthropic(api: Api, headers: Mapping[str, str], path: str) -> bool:
    """Whether a path that both companies have is meant for Anthropic: its key tells, else its headers."""
    if api is not Api.EITHER:
        return False
    keys = companies_of_keys(headers, path)
    if keys & {"Anthropic", "OpenAI"}:
        return "Anthropic" in keys
    agent = headers.get("user-agent", "")
    return "anthropic-version" in headers or "x-api-key" in headers or _CLAUDE_AGENT.match(agent) is not None


def _chatgpt_login_address(settings: UpstreamSettings, headers: Mapping[str, str], path: str) -> str:
    """The address of a ChatGPT login's requests, whatever ``upstream.openai`` says: that is for API keys."""
    if not chatgpt.has(path):
        raise Refusal(501, "a ChatGPT login reaches what Codex asks for and nothing else: use an API key", "url")
    return _checked(settings.chatgpt, headers, path, chatgpt.COMPANY)


def _unknown() -> Refusal:
    message = "this path is none of OpenAI's, Anthropic's, Gemini's or Ollama's that are known here"
    return Refusal(501, f"{message}: say with upstream.url, or a route for its model, where it goes", "url")


def _checked_default(base: str, headers: Mapping[str, str], path: str) -> str:
    """The address of a provider that is chosen by the API alone, whose host may be anybody's: no ChatGPT login goes
    there, which is good at its own."""
    login = chatgpt.COMPANY in companies_of_keys(headers, path)
    return _checked(base, headers, path, company_of(base) or (urlsplit(base).hostname or "" if login else ""))


def _checked(base: str, headers: Mapping[str, str], path: str, owner: str = "") -> str:
    """The address, if no key of another company than its ``owner`` would go there; by default, whose host it is."""
    owner = owner or company_of(base)
    others = companies_of_keys(headers, path) - {owner} if owner else None
    if others:
        message = f"this request would go to {owner} with a key of {' and '.join(sorted(others))}"
        raise Refusal(401, f"{message}: say with upstream.url, or a route for its model, where it goes")
    return base


def checked(policy: Policy, address: str) -> str:
    """The address of a provider, to which a request may go.

    Raises:
        Refusal: 403, when the policy does not let it.
    """
    if policy.allows(address):
        return address
    allowed = ", ".join(policy.upstreams or ()) or "none"
    raise Refusal(
        403, f"requests may not go to {address} (memory.policies.{policy.name}.upstreams): allowed are {allowed}"
    )


def check_bridge(policy: Policy, route: UpstreamRoute, model: str) -> None:
    """Whether a request may go over a bridge: to the route's address, or else to litellm's name of the model.

    Raises:
        Refusal: 403, when the policy does not let it.
    """
    checked(policy, route.url or (route.bridge or "").replace("*", model))
