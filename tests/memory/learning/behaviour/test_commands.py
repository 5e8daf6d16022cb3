"""A command is known by what it does, whatever stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.behaviour.commands import simple_commands, target


@pytest.mark.parametrize(
    ("command", "shapes"),
    [
        ("pytest tests/test_a.py", ["pytest <path>"]),
        ("cd src && go test ./... -run TestX -v 2>&1 | tail -20", ["go test ./... -run <arg> -v"]),
        ('git add -A && git commit -m "a b" && git push', ["git add -A", "git commit -m <text>", "git push"]),
        ("FOO=1 timeout 30 python -m pytest -x", ["python -m pytest -x"]),
        ("npm run build -- --watch", ["npm run build -- --watch"]),
        ("gh pr create --title 'x y'", ["gh pr create --title <text>"]),
        ("git -C /a/b checkout 3f2a9bc1", ["git checkout <hash>"]),
        ("python3 scripts/deploy.py --port 5432", ["python3 deploy.py --port <n>"]),
        ("./run.sh https://a.example/b", ["./run.sh <url>"]),
        ("echo secret | docker login", ["docker login"]),
        ("cat > a.py <<'EOF'\nrm -rf /\nEOF", ["cat"]),
        ("cd /tmp; export A=b", []),
    ],
)
def test_a_command_by_its_shape(command: str, shapes: list[str]) -> None:
    assert [simple.shape for simple in simple_commands(command)] == shapes


@pytest.mark.parametrize("command", ["git status", "ls -la", "sed -n 1,5p a", "npm --help", "gh pr view 3"])
def test_what_only_looks_is_told(command: str) -> None:
    assert all(simple.looks for simple in simple_commands(command))


@pytest.mark.parametrize("command", ["git commit -m x", "sed -i s/a/b/ c", "make test"])
def test_what_does_something_is_told(command: str) -> None:
    assert not any(simple.looks for simple in simple_commands(command))


@pytest.mark.parametrize(
    "command",
    [
        "sshpass -p hunter2pw ssh host ls",
        "redis-cli -a hunter2pw ping",
        "redis-cli -a hunterpw ping",
        "kubectl --token hunterpw get pods",
        "http --auth bob:hunter2pw GET a",
        "gpg --passphrase hunterpw -d a",
        "mycli hunter2pw --fast",
        "vault login -method=userpass hunterpw",
    ],
)
def test_what_may_be_a_password_names_nothing(command: str) -> None:
    for simple in simple_commands(command):
        assert "hunter" not in simple.family + simple.shape


@pytest.mark.parametrize(
    ("command", "family"),
    [
        ("git --no-pager log", "git log"),
        ("kubectl --context a get pods", "kubectl get"),
        ("npm --silent run e2e", "npm run e2e"),
        ("make py311", "make py311"),
    ],
)
def test_a_subcommand_behind_flags_is_found(command: str, family: str) -> None:
    assert [simple.family for simple in simple_commands(command)] == [family]


@given(st.text(max_size=300))
def test_any_text_is_read_without_harm(command: str) -> None:
    for simple in simple_commands(command):
        assert simple.family and len(simple.shape) <= 120
    target(command)
