"""The container files, read rather than run: no container engine is at hand where these tests run."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.auth.middleware import HEALTH, READY
from proxy.setting_sources import SettingsError
from proxy.settings import load

ROOT = Path(__file__).parent.parent
KNOWN = frozenset(
    [
        "FROM",
        "RUN",
        "CMD",
        "LABEL",
        "EXPOSE",
        "ENV",
        "COPY",
        "ENTRYPOINT",
        "VOLUME",
        "USER",
        "WORKDIR",
        "ARG",
        "HEALTHCHECK",
        "STOPSIGNAL",
        "SHELL",
    ]
)


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def all_of(name: str) -> list[str]:
    return [rest for found, rest in instructions() if found == name]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in shlex.split(" ".join(all_of("ENV"))))


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    loaded = yaml.safe_load((ROOT / "config" / name).read_text())
    assert isinstance(loaded, dict)
    return loaded


def filled(text: str, values: dict[str, str]) -> str:
    """Compose's ``${NAME}``, ``${NAME:-default}`` and ``${NAME:?complaint}``."""
    return re.sub(
        r"\$\{(\w+)(?::([-?])([^}]*))?\}",
        lambda match: values.get(match[1]) or (match[3] if match[2] == "-" else values[match[1]]),
        text,
    )


def test_every_instruction_is_one_that_docker_knows() -> None:
    assert {name for name, _ in instructions()} <= KNOWN


def test_the_image_is_slim_and_its_last_stage_runs_without_root() -> None:
    assert all_of("ARG") == ["PYTHON_IMAGE=python:3.12-slim"]
    assert all(rest.partition(" ")[0] == "${PYTHON_IMAGE}" for rest in all_of("FROM"))
    after = [name for name, _ in instructions()]
    assert all_of("USER") == ["10001:10001"]
    assert after.index("USER") > len(after) - 1 - after[::-1].index("RUN"), "what runs after USER runs without root"


def test_what_is_copied_from_here_is_not_kept_away_from_the_builder() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for rest in all_of("COPY") if not rest.startswith("--from") for name in shlex.split(rest)[:-1]}
    assert copied == let_in
    assert all((ROOT / name).exists() for name in copied)


def test_there_is_one_volume_and_it_is_the_home() -> None:
    assert all_of("VOLUME") == [environment()["PALIMPSEST_HOME"]] == ["/data"]


def test_the_port_is_the_same_everywhere() -> None:
    port = environment()["PALIMPSEST__SERVER__PORT"]
    assert all_of("EXPOSE") == [port]
    assert f":{port}/palimpsest/health" in all_of("HEALTHCHECK")[0]
    assert all(mapping.endswith(f":{port}") for mapping in compose()["services"]["palimpsest"]["ports"])


def test_the_health_check_is_a_command_that_compiles() -> None:
    command = json.loads(all_of("HEALTHCHECK")[0].partition("CMD ")[2])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "health check", "exec")


def test_the_command_is_ours() -> None:
    assert json.loads(all_of("ENTRYPOINT")[0]) == ["palimpsest"] and json.loads(all_of("CMD")[0]) == ["serve"]


def test_the_image_alone_refuses_to_start_without_a_key() -> None:
    with pytest.raises(SettingsError, match="credentials"):
        load(environment=environment())


def test_the_compose_file_gives_settings_that_load() -> None:
    keys = {"PALIMPSEST_KEY": "k" * 24, "QDRANT_KEY": "q" * 24}
    given = {name: filled(value, keys) for name, value in compose()["services"]["palimpsest"]["environment"].items()}
    settings = load(environment=environment() | given).settings
    assert [(entry.key, entry.user) for entry in settings.credentials] == [("k" * 24, "local")]
    assert settings.memory.qdrant.url == "http://qdrant:6333" and settings.memory.qdrant.api_key == "q" * 24
    assert settings.upstream.url is None


def test_compose_refuses_to_start_without_keys() -> None:
    text = (ROOT / "config" / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+):\?", text)) == {"PALIMPSEST_KEY", "QDRANT_KEY"}
    example = (ROOT / "config" / "palimpsest.env.example").read_text()
    team = (ROOT / "config" / "compose.team.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+):\?", team)) == {"PALIMPSEST_KEY", "QDRANT_KEY", "POSTGRES_KEY"}
    assert set(re.findall(r"\$\{(\w+)", text + team)) == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def test_ports_are_published_to_this_machine_only() -> None:
    ports = [port for service in compose()["services"].values() for port in service.get("ports", [])]
    assert ports and all(port.startswith("127.0.0.1:") for port in ports)


def test_every_service_says_when_it_is_well_and_keeps_its_data() -> None:
    services = compose()["services"]
    assert all_of("HEALTHCHECK") and "healthcheck" in services["qdrant"]
    assert services["palimpsest"]["depends_on"]["qdrant"]["condition"] == "service_healthy"
    named = {volume.partition(":")[0] for service in services.values() for volume in service["volumes"]}
    assert named == set(compose()["volumes"])


def test_no_image_floats() -> None:
    images = [service["image"] for service in compose()["services"].values() if "build" not in service]
    assert all(re.search(r":v\d+\.\d+\.\d+$", image) for image in images)


PROXIES, WORKER = ("proxy-1", "proxy-2"), "worker"
REPLICAS = (*PROXIES, WORKER)


def test_a_teams_replicas_have_settings_that_load() -> None:
    services = compose("compose.team.yaml")["services"]
    keys = {"PALIMPSEST_KEY": "k" * 24, "QDRANT_KEY": "q" * 24, "POSTGRES_KEY": "p" * 24}
    assert services["proxy-1"]["environment"] == services["proxy-2"]["environment"]
    given = {name: filled(value, keys) for name, value in services["proxy-1"]["environment"].items()}
    settings = load(environment=environment() | given).settings
    role = "PALIMPSEST__SERVER__ROLE"
    assert settings.server.role == "proxy"
    assert services[WORKER]["environment"] == {**services["proxy-1"]["environment"], role: "worker"}
    assert load(environment=environment() | given | {role: "worker"}).settings.server.role == "worker"
    assert settings.memory.postgresql.replicas and settings.memory.qdrant.url == "http://qdrant:6333"
    assert settings.memory.postgresql.url == "postgresql://palimpsest@postgresql/palimpsest"
    drain = settings.server.drain
    grace = int(services["proxy-1"]["stop_grace_period"].removesuffix("s"))
    assert drain.notice_seconds >= 2 and grace > drain.notice_seconds + drain.reply_seconds
    assert set(REPLICAS) <= set(settings.server.hosts)
    assert (ROOT / "requirements.lock").read_text().count("\npsycopg==") == 1


def test_each_of_a_teams_replicas_is_the_image_with_a_home_of_its_own() -> None:
    found = compose("compose.team.yaml")
    services = found["services"]
    assert {services[name]["image"] for name in REPLICAS} == {compose()["services"]["palimpsest"]["image"]}
    homes = [services[name]["volumes"] for name in REPLICAS]
    assert homes == [["replica-1:/data"], ["replica-2:/data"], ["replica-3:/data"]]
    for name in REPLICAS:
        assert services[name]["depends_on"] == {
            "postgresql": {"condition": "service_healthy"},
            "qdrant": {"condition": "service_healthy"},
        }
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:8484:8484"]
    images = [service["image"] for service in services.values() if "build" not in service]
    assert all(re.search(r":v?\d+(\.\d+)+$", image) for image in images)
    named = {volume.partition(":")[0] for service in services.values() for volume in service["volumes"]}
    assert {name for name in named if not name.startswith(".")} == set(found["volumes"])


def test_the_balancer_asks_paths_that_are_there_and_knows_all_replicas() -> None:
    text = (ROOT / "config" / "haproxy.team.cfg").read_text()
    mounted = compose("compose.team.yaml")["services"]["haproxy"]["volumes"]
    assert mounted == ["./haproxy.team.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro"]
    backends = dict(re.findall(r"^backend (\w+)\n((?:  .*\n?)+)", text, re.MULTILINE))
    port = environment()["PALIMPSEST__SERVER__PORT"]
    for backend, rest in backends.items():
        names = (WORKER,) if backend == "work" else PROXIES
        assert re.findall(r"^  server (\S+) (\S+)", rest, re.MULTILINE) == [(name, f"{name}:{port}") for name in names]
    asked = {name: re.findall(r"http-check send meth GET uri (\S+)", rest) for name, rest in backends.items()}
    assert asked == {
        "replicas": [READY],
        "work": [f"{READY}?role=work"],
        "without_memory": [HEALTH],
    }
    assert set(re.findall(r"(?:use_backend|default_backend) (\w+)", text)) == set(backends)


def test_a_teams_database_is_a_plain_roles_whom_row_level_security_holds() -> None:
    script = (ROOT / "config" / "postgresql.team.sh").read_text()
    service = compose("compose.team.yaml")["services"]["postgresql"]
    assert "./postgresql.team.sh:/docker-entrypoint-initdb.d/palimpsest.sh:ro" in service["volumes"]
    assert service["environment"]["POSTGRES_USER"] == "postgres"
    assert "CREATE ROLE palimpsest LOGIN PASSWORD" in script and "SUPERUSER" not in script
