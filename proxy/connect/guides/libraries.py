"""Libraries, SDKs and anything else that has a setting for a base URL."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote

from proxy.connect.machine import Machine
from proxy.connect.plan import Address, ConnectPlan

_SERVER_SIDE = (
    "Where the Responses API keeps the history at the server (store is not false, previous_response_id), each request "
    "brings only what is new: page and recall are added all the same, but nothing can be shed, and memory's tools are "
    "not offered. store=False gives all of it."
)

_SESSIONS = (
    "Without a header x-palimpsest-session (and x-palimpsest-parent for a sub-agent) a session is known by its "
    "messages; that works, and a header makes it certain."
)


def openai_agents(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url(placeless=True)
    return ConnectPlan(
        runtime="openai-agents",
        title="openai-agents",
        environment={"OPENAI_BASE_URL": url},
        example=(
            "from agents import ModelSettings, set_default_openai_client\n"
            "from openai import AsyncOpenAI\n\n"
            f'set_default_openai_client(AsyncOpenAI(base_url="{url}"))\n'
            "settings = ModelSettings(store=False)  # for each Agent(model_settings=settings)"
        ),
        notes=(
            _SERVER_SIDE,
            'set_default_openai_api("chat_completions") has everything, too.',
            _SESSIONS,
        ),
    )


def pydantic_ai(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url(placeless=True)
    return ConnectPlan(
        runtime="pydantic-ai",
        title="pydantic-ai",
        environment={"OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": address.url(placeless=True, version=False)},
        example=(
            "from pydantic_ai import Agent\n"
            "from pydantic_ai.models.openai import OpenAIChatModel\n"
            "from pydantic_ai.providers.openai import OpenAIProvider\n\n"
            f'model = OpenAIChatModel("gpt-5.5", provider=OpenAIProvider(base_url="{url}"))\n'
            "agent = Agent(model)"
        ),
        notes=(f"OpenAIChatModel has everything. With OpenAIResponsesModel: {_SERVER_SIDE}", _SESSIONS),
    )


def langgraph(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url(placeless=True)
    return ConnectPlan(
        runtime="langgraph",
        title="LangGraph, LangChain and deepagents",
        environment={"OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": address.url(placeless=True, version=False)},
        example=(
            "from langchain_openai import ChatOpenAI\n\n"
            f'model = ChatOpenAI(model="gpt-5.5", base_url="{url}",\n'
            '                   default_headers={"x-palimpsest-session": "the thread\'s id"})'
        ),
        notes=(f"With use_responses_api=True: {_SERVER_SIDE}", _SESSIONS),
    )


def openai_sdk(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url(placeless=True)
    return ConnectPlan(
        runtime="openai-sdk",
        title="OpenAI's SDKs, and what is built on them",
        environment={"OPENAI_BASE_URL": url},
        example=f'from openai import OpenAI\n\nclient = OpenAI(base_url="{url}")',
        notes=(_SESSIONS,),
    )


def anthropic_sdk(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url(placeless=True, version=False)
    return ConnectPlan(
        runtime="anthropic-sdk",
        title="Anthropic's SDKs, and what is built on them",
        environment={"ANTHROPIC_BASE_URL": url},
        example=f'from anthropic import Anthropic\n\nclient = Anthropic(base_url="{url}")',
        notes=(_SESSIONS,),
    )


def curl(address: Address, machine: Machine) -> ConnectPlan:
    # Here a header can say the project as it is called; in a URL its slashes would be escaped.
    url = replace(address, project=None).url()
    return ConnectPlan(
        runtime="curl",
        title="curl",
        example=(
            f"curl {url}/chat/completions \\\n"
            '  -H "Authorization: Bearer $OPENAI_API_KEY" -H "Content-Type: application/json" \\\n'
            f"  -H {quote(f'x-palimpsest-project: {address.place}')} \\\n"
            '  -H "x-palimpsest-session: my-session" \\\n'
            """  -d '{"model": "gpt-5.5", "messages": [{"role": "user", "content": "Hello"}]}'"""
        ),
        notes=(_SESSIONS,),
    )


def other(address: Address, machine: Machine) -> ConnectPlan:
    placed = address.url(placeless=True)
    return ConnectPlan(
        runtime="other",
        title="Any other runtime, by its setting for a base URL",
        environment={"OPENAI_BASE_URL": address.url(), "ANTHROPIC_BASE_URL": address.url(version=False)},
        notes=(
            "These are the names that most clients read (some say OPENAI_API_BASE); others have a setting for an "
            "OpenAI-compatible provider, often called baseURL, apiBase or base_url: give it the first address. "
            "Anthropic-compatible ones get the second.",
            "A runtime whose prompts name its working directory keeps its projects apart by itself. One that does not "
            "(most scripts and SDK programs) remembers from one session to the next only with a project in the "
            f"address: {placed}",
            _SESSIONS,
        ),
    )
