"""What is compared: straight to the provider, a bare relay, Palimpsest without and with memory, and rivals on request.

Rivals are installed with pip into a folder of their own below ``.bench/``, and only when asked for.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.bench.processes import ROOT, Process, free_port
from tests.bench.seed import PROJECT

WORK = ROOT / ".bench"

PALIMPSEST = "import sys; from proxy.cli import main; sys.argv[0] = 'palimpsest'; sys.exit(main())"
"""What the installed command ``palimpsest`` does, without asking that it is installed."""

LITELLM = "1.108.7"
"""The newest whose proxy can be installed: what later ones require beside it is not on PyPI."""
HEADROOM = ("headroom-ai[proxy]",)


@dataclass
class Target:
    """A server that answers OpenAI's chat format: how its process is started, where it then listens, and under which
    path it says that it does. Without ``start`` nothing is started."""

    name: str
    port: int
    start: Callable[[], Process] | None = None
    path: str = "/v1/models"
    headers: dict[str, str] = field(default_factory=dict)
    about: str = ""
    """Which version it is of, and how it is set."""
    process: Process | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Start it."""
        self.process = self.start() if self.start is not None else None

    def ready(self) -> Target:
        """Wait until it answers."""
        if self.process is not None:
            self.process.wait_ready(f"http://127.0.0.1:{self.port}{self.path}")
        return self

    @property
    def ended(self) -> bool:
        """Whether its process has ended though nobody stopped it."""
        return self.process is not None and self.process.ended() is not None

    def restart(self) -> None:
        """Stop it, if it still runs, and start it again in the same place."""
        self.stop()
        self.process = self.start() if self.start is not None else None
        self.ready()

    def stop(self) -> None:
        """Stop it."""
        if self.process is not None:
            self.process.stop()


def provider(folder: Path, spacing_ms: float, log: Path | None = None) -> Target:
    """The scripted provider; ``log`` takes what came."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.provider", str(port), str(spacing_ms), *([str(log)] if log else [])]
    return Target("direct", port, lambda: Process(command, folder / "provider.log")).ready()


def bare_relay(folder: Path, upstream: int, stalls: str = "") -> Target:
    """Thirty lines of aiohttp. Its ``stalls`` are written there, where that is said."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.bare_relay", str(port), f"http://127.0.0.1:{upstream}"]
    command += [stalls] if stalls else []
    return Target("bare relay", port, lambda: Process(command, folder / "bare_relay.log")).ready()


def palimpsest(
    name: str,
    folder: Path,
    home: Path,
    upstream: int,
    ready: bool = True,
    shell: str = "",
    stalls: str = "",
    **settings: str,
) -> Target:
    """The real command. ``settings`` are environment variables without their prefix, such as MEMORY__MODE; without
    ``ready`` it is not waited for. ``shell`` is what a shell does before it starts it. Its ``stalls`` are written
    there, where that is said."""
    _compile_as_installed()
    port = free_port()
    watched = f"from tests.bench.stalls import watch; watch({stalls!r}); " if stalls else ""
    command = [sys.executable, "-c", watched + PALIMPSEST, "serve", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--home", str(home), "--upstream", f"http://127.0.0.1:{upstream}"]
    if shell:
        command = ["sh", "-c", f'{shell}; exec "$0" "$@"', *command]
    environment = {f"PALIMPSEST__{key}": value for key, value in settings.items()}
    log = folder / f"{name.replace(' ', '_')}.log"
    headers = {"x-palimpsest-project": PROJECT}
    target = Target(name, port, lambda: Process(command, log, environment), "/palimpsest/health", headers)
    return target.ready() if ready else target


def litellm_installed() -> Path:
    """A virtual environment with LiteLLM's proxy in it."""
    return installed(f"litellm-{LITELLM}", (f"litellm[proxy]=={LITELLM}",))


def litellm(folder: Path, upstream: int) -> Target:
    """LiteLLM's proxy, as its documentation starts it, without a database."""
    environment = litellm_installed()
    config = folder / "litellm.yaml"
    config.write_text(
        "model_list:\n  - model_name: bench\n    litellm_params:\n      model: openai/bench\n"
        f"      api_base: http://127.0.0.1:{upstream}/v1\n      api_key: none\n"
    )
    port, key = free_port(), f"sk-{secrets.token_hex(16)}"
    command = [str(environment / "bin" / "litellm"), "--config", str(config), "--host", "127.0.0.1"]
    command += ["--port", str(port)]
    settings = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": key}
    about = f"litellm {version_of(environment, 'litellm')}: {' '.join(config.read_text().split())}"
    headers = {"Authorization": f"Bearer {key}"}

    def start() -> Process:
        return Process(command, folder / "litellm.log", settings)

    return Target("litellm", port, start, "/health/liveliness", headers, about).ready()


def headroom(folder: Path, upstream: int) -> Target:
    """Headroom's proxy as it starts by itself: without its memory, which needs torch and a model from a hub."""
    environment = installed("headroom", HEADROOM)
    port = free_port()
    command = [str(environment / "bin" / "headroom"), "proxy", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--openai-api-url", f"http://127.0.0.1:{upstream}", "--no-telemetry", "--no-rate-limit"]
    about = f"headroom-ai {version_of(environment, 'headroom-ai')}: as it starts by itself, without its memory"

    def start() -> Process:
        return Process(command, folder / "headroom.log", {"HOME": str(folder / "headroom")})

    return Target("headroom", port, start, "/health", about=about).ready()


@cache
def _compile_as_installed() -> None:
    """Lay bytecode beside the code, as pip does: an installed command is not compiled anew at each start, as a copy of
    the sources is where PYTHONDONTWRITEBYTECODE is set. Where nothing can be written it is compiled all the same."""
    subprocess.run([sys.executable, "-m", "compileall", "-q", "proxy", "memory"], cwd=ROOT, check=False)


RIVALS = {"litellm": litellm, "headroom": headroom}


def installed(name: str, requirements: tuple[str, ...]) -> Path:
    """A virtual environment with a rival in it; made when it is missing."""
    environment = WORK / name
    if not (environment / ".installed").exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        subprocess.run([environment / "bin" / "python", "-m", "pip", "install", "--quiet", *requirements], check=True)
        (environment / ".installed").touch()
    return environment


def version_of(environment: Path, name: str) -> str:
    """Which version of a package is installed in an environment."""
    asked = f"import importlib.metadata as m; print(m.version({name!r}))"
    return subprocess.run(
        [environment / "bin" / "python", "-c", asked], check=True, capture_output=True, text=True
    ).stdout.strip()
