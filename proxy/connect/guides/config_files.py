"""Runtimes whose own configuration file says where their requests go."""

from __future__ import annotations

from pathlib import Path

from proxy.connect.machine import Machine
from proxy.connect.plan import Address, ConfigChange, ConnectPlan


def opencode(address: Address, machine: Machine) -> ConnectPlan:
    file = _with_comments_or_without("opencode", machine)
    url = address.url()
    return ConnectPlan(
        runtime="opencode",
        title="opencode",
        changes=(
            ConfigChange(
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


def codex(address: Address, machine: Machine) -> ConnectPlan:
    login = "codex" in machine.logins
    provider: dict[str, str | bool] = {"name": "Palimpsest", "base_url": address.url(), "wire_api": "responses"}
    kept = login or "codex key" in machine.logins
    provider |= {"requires_openai_auth": True} if kept else {"env_key": "OPENAI_API_KEY"}
    warnings = (
        (
            "Codex is logged in with ChatGPT: its requests go on to chatgpt.com (upstream.chatgpt), with your login "
            "alone. Its terms may not allow other programs in between, and its traffic may not be reshaped: only the "
            "text of your own messages is added to, the instructions and the tools never.",
        )
        if login
        else ()
    )
    return ConnectPlan(
        runtime="codex",
        title="Codex CLI",
        changes=(
            ConfigChange(
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


def claude(address: Address, machine: Machine) -> ConnectPlan:
    warnings: tuple[str, ...] = ()
    if "claude" in machine.logins:
        warnings = _login("claude", machine, "a Claude subscription")
    elif "claude?" in machine.logins:
        warnings = (
            "No ANTHROPIC_API_KEY was found. If Claude Code is logged in with a subscription, its traffic may not be "
            "reshaped: only the text of your own messages is added to.",
        )
    url = address.url(version=False)
    return ConnectPlan(
        runtime="claude",
        title="Claude Code",
        changes=(
            ConfigChange(
                machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
                "json",
                {("env", "ANTHROPIC_BASE_URL"): url},
            ),
        ),
        notes=(f"For one session only: ANTHROPIC_BASE_URL={url} claude",),
        warnings=warnings,
    )


def qwen(address: Address, machine: Machine) -> ConnectPlan:
    return ConnectPlan(
        runtime="qwen",
        title="Qwen Code",
        changes=(
            ConfigChange(
                machine.home / ".qwen" / "settings.json",
                "json",
                {("env", "OPENAI_BASE_URL"): address.url(), ("security", "auth", "selectedType"): "openai"},
            ),
        ),
        notes=(
            "OPENAI_API_KEY and OPENAI_MODEL stay as they are; models under modelProviders have their own baseUrl.",
        ),
    )


def pi(address: Address, machine: Machine) -> ConnectPlan:
    return ConnectPlan(
        runtime="pi",
        title="pi",
        changes=(
            ConfigChange(
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


def cline(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url()
    settings = ("providers", "openai-compatible", "settings")
    return ConnectPlan(
        runtime="cline",
        title="Cline CLI",
        changes=(
            ConfigChange(
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


def openclaw(address: Address, machine: Machine) -> ConnectPlan:
    configured = machine.environment.get("OPENCLAW_CONFIG_PATH")
    return ConnectPlan(
        runtime="openclaw",
        title="OpenClaw",
        changes=(
            ConfigChange(
                Path(configured) if configured else machine.home / ".openclaw" / "openclaw.json",
                "json",
                {
                    ("models", "providers", "openai", "baseUrl"): address.url(),
                    ("models", "providers", "anthropic", "baseUrl"): address.url(version=False),
                },
            ),
        ),
        notes=("A provider under models.providers lists its models; where it lists none, add: models: [].",),
    )


def aider(address: Address, machine: Machine) -> ConnectPlan:
    return ConnectPlan(
        runtime="aider",
        title="aider",
        changes=(
            ConfigChange(
                (machine.checkout or machine.directory) / ".aider.conf.yml",
                "yaml",
                {("openai-api-base",): address.url(placeless=True)},
            ),
        ),
        environment={"ANTHROPIC_API_BASE": address.url(placeless=True, version=False)},
        notes=(
            "aider does not say where it runs, so that the project stands in the address, and the file in the project.",
            "The variable is for Anthropic's models.",
            "The address has the key to your memory in it: keep .aider.conf.yml out of what is committed, as the line "
            ".aider* in .gitignore does, which aider offers to write.",
        ),
    )


def kilo(address: Address, machine: Machine) -> ConnectPlan:
    file = _with_comments_or_without("kilo", machine)
    url = address.url()
    return ConnectPlan(
        runtime="kilo",
        title="Kilo",
        changes=(
            ConfigChange(
                file,
                "json",
                {
                    ("provider", "openai", "options", "baseURL"): url,
                    ("provider", "anthropic", "options", "baseURL"): url,
                },
            ),
        ),
        notes=("For another provider, set its options.baseURL in the same way, and route it under upstream.routes.",),
    )


def crush(address: Address, machine: Machine) -> ConnectPlan:
    return ConnectPlan(
        runtime="crush",
        title="Crush",
        changes=(
            ConfigChange(
                machine.crush,
                "json",
                {
                    ("providers", "openai", "base_url"): address.url(),
                    ("providers", "anthropic", "base_url"): address.url(version=False),
                },
            ),
        ),
        notes=("A provider of your own in crush.json has its base_url set in the same way.",),
    )


def zed(address: Address, machine: Machine) -> ConnectPlan:
    return ConnectPlan(
        runtime="zed",
        title="Zed",
        changes=(
            ConfigChange(
                machine.folder("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json",
                "json",
                {
                    ("language_models", "openai", "api_url"): address.url(),
                    ("language_models", "anthropic", "api_url"): address.url(version=False),
                },
            ),
        ),
        notes=(
            "Its own agent with your keys for OpenAI and Anthropic comes here; models of a Zed subscription go to Zed. "
            "A provider of your own under language_models.openai_compatible has its api_url set in the same way.",
            "Agents that run inside of Zed (Claude Code, Gemini CLI, Codex) are connected by their own names.",
        ),
    )


def _with_comments_or_without(name: str, machine: Machine) -> Path:
    """The file of opencode, or of what is made of it: where both of its two forms are there, the ``.jsonc`` wins."""
    configured = machine.environment.get(f"{name.upper()}_CONFIG")
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / name
    commented = folder / f"{name}.jsonc"
    if configured:
        return Path(configured)
    return commented if commented in machine.present else folder / f"{name}.json"


def _login(runtime: str, machine: Machine, what: str) -> tuple[str, ...]:
    if runtime not in machine.logins:
        return ()
    return (
        f"There is a login with {what}. Its terms may not allow other programs in between, and its traffic may not be "
        "reshaped: only the text of your own messages is added to, the system prompt and the tools never.",
    )
