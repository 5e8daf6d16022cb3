"""The real Codex, logged in with ChatGPT or with a stored API key, started as ``palimpsest run codex`` starts it.

    python -m tests.e2e.login

In a network of its own, before two fake providers: one where logins belong, one where keys do. Fails when a request
comes to the wrong one, or in other words than Codex's own.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from proxy.connect.launch import launch
from proxy.connect.machine import look
from proxy.connect.plan import Address
from tests.e2e.install import NotInstalled, install, install_node
from tests.e2e.sandbox import isolation, only_loopback, raise_loopback, run
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import running

SECONDS = 90
ACCOUNT, KEY = "acct-e2e", "sk-proj-e2e"
YEAR_2100 = 4_102_444_800
CONFIG = 'model = "scripted"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n'


def _token() -> str:
    """A token as a login has it; nobody here could check its signature."""
    said = {"email": "e2e@localhost", "exp": YEAR_2100}
    said |= {"https://api.openai.com/auth": {"chatgpt_account_id": ACCOUNT, "chatgpt_plan_type": "plus"}}
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": "RS256"}, said))
    return b".".join([*parts, b"c2ln"]).decode()


def _login() -> dict[str, object]:
    token = _token()
    tokens = {"id_token": token, "access_token": token, "refresh_token": "r", "account_id": ACCOUNT}
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return {"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": tokens, "last_refresh": now}


LOGINS: dict[str, dict[str, object]] = {
    "ChatGPT": _login(),
    "a stored API key": {"auth_mode": "apikey", "OPENAI_API_KEY": KEY},
}


async def _turn(folder: Path, auth: dict[str, object], chatgpt: FakeProvider, api: FakeProvider) -> str:
    """One turn of Codex; what it wrote, where it failed."""
    home, work = folder / "home", folder / "work"
    for each in (home / ".codex", work):
        each.mkdir(parents=True)
    (home / ".codex" / "auth.json").write_text(json.dumps(auth))
    (home / ".codex" / "config.toml").write_text(CONFIG)
    variables = {"HOME": str(home), "PATH": f"{install_node()}:/usr/bin:/bin", "TMPDIR": str(folder)}
    upstream = {"upstream.url": None, "upstream.openai": f"{api.url}/v1"}
    upstream |= {"upstream.chatgpt": f"{chatgpt.url}/backend-api/codex"}
    async with running(api, folder / "palimpsest", **upstream) as proxy:
        started = launch("codex", ["exec"], Address(proxy.url), look(home, work, variables))
        command = [str(install("codex") / ".bin" / "codex"), *started.arguments, "exec", "--skip-git-repo-check"]
        variables |= started.environment
        status, told = await run([*command, "Say hello."], work, variables, SECONDS, folder / "output")
    return "" if status == 0 and "OK." in told else f"it ended with {status}: {told[-600:]}"


async def _checked(folder: Path, name: str) -> str:
    """What is wrong with one login; empty where nothing is."""
    async with fake_provider() as chatgpt, fake_provider() as api:
        if fault := await _turn(folder, LOGINS[name], chatgpt, api):
            return fault
        right, wrong = (chatgpt, api) if name == "ChatGPT" else (api, chatgpt)
        if wrong.requests:
            return f"{wrong.last.path} came to the wrong host"
        path = "/backend-api/codex/responses" if name == "ChatGPT" else "/v1/responses"
        if right.last.path != path:
            return f"{right.last.path} came, and not {path}"
        headers = {key.lower(): value for key, value in right.last.headers.items()}
        credential = _token() if name == "ChatGPT" else KEY
        if headers.get("authorization") != f"Bearer {credential}":
            return "the credential did not come as it was"
        account = ACCOUNT if name == "ChatGPT" else None
        return "" if headers.get("chatgpt-account-id") == account else "the account did not come as it was"


async def main() -> int:
    """Try each login; the exit code."""
    faults = 0
    for name in LOGINS:
        folder = Path(tempfile.mkdtemp(prefix="login-"))
        try:
            fault = await _checked(folder, name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"Codex with {name}: {fault or 'as it should be'}")
        faults += bool(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        install("codex"), install_node()
    except NotInstalled as error:
        sys.exit(str(error))
    if os.environ.get("INSIDE") != "1":
        apart = isolation()
        if apart is None:
            sys.exit("this machine gives no process a network of its own")
        again = [*apart, sys.executable, "-m", "tests.e2e.login"]
        sys.exit(subprocess.run(again, env={**os.environ, "INSIDE": "1"}, check=False).returncode)
    raise_loopback()
    if not only_loopback():
        sys.exit("this must run in a network namespace of its own")
    sys.exit(asyncio.run(main()))
