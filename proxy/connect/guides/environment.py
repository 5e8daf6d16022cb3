"""Runtimes that are told by variables, or by a line that only their user can place."""

from __future__ import annotations

from urllib.parse import urlsplit

from proxy.connect.machine import Machine
from proxy.connect.plan import Address, ConfigChange, ConnectPlan

GEMINI_COMPACTS_AT = 0.95
"""The share of a model's window at which Gemini CLI compacts. Past the whole of it, it refuses to go on."""


def gemini(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url(version=False)
    login = (
        "Gemini CLI is logged in with a Google account: its requests go to Code Assist (cloudcode-pa.googleapis.com), "
        "not to us. With GEMINI_API_KEY, and /auth set to an API key, they come here.",
    )
    return ConnectPlan(
        runtime="gemini",
        title="Gemini CLI",
        changes=(
            ConfigChange(
                machine.gemini / "settings.json",
                "json",
                {("model", "compressionThreshold"): GEMINI_COMPACTS_AT},
            ),
        ),
        environment={"GOOGLE_GEMINI_BASE_URL": url},
        notes=(
            "To keep it, write the line without export into ~/.gemini/.env, or into .gemini/.env of a project. "
            "GEMINI_API_KEY stays as it is and goes to upstream.gemini alone.",
            "It compacts at half of its window by itself: by the usage that is reported, and when it resumes a session "
            "by its own estimate of the whole. The file lets it wait for nearly all of the window; sessions are shed "
            "below half of it.",
        ),
        warnings=login if "gemini" in machine.logins else (),
    )


def copilot(address: Address, machine: Machine) -> ConnectPlan:
    return ConnectPlan(
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


def continue_cli(address: Address, machine: Machine) -> ConnectPlan:
    url = address.url()
    return ConnectPlan(
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


def goose(address: Address, machine: Machine) -> ConnectPlan:
    server = urlsplit(address.server)
    host = f"{server.scheme}://{server.netloc}"
    url = address.url(version=False)
    path = address.url().removeprefix(host)
    return ConnectPlan(
        runtime="goose",
        title="goose",
        environment={"OPENAI_HOST": host, "OPENAI_BASE_PATH": f"{path}/chat/completions", "ANTHROPIC_HOST": url},
        notes=(
            "For OpenAI's models goose splits the address into a host and a path. The same lines may stand in "
            "~/.config/goose/config.yaml (OPENAI_HOST: …).",
        ),
    )
