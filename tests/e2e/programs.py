"""Agents as people write them on frameworks: ``python programs.py WAY FILE [--resume] PROMPT``, one turn of a session.

Run by the frameworks' own Python, at the address that the environment names; the session is kept in FILE, in the
framework's own words. Each has a tool that reads, one that runs a command, and a helper that it can send out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

INSTRUCTIONS = "You are the build assistant of this team. Answer briefly."
HELPER = "You look at code for the build assistant, and report what you found."
OPENAI_MODEL, ANTHROPIC_MODEL = "gpt-5.5", "claude-sonnet-4-5"


def shell(command: str) -> str:
    """Run a command in the project, and return what it prints."""
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
    return f"{ran.stdout}{ran.stderr}(exit code {ran.returncode})"


def read(path: str) -> str:
    """Return the text of a file."""
    return Path(path).read_text(encoding="utf-8")


def openai_agents(prompt: str, kept: str, api: str = "responses") -> tuple[str, str]:
    """openai-agents."""
    from agents import Agent, ModelSettings, Runner, function_tool, set_default_openai_api, set_tracing_disabled

    set_tracing_disabled(True)
    set_default_openai_api(api)
    told = {"model": OPENAI_MODEL, "model_settings": ModelSettings(store=False)}
    tools = [function_tool(shell), function_tool(read)]
    helper = Agent(name="Helper", instructions=HELPER, tools=tools, **told)
    delegate = helper.as_tool("delegate", "Lets a helper look at code, and returns what it reports.")
    agent = Agent(name="Assistant", instructions=INSTRUCTIONS, tools=[*tools, delegate], **told)
    done = Runner.run_sync(agent, [*json.loads(kept or "[]"), {"role": "user", "content": prompt}])
    return str(done.final_output), json.dumps(done.to_input_list())


def pydantic_ai(prompt: str, kept: str, api: str = "chat") -> tuple[str, str]:
    """pydantic-ai."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    names = {"chat": f"openai-chat:{OPENAI_MODEL}", "responses": f"openai-responses:{OPENAI_MODEL}"}
    model = names.get(api, f"anthropic:{ANTHROPIC_MODEL}")
    helper = Agent(model, instructions=HELPER, tools=[shell, read])

    async def delegate(task: str) -> str:
        """Let a helper look at code, and return what it reports."""
        return str((await helper.run(task)).output)

    agent = Agent(model, instructions=INSTRUCTIONS, tools=[shell, read, delegate])
    past = ModelMessagesTypeAdapter.validate_json(kept) if kept else []
    done = agent.run_sync(prompt, message_history=past)
    return str(done.output), done.all_messages_json().decode()


def langgraph(prompt: str, kept: str) -> tuple[str, str]:
    """LangChain's agent, which is a graph of LangGraph's."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model=OPENAI_MODEL)
    helper = create_agent(model, tools=[shell, read], system_prompt=HELPER)

    def delegate(task: str) -> str:
        """Let a helper look at code, and return what it reports."""
        return str(helper.invoke({"messages": [{"role": "user", "content": task}]})["messages"][-1].content)

    return _graph(create_agent(model, tools=[shell, read, delegate], system_prompt=INSTRUCTIONS), prompt, kept)


def deepagents(prompt: str, kept: str) -> tuple[str, str]:
    """deepagents on Anthropic's models, with the tools that it brings."""
    from deepagents import create_deep_agent
    from deepagents.backends import LocalShellBackend
    from langchain_anthropic import ChatAnthropic

    backend = LocalShellBackend(root_dir=Path.cwd(), virtual_mode=False, inherit_env=True)
    model = ChatAnthropic(model_name=ANTHROPIC_MODEL, timeout=None, stop=None)
    return _graph(create_deep_agent(model, system_prompt=INSTRUCTIONS, backend=backend), prompt, kept)


def _graph(agent: Any, prompt: str, kept: str) -> tuple[str, str]:
    from langchain_core.messages import HumanMessage, messages_from_dict, messages_to_dict

    past = messages_from_dict(json.loads(kept or "[]"))
    messages = agent.invoke({"messages": [*past, HumanMessage(prompt)]})["messages"]
    last = messages[-1].content
    said = last if isinstance(last, str) else "".join(part.get("text", "") for part in last)
    return said, json.dumps(messages_to_dict(messages))


WAYS: dict[str, Callable[[str, str], tuple[str, str]]] = {
    "openai-agents": openai_agents,
    "openai-agents-chat": lambda prompt, kept: openai_agents(prompt, kept, "chat_completions"),
    "pydantic-ai": pydantic_ai,
    "pydantic-ai-responses": lambda prompt, kept: pydantic_ai(prompt, kept, "responses"),
    "pydantic-ai-messages": lambda prompt, kept: pydantic_ai(prompt, kept, "messages"),
    "langgraph": langgraph,
    "deepagents": deepagents,
}
"""Each takes a prompt and the session so far, and returns what was said and the session."""


def main(way: str, file: Path, *rest: str) -> None:
    """Play a turn, and print what was said."""
    said, kept = WAYS[way](rest[-1], file.read_text() if "--resume" in rest[:-1] else "")
    file.write_text(kept)
    print(said)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
