"""One guide for each runtime: its file, its keys, and what its user should know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from proxy.connect.machine import Machine
from proxy.connect.mcp import COMMAND, noted, with_mcp
from proxy.connect.plan import Address, FileChange, Plan
from proxy.connect.windows import WINDOW, stretched

Guide = Callable[[Address, Machine], Plan]


def plan(
    runtime: str,
    address: Address,
    machine: Machine,
    *,
    window: int = WINDOW,
    mcp: bool = False,
    command: Sequence[str] = COMMAND,
) -> Plan:
    """What connects a runtime to us. Pure: nothing is read or written.

    Args:
        runtime: its name.
        address: where it finds us.
        machine: what is on this machine.
        window: tokens that its model really reads at once, for runtimes that estimate by themselves.
        mcp: whether our MCP server is added to its configuration.
        command: what starts that server.

    Raises:
        KeyError: when there is no guide for the runtime; :data:`GUIDES` lists those that there are.
    """
    planned = stretched(GUIDES[runtime](address, machine), window)
    return with_mcp(planned, command) if mcp else noted(planned, command)


def opencode(address: Address, machine: Machine) -> Plan:
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    told = machine.environment.get("OPENCODE_CONFIG")
    jsonc = folder / "opencode.jsonc"
    file = Path(told) if told else jsonc if jsonc in machine.present else folder / "opencode.json"
    url = address.url()
    return Plan(
        runtime="opencode",
        title="opencode",
        changes=(
            FileChange(
                file,
                "json",
                {
                    ("provider", "openai", "options", "baseURL"): url,
                    ("provider", "anthropic", "options", "baseURL"): url,
                },
            ),
        ),
        notes=("For another provider, set its options.baseURL in the same way, and route it under upstream.routes.",),
        warnings=_login("opencode", machine, "a subscription"),
    )


def codex(address: Address, machine: Machine) -> Plan:
    login = "codex" in machine.logins
    provider: dict[str, str | bool] = {"name": "Palimpsest", "base_url": address.url(), "wire_api": "responses"}
    provider |= {"requires_openai_auth": True} if login else {"env_key": "OPENAI_API_KEY"}
    warnings = (
        (
            "Codex is logged in with ChatGPT: its requests belong to chatgpt.com, not to api.openai.com. Start us with "
            "PALIMPSEST__UPSTREAM__OPENAI=https://chatgpt.com/backend-api/codex, or log in with an API key "
            "(codex login --with-api-key).",
            "A subscription's traffic may not be reshaped: only the text of your own messages is added to.",
        )
        if login
        else ()
    )
    return Plan(
        runtime="codex",
        title="Codex CLI",
        changes=(
            FileChange(
                machine.folder("CODEX_HOME", ".codex") / "config.toml",
                "toml",
                {("model_provider",): "palimpsest", ("model_providers", "palimpsest"): provider},
            ),
        ),
        notes=(
            "A provider of its own keeps Codex on plain HTTP and does its compaction itself; the built-in provider "
            "would try a WebSocket first.",
            "Sessions begun with another provider are resumed with it: codex -c model_provider=palimpsest resume.",
        ),
        warnings=warnings,
    )


def claude(address: Address, machine: Machine) -> Plan:
    warnings: tuple[str, ...] = ()
    if "claude" in machine.logins:
        warnings = _login("claude", machine, "a Claude subscription")
    elif "claude?" in machine.logins:
        warnings = (
            "No ANTHROPIC_API_KEY was found. If Claude Code is logged in with a subscription, its traffic may not be "
            "reshaped: only the text of your own messages is added to.",
        )
    url = address.url(version=False)
    return Plan(
        runtime="claude",
        title="Claude Code",
        changes=(
            FileChange(
                machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
                "json",
                {("env", "ANTHROPIC_BASE_URL"): url},
            ),
        ),
        notes=(f"For one session only: ANTHROPIC_BASE_URL={url} claude",),
        warnings=warnings,
    )


def qwen(address: Address, machine: Machine) -> Plan:
    return Plan(
        runtime="qwen",
        title="Qwen Code",
        changes=(
            FileChange(
                machine.home / ".qwen" / "settings.json",
                "json",
                {("env", "OPENAI_BASE_URL"): address.url(), ("security", "auth", "selectedType"): "openai"},
            ),
        ),
        notes=(
            "OPENAI_API_KEY and OPENAI_MODEL stay as they are; models under modelProviders have their own baseUrl.",
        ),
    )


def pi(address: Address, machine: Machine) -> Plan:
    return Plan(
        runtime="pi",
        title="pi",
        changes=(
            FileChange(
                machine.home / ".pi" / "agent" / "models.json",
                "json",
                {
                    ("providers", "openai", "baseUrl"): address.url(),
                    ("providers", "anthropic", "baseUrl"): address.url(version=False),
                },
            ),
        ),
        notes=(
            'For another provider, set its baseUrl too; "compat": {"sendSessionAffinityHeaders": true} on a model of '
            "a chat provider makes pi name its sessions.",
        ),
        warnings=_login("pi", machine, "a subscription"),
    )


def cline(address: Address, machine: Machine) -> Plan:
    url = address.url()
    settings = ("providers", "openai-compatible", "settings")
    return Plan(
        runtime="cline",
        title="Cline CLI",
        changes=(
            FileChange(
                machine.folder("CLINE_DIR", ".cline") / "data" / "settings" / "providers.json",
                "json",
                {(*settings, "provider"): "openai-compatible", (*settings, "baseUrl"): url},
            ),
        ),
        notes=(
            f"By its own command, with a key and a model: cline auth -p openai-compatible -k KEY -m MODEL -b {url}",
            "Its sub-agents do not say where they run; they are tied to their parent by what they were asked.",
        ),
    )


def openclaw(address: Address, machine: Machine) -> Plan:
    told = machine.environment.get("OPENCLAW_CONFIG_PATH")
    return Plan(
        runtime="openclaw",
        title="OpenClaw",
        changes=(
            FileChange(
                Path(told) if told else machine.home / ".openclaw" / "openclaw.json",
                "json",
                {
                    ("models", "providers", "openai", "baseUrl"): address.url(),
                    ("models", "providers", "anthropic", "baseUrl"): address.url(version=False),
                },
            ),
        ),
        notes=("A provider under models.providers lists its models; where it lists none, add: models: [].",),
    )


def aider(address: Address, machine: Machine) -> Plan:
    return Plan(
        runtime="aider",
        title="aider",
        changes=(
            FileChange(
                machine.directory / ".aider.conf.yml", "yaml", {("openai-api-base",): address.url(placeless=True)}
            ),
        ),
        environment={"ANTHROPIC_API_BASE": address.url(placeless=True, version=False)},
        notes=(
            "aider does not say where it runs, so that the project stands in the address, and the file in the project.",
            "The variable is for Anthropic's models.",
        ),
    )


def kilo(address: Address, machine: Machine) -> Plan:
    told = machine.environment.get("KILO_CONFIG")
    url = address.url()
    return Plan(
        runtime="kilo",
        title="Kilo",
        changes=(
            FileChange(
                Path(told) if told else machine.folder("XDG_CONFIG_HOME", ".config") / "kilo" / "kilo.json",
                "json",
                {
                    ("provider", "openai", "options", "baseURL"): url,
                    ("provider", "anthropic", "options", "baseURL"): url,
                },
            ),
        ),
        notes=("For another provider, set its options.baseURL in the same way, and route it under upstream.routes.",),
    )


def gemini(address: Address, machine: Machine) -> Plan:
    url = address.url(version=False)
    login = (
        "Gemini CLI is logged in with a Google account: its requests go to Code Assist (cloudcode-pa.googleapis.com), "
        "not to us. With GEMINI_API_KEY, and /auth set to an API key, they come here.",
    )
    return Plan(
        runtime="gemini",
        title="Gemini CLI",
        environment={"GOOGLE_GEMINI_BASE_URL": url},
        notes=(
            "To keep it, write the line without export into ~/.gemini/.env, or into .gemini/.env of a project. "
            "GEMINI_API_KEY stays as it is and goes to upstream.gemini alone.",
            "It compacts at half of the model's window, by the usage that the provider reports: sessions are shed a "
            'little below that. To use more of the window, say {"model": {"compressionThreshold": 0.95}} in '
            "~/.gemini/settings.json.",
        ),
        warnings=login if "gemini" in machine.logins else (),
    )


def copilot(address: Address, machine: Machine) -> Plan:
    return Plan(
        runtime="copilot",
        title="Copilot CLI with a key of your own",
        environment={
            "COPILOT_PROVIDER_BASE_URL": address.url(),
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_WIRE_API": "completions",
        },
        notes=(
            "COPILOT_PROVIDER_API_KEY and COPILOT_MODEL are yours to set; COPILOT_OFFLINE=true keeps it from GitHub.",
            "For Anthropic's models: COPILOT_PROVIDER_TYPE=anthropic, and the address without /v1.",
            "Models of a Copilot subscription are not reached this way: their requests go to GitHub.",
        ),
    )


def continue_cli(address: Address, machine: Machine) -> Plan:
    url = address.url()
    return Plan(
        runtime="cn",
        title="Continue's cn",
        example=(
            "# ~/.continue/config.yaml\n"
            "models:\n"
            "  - name: my model\n"
            "    provider: openai\n"
            "    model: gpt-5.5\n"
            f"    apiBase: {url}\n"
            "    apiKey: ${{ secrets.OPENAI_API_KEY }}\n"
            "    roles: [chat]\n"
            "    capabilities: [tool_use]"
        ),
        notes=(
            "Its models stand in a list, which only you know: give each its apiBase by hand. With provider: anthropic "
            f"the apiBase is {url}/ (with /v1/ at its end).",
        ),
    )


def crush(address: Address, machine: Machine) -> Plan:
    told = machine.environment.get("CRUSH_GLOBAL_CONFIG")
    folder = Path(told) if told else machine.folder("XDG_CONFIG_HOME", ".config") / "crush"
    return Plan(
        runtime="crush",
        title="Crush",
        changes=(
            FileChange(
                folder / "crush.json",
                "json",
                {
                    ("providers", "openai", "base_url"): address.url(),
                    ("providers", "anthropic", "base_url"): address.url(version=False),
                },
            ),
        ),
        notes=("A provider of your own in crush.json has its base_url set in the same way.",),
    )


def goose(address: Address, machine: Machine) -> Plan:
    server = urlsplit(address.server)
    host = f"{server.scheme}://{server.netloc}"
    path = address.url(placeless=True).removeprefix(host)
    return Plan(
        runtime="goose",
        title="goose",
        environment={"OPENAI_HOST": host, "OPENAI_BASE_PATH": f"{path}/chat/completions", "ANTHROPIC_HOST": host},
        notes=(
            "goose splits an address into a host and a path: the key and the project stand in the path. The same lines "
            "may stand in ~/.config/goose/config.yaml (OPENAI_HOST: …).",
            "ANTHROPIC_HOST has no room for a path: its requests are believed as those of your own user on this "
            "machine, and for sessions to share a project they need the header x-palimpsest-project.",
        ),
    )


def openai_agents(address: Address, machine: Machine) -> Plan:
    url = address.url(placeless=True)
    return Plan(
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


def pydantic_ai(address: Address, machine: Machine) -> Plan:
    url = address.url(placeless=True)
    return Plan(
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


def langgraph(address: Address, machine: Machine) -> Plan:
    url = address.url(placeless=True)
    return Plan(
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


_SERVER_SIDE = (
    "Where the Responses API keeps the history at the server (store is not false, previous_response_id), each request "
    "brings only what is new: page and recall are added all the same, but nothing can be shed, and memory's tools are "
    "not offered. store=False gives all of it."
)


def openai_sdk(address: Address, machine: Machine) -> Plan:
    url = address.url(placeless=True)
    return Plan(
        runtime="openai-sdk",
        title="OpenAI's SDKs, and what is built on them",
        environment={"OPENAI_BASE_URL": url},
        example=f'from openai import OpenAI\n\nclient = OpenAI(base_url="{url}")',
        notes=(_SESSIONS,),
    )


def anthropic_sdk(address: Address, machine: Machine) -> Plan:
    url = address.url(placeless=True, version=False)
    return Plan(
        runtime="anthropic-sdk",
        title="Anthropic's SDKs, and what is built on them",
        environment={"ANTHROPIC_BASE_URL": url},
        example=f'from anthropic import Anthropic\n\nclient = Anthropic(base_url="{url}")',
        notes=(_SESSIONS,),
    )


def curl(address: Address, machine: Machine) -> Plan:
    url = address.url(placeless=True)
    return Plan(
        runtime="curl",
        title="curl",
        example=(
            f"curl {url}/chat/completions \\\n"
            '  -H "Authorization: Bearer $OPENAI_API_KEY" -H "Content-Type: application/json" \\\n'
            '  -H "x-palimpsest-session: my-session" \\\n'
            """  -d '{"model": "gpt-5.5", "messages": [{"role": "user", "content": "Hello"}]}'"""
        ),
        notes=(_SESSIONS,),
    )


def other(address: Address, machine: Machine) -> Plan:
    placed = address.url(placeless=True)
    return Plan(
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


_SESSIONS = (
    "Without a header x-palimpsest-session (and x-palimpsest-parent for a sub-agent) a session is known by its "
    "messages; that works, and a header makes it certain."
)


def _login(runtime: str, machine: Machine, what: str) -> tuple[str, ...]:
    if runtime not in machine.logins:
        return ()
    return (
        f"There is a login with {what}. Its terms may not allow other programs in between, and its traffic may not be "
        "reshaped: only the text of your own messages is added to, the system prompt and the tools never.",
    )


GUIDES: dict[str, Guide] = {
    "opencode": opencode,
    "codex": codex,
    "claude": claude,
    "qwen": qwen,
    "pi": pi,
    "cline": cline,
    "openclaw": openclaw,
    "aider": aider,
    "gemini": gemini,
    "copilot": copilot,
    "kilo": kilo,
    "cn": continue_cli,
    "crush": crush,
    "goose": goose,
    "openai-agents": openai_agents,
    "pydantic-ai": pydantic_ai,
    "langgraph": langgraph,
    "openai-sdk": openai_sdk,
    "anthropic-sdk": anthropic_sdk,
    "curl": curl,
    "other": other,
}
"""Every runtime that can be connected."""
