"""A real Chromium without a window, spoken to by the DevTools protocol (needs Debian's ``chromium``)."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 300.0
"""How long the browser may take for one thing. Nothing waits for it: a machine that builds beside may take minutes."""
LOOK_SECONDS = 0.05
LOOKS = round(SECONDS / LOOK_SECONDS)
ATTEMPT_MS = 120_000
WEBP_QUALITY = 60


INSTALL_SECONDS = 60.0
"""How long Debian's packages may take to come. A network that needs longer is not waited for."""

APT = ("apt-get", "--quiet", "--yes")

LEFT_OUT = "LEFT OUT: no Chromium is here, so nothing of the web page was tried in a browser"


def program() -> str | None:
    """The browser that is installed here."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


def install(root: bool, seconds: float = INSTALL_SECONDS) -> str:
    """Install Debian's where there is no browser, and we may; why there is none, empty where there is one.

    What is fetched is given up after some ``seconds``; what is there is installed however long that takes: half a
    package would be worse than none.
    """
    if program() is not None:
        return ""
    if not root or shutil.which(APT[0]) is None:
        return "apt-get install chromium, as root"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    until = time.monotonic() + seconds
    try:
        for step in (("update",), ("install", "--no-install-recommends", "--download-only", "chromium")):
            left = max(until - time.monotonic(), 0.0)
            subprocess.run([*APT, *step], env=environment, capture_output=True, timeout=left, check=True)
        install = [*APT, "install", "--no-install-recommends", "--no-download", "chromium"]
        subprocess.run(install, env=environment, capture_output=True, check=True)
    except subprocess.TimeoutExpired:
        return f"apt-get has not fetched it in {seconds:.0f} s"
    except subprocess.CalledProcessError as error:
        return f"apt-get: {error.stderr.decode(errors='replace').strip()[-300:]}"
    return "" if program() is not None else "apt-get installed none"


class Chromium:
    """A page of a browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._told: list[str] = []
        self._stand_in = ""

    async def visit(self, url: str, ends: str = "") -> None:
        """Open an address and wait until its page is there, whatever its status; at the address where it ``ends``."""
        await self.call("Page.enable")
        await self.call("Page.navigate", url=url)
        await self.arrived(ends or url)

    async def visit_instead(self, url: str, html: str) -> None:
        """Open an address whose page is this text, which nobody was asked for: as if the name had stood for another
        machine until then. What the page asks for goes to the address itself."""
        self._stand_in = base64.b64encode(html.encode()).decode()
        await self.call("Fetch.enable", patterns=[{"urlPattern": url, "resourceType": "Document"}])
        await self.visit(url)
        await self.call("Fetch.disable")

    async def arrived(self, url: str) -> None:
        """Wait until the page of an address is there."""
        for _ in range(LOOKS):
            if await self.run("return location.href + document.readyState") == f"{url}complete":
                return
            await asyncio.sleep(LOOK_SECONDS)
        raise TimeoutError(f"{url} does not come up; {await self.run('return location.href')} did")

    async def run(self, script: str, **names: Any) -> Any:
        """What a script returns in the page; that it failed where it did."""
        given = "".join(f"const {name} = {json.dumps(value)};" for name, value in names.items())
        done = f"(async () => {{ {given} try {{ {script} }} catch (error) {{ return '' }} }})()"
        late = f"new Promise(late => setTimeout(() => late('no end'), {ATTEMPT_MS}))"
        expression = f"Promise.race([{done}, {late}])"
        told = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return told.get("result", {}).get("value")

    async def press(self, key: str) -> None:
        """Press a key of the keyboard."""
        code = {"code": f"Key{key.upper()}", "windowsVirtualKeyCode": ord(key.upper()), "key": key}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=key, **code)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    async def sized(self, width: int, height: int, dark: bool = False) -> None:
        """A window of this size, and light or dark as its owner likes it."""
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    async def picture(self, file: Path) -> None:
        """The whole page as a PNG."""
        told = await self.call("Page.captureScreenshot", captureBeyondViewport=True)
        await asyncio.to_thread(file.write_bytes, base64.b64decode(told["data"]))

    async def screenshot(self, file: Path) -> None:
        """What the window shows, as a small WebP."""
        told = await self.call("Page.captureScreenshot", format="webp", quality=WEBP_QUALITY)
        await asyncio.to_thread(file.write_bytes, base64.b64decode(told["data"]))

    async def listen(self) -> None:
        """Hear what the browser says about pages from now on: what a policy refuses, and what fails in scripts."""
        await self.call("Log.enable")
        await self.call("Runtime.enable")

    async def complaints(self) -> list[str]:
        """What was heard since this was asked last."""
        await self.call("Runtime.evaluate", expression="1")
        told, self._told = self._told, []
        return told

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the browser answers."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(SECONDS):
            while True:
                told = await self._socket.receive_json()
                await self._hear(told)
                if told.get("id") == number:
                    result: dict[str, Any] = told.get("result", {})
                    return result

    async def _hear(self, told: dict[str, Any]) -> None:
        given = told.get("params", {})
        if told.get("method") == "Fetch.requestPaused":
            page = {"responseCode": 200, "body": self._stand_in}
            page["responseHeaders"] = [{"name": "Content-Type", "value": "text/html"}]
            number = next(self._numbers)
            answer = {"requestId": given["requestId"], **page}
            await self._socket.send_json({"id": number, "method": "Fetch.fulfillRequest", "params": answer})
        elif told.get("method") == "Log.entryAdded" and given["entry"]["level"] in ("warning", "error"):
            self._told.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")
        elif told.get("method") == "Runtime.exceptionThrown":
            self._told.append(str(given["exceptionDetails"].get("exception", {}).get("description", "a script failed")))
        elif told.get("method") == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning"):
            self._told.append(f"console: {given['args']}")


@asynccontextmanager
async def chromium(program: str, names: Sequence[str] = ()) -> AsyncIterator[Chromium]:
    """A browser of its own, for which some ``names`` stand for this machine."""
    rules = ", ".join(f"MAP {name} 127.0.0.1" for name in names)
    with tempfile.TemporaryDirectory(prefix="palimpsest-chromium-", ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            program,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--no-proxy-server",
            "--hide-scrollbars",
            # What it keeps from us by itself is not what is tried here.
            "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,HttpsUpgrades",
            *([f"--host-resolver-rules={rules}"] if rules else []),
            f"--user-data-dir={folder}",
            "--remote-debugging-port=0",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _debugging_port(Path(folder) / "DevToolsActivePort")
            async with aiohttp.ClientSession() as client:
                async with client.get(f"http://127.0.0.1:{port}/json/list") as reply:
                    pages = await reply.json()
                address = next(each["webSocketDebuggerUrl"] for each in pages if each["type"] == "page")
                async with client.ws_connect(address, max_msg_size=0) as socket:
                    yield Chromium(socket)
        finally:
            process.kill()
            await process.wait()


async def _debugging_port(file: Path) -> int:
    for _ in range(LOOKS):
        if told := await asyncio.to_thread(lambda: file.read_text().split() if file.exists() else []):
            return int(told[0])
        await asyncio.sleep(LOOK_SECONDS)
    raise TimeoutError("the browser does not start")
