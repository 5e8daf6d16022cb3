"""What systemd and launchd are given, word for word, and whether systemd itself finds it right."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from proxy.cli.services import launchd, systemd
from proxy.cli.services.installation import ServiceState, ServiceTarget

HOME = Path("/home/ada/.palimpsest")
SERVED = ServiceTarget(["/opt/p/bin/palimpsest"], HOME, "127.0.0.1", 8484, HOME / "server.log")

SERVICE = """\
[Unit]
Description=Palimpsest, a memory for coding agents
Documentation=https://pypi.org/project/palimpsest-proxy/
Requires=palimpsest.socket
After=palimpsest.socket
StartLimitIntervalSec=60
StartLimitBurst=10

[Service]
Type=exec
ExecStart=/opt/p/bin/palimpsest serve --home /home/ada/.palimpsest --log-file /home/ada/.palimpsest/server.log
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=30
StandardOutput=null
NoNewPrivileges=yes

[Install]
WantedBy=default.target
Also=palimpsest.socket
"""

SOCKET = """\
[Unit]
Description=Palimpsest, a memory for coding agents: its address

[Socket]
ListenStream=127.0.0.1:8484
Backlog=1024

[Install]
WantedBy=sockets.target
"""

AGENT = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>dev.palimpsest.proxy</string>
	<key>ProgramArguments</key>
	<array>
		<string>/opt/p/bin/palimpsest</string>
		<string>serve</string>
		<string>--home</string>
		<string>/home/ada/.palimpsest</string>
		<string>--log-file</string>
		<string>/home/ada/.palimpsest/server.log</string>
		<string>--launchd</string>
		<string>Listeners</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>2</integer>
	<key>ExitTimeOut</key>
	<integer>30</integer>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>StandardOutPath</key>
	<string>/dev/null</string>
	<key>StandardErrorPath</key>
	<string>/home/ada/.palimpsest/server.log</string>
	<key>Sockets</key>
	<dict>
		<key>Listeners</key>
		<dict>
			<key>SockNodeName</key>
			<string>127.0.0.1</string>
			<key>SockServiceName</key>
			<string>8484</string>
			<key>SockFamily</key>
			<string>IPv4</string>
		</dict>
	</dict>
</dict>
</plist>
"""


def test_systemd_is_given_a_service_and_its_socket() -> None:
    made = systemd.installation(SERVED, Path("/units"))
    assert made.files == {Path("/units/palimpsest.service"): SERVICE, Path("/units/palimpsest.socket"): SOCKET}
    both = ("palimpsest.socket", "palimpsest.service")
    assert made.reload == (("systemctl", "--user", "daemon-reload"),)
    assert made.install == (("systemctl", "--user", "enable", "--now", *both),)
    assert made.stop == (("systemctl", "--user", "stop", *both),)
    assert made.uninstall == (("systemctl", "--user", "disable", "--now", *both),)


@pytest.mark.parametrize(("host", "port"), [("box.local", 8484), ("127.0.0.1", 0)])
def test_where_no_manager_can_listen_the_server_listens_itself(host: str, port: int) -> None:
    served = ServiceTarget(["p"], HOME, host, port, HOME / "server.log")
    agent = plistlib.loads(launchd.agent(served).encode())
    assert "Sockets" not in agent and agent["ProgramArguments"][4:8] == ["--host", host, "--port", str(port)]
    made = systemd.installation(served, Path("/units"))
    [(file, text)] = made.files.items()
    assert file.name == "palimpsest.service" and "socket" not in text and f"--host {host} --port {port}" in text
    assert made.stop == (("systemctl", "--user", "stop", "palimpsest.service"),)


@pytest.mark.parametrize(
    ("host", "place"),
    [("localhost", "127.0.0.1:8484"), ("::1", "[::1]:8484"), ("[::1]", "[::1]:8484"), ("0.0.0.0", "0.0.0.0:8484")],
)
def test_an_address_is_written_as_systemd_writes_it(host: str, place: str) -> None:
    assert systemd.listened(ServiceTarget(["p"], HOME, host, 8484, HOME / "server.log")) == place


@pytest.mark.parametrize(
    ("text", "written"),
    [("/a/b-c", "/a/b-c"), ("a b", '"a b"'), ('a"\\', '"a\\"\\\\"'), ("50%$HOME", "50%%$$HOME"), ("", '""')],
)
def test_any_folder_can_stand_in_a_unit(text: str, written: str) -> None:
    assert systemd.word(text) == written
    with pytest.raises(ValueError, match="line break"):
        systemd.word(text + "\n")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("home", ["/home/ada/.palimpsest", '/home/ada/my "50%" $memory'])
def test_systemd_finds_nothing_wrong(home: str, tmp_path: Path) -> None:
    program = shutil.which("true")
    assert program is not None
    served = ServiceTarget([program], Path(home), "::1", 8484, Path(home) / "server.log", Path(home) / "my config.yaml")
    made = systemd.installation(served, tmp_path)
    for file, text in made.files.items():
        file.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", *map(str, made.files)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_LOG_LEVEL": "warning"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_launchd_is_given_an_agent() -> None:
    made = launchd.installation(SERVED, Path("/agents"), 501)
    [(file, text)] = made.files.items()
    assert file == Path("/agents/dev.palimpsest.proxy.plist") and text == AGENT
    assert made.install == (
        ("launchctl", "enable", "gui/501/dev.palimpsest.proxy"),
        ("launchctl", "bootstrap", "gui/501", str(file)),
    )
    assert made.stop == made.uninstall == (("launchctl", "bootout", "gui/501/dev.palimpsest.proxy"),)


KEYS: dict[str, object] = {
    "Label": str,
    "ProgramArguments": [str],
    "RunAtLoad": bool,
    "KeepAlive": {"SuccessfulExit": bool},
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "ProcessType": ("Background", "Standard", "Adaptive", "Interactive"),
    "StandardOutPath": str,
    "StandardErrorPath": str,
    "Sockets": {
        launchd.SOCKET: {"SockNodeName": str, "SockServiceName": str, "SockFamily": ("IPv4", "IPv6", "IPv4v6")}
    },
}
"""What the manual page launchd.plist(5) lets an agent have, of all that ours could: the type of each value, or the
words that it may be."""


def documented(value: object, form: object) -> bool:
    """Whether a value is one that the manual page lets stand there."""
    if isinstance(form, dict):
        return isinstance(value, dict) and all(key in form and documented(value[key], form[key]) for key in value)
    if isinstance(form, list):
        return isinstance(value, list) and bool(value) and all(documented(each, form[0]) for each in value)
    return value in form if isinstance(form, tuple) else type(value) is form


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "box.local"])
def test_an_agent_has_only_what_launchd_documents(host: str) -> None:
    text = launchd.agent(ServiceTarget(["/opt/p/bin/palimpsest"], HOME, host, 8484, HOME / "server.log"))
    told = plistlib.loads(text.encode(), fmt=plistlib.FMT_XML)
    assert documented(told, KEYS) and told["Label"] == launchd.LABEL
    assert Path(told["ProgramArguments"][0]).is_absolute(), "launchd knows no PATH of a shell"
    assert not documented(told | {"Restart": True}, KEYS) and not documented(told | {"RunAtLoad": 1}, KEYS)


def test_a_manager_waits_as_long_as_the_server_may_take_to_end() -> None:
    served = ServiceTarget(["p"], HOME, "127.0.0.1", 8484, HOME / "server.log", end_seconds=625)
    assert plistlib.loads(launchd.agent(served).encode())["ExitTimeOut"] == 625
    assert "TimeoutStopSec=625\n" in systemd.service(served, None)


def test_an_agents_folder_may_have_any_letter_in_it() -> None:
    home = Path("/Users/a & b/<memory>")
    told = plistlib.loads(launchd.agent(ServiceTarget(["p"], home, "::1", 1, home / "log", home / "c.yaml")).encode())
    assert told["ProgramArguments"][2:6] == ["--home", str(home), "--config", str(home / "c.yaml")]


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("LoadState=loaded\nActiveState=active\nMainPID=77\n", ServiceState("active", 77)),
        ("LoadState=loaded\nActiveState=failed\nMainPID=0\n", ServiceState("failed")),
        ("LoadState=not-found\nActiveState=inactive\nMainPID=0\n", ServiceState("inactive", known=False)),
        ("", ServiceState("unknown", known=False)),
    ],
)
def test_systemds_answer_is_read(told: str, state: ServiceState) -> None:
    assert systemd.state(told) == state


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("gui/501/x = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 42\n}\n", ServiceState("running", 42)),
        ("gui/501/x = {\n\tstate = not running\n}\n", ServiceState("not running")),
        ("gui/501/x = {\n\tstate = SIGTERMed\n\tpid = 42\n}\n", ServiceState("SIGTERMed", 42, ending=True)),
        ("", ServiceState("not loaded", known=False)),
    ],
)
def test_launchds_answer_is_read(told: str, state: ServiceState) -> None:
    assert launchd.state(told) == state
