"""How clients are pointed at us for one run: as their own configuration's rules of precedence ask."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from proxy.connect import GUIDES, LAUNCHES, ONLY_CONNECTED, Address, Machine, NotLaunchable, launch, plan

HERE = Machine(Path("/home/ada"), Path("/home/ada/boat"))
AT = Address("http://127.0.0.1:9", around="boat")


def test_claude_is_told_by_what_outweighs_its_settings_unless_the_person_says_its_own() -> None:
    made = launch("claude", ("-p", "hi"), AT, HERE)
    assert made.environment == {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    flag, settings = made.arguments
    assert flag == "--settings" and json.loads(settings)["env"] == made.environment
    for own in (("--settings", "{}"), ("--settings={}",)):
        assert launch("claude", own, AT, HERE).arguments == ()


def test_codex_is_told_by_values_in_toml() -> None:
    made = launch("codex", (), AT, HERE)
    assert made.arguments[::2] == ("-c", "-c") and not made.environment
    told = tomllib.loads("\n".join(made.arguments[1::2]))
    assert told["model_provider"] == "palimpsest"
    provider = told["model_providers"]["palimpsest"]
    assert provider["base_url"] == "http://127.0.0.1:9/v1" and provider["wire_api"] == "responses"


def test_opencode_is_told_beside_what_it_is_told_already() -> None:
    own = Machine(HERE.home, HERE.directory, {"OPENCODE_CONFIG_CONTENT": '{"share": "disabled"}'})
    for machine in (HERE, own):
        told = json.loads(launch("opencode", (), AT, machine).environment["OPENCODE_CONFIG_CONTENT"])
        assert told["provider"]["openai"]["options"]["baseURL"] == "http://127.0.0.1:9/v1"
        assert told["provider"]["anthropic"]["options"]["baseURL"] == "http://127.0.0.1:9/v1"
        assert ("share" in told) == (machine is own)


def test_files_lie_in_the_folder_of_the_run() -> None:
    qwen = launch("qwen", (), AT, HERE).within("/tmp/x")
    assert qwen.environment["QWEN_CODE_SYSTEM_SETTINGS_PATH"] == "/tmp/x/settings.json"
    assert json.loads(qwen.files["settings.json"])["env"]["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
    pi = launch("pi", (), AT, HERE).within("/tmp/x")
    assert pi.arguments == ("--extension", "/tmp/x/palimpsest.ts")
    assert '"anthropic", { baseUrl: "http://127.0.0.1:9" }' in pi.files["palimpsest.ts"]


def test_crush_is_told_by_the_variables_of_its_catalogue_and_its_own_base_url_is_said_to_outweigh_them() -> None:
    made = launch("crush", (), AT, HERE)
    assert made.environment["OPENAI_API_ENDPOINT"] == "http://127.0.0.1:9/v1"
    assert made.environment["ANTHROPIC_API_ENDPOINT"] == "http://127.0.0.1:9"
    assert not made.files and not made.arguments and not made.warnings
    own = '{"providers": {"openai": {"base_url": "https://ai.example"}, "anthropic": {"api_key": "$KEY"}}}'
    [warning] = launch("crush", (), AT, replace(HERE, texts={HERE.crush: own})).warnings
    assert warning.startswith("openai has a base_url") and str(HERE.crush) in warning


def test_an_address_of_ours_in_crushs_file_is_no_foreign_one() -> None:
    [connected] = plan("crush", AT, HERE).changes
    here = replace(HERE, texts={HERE.crush: connected.snippet})
    assert launch("crush", (), AT, here).warnings == ()
    assert launch("crush", (), replace(AT, key="another"), here).warnings == ()
    mine = launch("crush", (), replace(AT, project="mine"), here).warnings
    assert len(mine) == 2 and all("outweighs the project" in each for each in mine)
    assert len(launch("crush", (), replace(AT, server="http://127.0.0.1:90"), here).warnings) == 2


CN = """\
name: mine
version: 1.0.0
schema: v1
rules:
  - Say so.  # always
models:
  - {name: one, provider: openai, model: gpt-5.5, apiKey: "${{ secrets.OPENAI_API_KEY }}", roles: [chat]}
  - {name: two, provider: anthropic, model: claude, apiBase: "https://elsewhere.example/v1/"}
  - {name: four, provider: anthropic, model: claude, apiBase: "http://127.0.0.1:9/p/other/"}
  - {name: three, provider: ollama, model: small}
"""


def test_cn_is_given_its_own_configuration_with_our_address_at_its_models() -> None:
    made = launch("cn", ("-p", "hi"), AT, replace(HERE, texts={HERE.cn: CN})).within("/tmp/x")
    assert made.arguments == ("--config", "/tmp/x/config.yaml") and not made.environment
    told, own = yaml.safe_load(made.files["config.yaml"]), yaml.safe_load(CN)
    own["models"][0]["apiBase"] = "http://127.0.0.1:9/v1"
    own["models"][2]["apiBase"] = "http://127.0.0.1:9/v1/"
    assert told == own  # the second keeps its own address, for which its key is
    assert made.warnings == ("without memory, as /home/ada/.continue/config.yaml says: two, three",)


@pytest.mark.parametrize(
    ("text", "given", "why"),
    [
        ("", (), "no model of provider"),
        ("models: [{name: a, provider: ollama}]", (), "no model of provider"),
        ("models: [", (), "is no YAML"),
        ("version: 2024-13-45", (), "is no YAML"),
        ("models: [{name: a, provider: [openai]}]", (), "no model of provider"),
        (CN, ("--config", "mine.yaml"), "--config alone"),
        (CN, ("--config=mine.yaml",), "--config alone"),
    ],
)
def test_cn_is_not_started_where_it_would_pass_us_by(text: str, given: tuple[str, ...], why: str) -> None:
    with pytest.raises(NotLaunchable, match=why):
        launch("cn", given, AT, replace(HERE, texts={HERE.cn: text}))


def test_gemini_is_told_by_its_variable_alone_since_it_takes_settings_of_a_system_from_root_only() -> None:
    made = launch("gemini", (), AT, HERE)
    assert made.environment == {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"} and not made.files


@pytest.mark.parametrize("program", ["aider", "python3"])
def test_what_tells_no_place_has_the_project_in_its_address(program: str) -> None:
    told = launch(program, (), AT, HERE).environment
    assert told["OPENAI_API_BASE"] == "http://127.0.0.1:9/p/boat/v1"


def test_every_runtime_that_can_be_connected_is_started_or_said_not_to_be() -> None:
    programs = set(GUIDES) - {
        "openai-sdk",
        "anthropic-sdk",
        "openai-agents",
        "pydantic-ai",
        "langgraph",
        "curl",
        "other",
    }
    assert set(LAUNCHES) | ONLY_CONNECTED == programs
