"""Files are read inside of a checkout only, by no link, and nothing that looks like a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.features.checkouts import files
from memory.features.checkouts.finding import found
from memory.features.checkouts.git import git
from memory.features.checkouts.looking import look
from memory.unread_files import MARKER
from tests.memory.features.checkouts.repository import Repository


@pytest.mark.parametrize("path", ["../out.txt", "/etc/passwd", "a/../../out.txt", "", ".", "a//b.txt", "a\0b"])
def test_nothing_outside_is_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "out.txt").write_text("out")
    root = tmp_path / "in"
    root.mkdir()
    assert files.read(str(root), path) is None
    with files.CheckoutFiles(str(root)) as inside:
        assert inside.signature(path) is None


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_text("out")
    root = tmp_path / "in"
    root.mkdir()
    (root / "folder").symlink_to(tmp_path / "out")
    (root / "a.txt").symlink_to(tmp_path / "out" / "a.txt")
    assert files.read(str(root), "folder/a.txt") is None
    with pytest.raises(OSError, match="symbolic"):
        files.read(str(root), "a.txt")


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        "config/.env",
        "certs/server.pem",
        "id_rsa",
        "deploy/id_ed25519.pub",
        ".npmrc",
        "secrets.yaml",
        "prod.tfvars",
        "config/credentials.json",
        ".ssh/config",
        "secrets/db.py",
        ".git/config",
        "api-token.txt",
        "kubeconfig.yaml",
        "db_password",
    ],
)
def test_what_looks_like_a_secret_is_not_read(path: str) -> None:
    assert files.secret_like(path)


@pytest.mark.parametrize(
    "path",
    ["src/tokens.py", "src/secret.rs", "src/credentials.ts", "environment.py", "docs/keys.md", "a/token_bucket.go"],
)
def test_code_that_deals_with_secrets_is_read(path: str) -> None:
    assert not files.secret_like(path)


def test_what_is_ignored_or_secret_is_cited_nowhere(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "loom")
    repository.write("build/out.py", "def made_by_build():\n    return 1\n")
    repository.write("config/server.pem", "PORT = 7400\n")
    repository.commit("more")
    view = look(str(repository.root))
    assert view is not None and "build/out.py" not in view.files and ".env" not in view.files
    text = "The call made_by_build() in build/out.py is slow; config/server.pem has port 7400; see .env."
    cites = found(text, view)
    assert [each.name for each in cites] == ["build/out.py", "made_by_build"], "they may come into git one day"
    assert not any(each.seen or each.file for each in cites)


def test_only_ones_own_checkouts_below_the_allowed_folders_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "loom").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "loom")
    assert files.allowed(str(tmp_path / "loom"), ())
    assert files.allowed(str(tmp_path / "loom"), (tmp_path,))
    assert not files.allowed(str(tmp_path / "loom"), (tmp_path / "other",))
    assert not files.allowed(str(tmp_path / "link"), ())
    assert not files.allowed(str(tmp_path / "nowhere"), ())


def test_nothing_that_a_repository_names_is_run(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "loom")
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "diff.external",
        "diff.text.command",
        "diff.text.textconv",
        "gpg.program",
        "core.pager",
    ):
        repository.git("config", name, str(script))
    repository.git("config", "log.showSignature", "true")
    repository.write(".gitattributes", "*.py diff=text filter=text\n")
    repository.git("config", "filter.text.smudge", "cat")
    repository.git("mv", "src/queue.py", "src/jobs.py")
    ran.unlink(missing_ok=True)
    view = look(str(repository.root))
    assert view is not None and view.renamed == {"src/queue.py": "src/jobs.py"}
    found("drain_jobs() is in src/jobs.py.", view)
    assert git(str(repository.root), "log", "-p", "--no-ext-diff", "--no-textconv")
    assert not ran.exists()


def test_what_a_folder_says_is_never_read_is_not(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "boat"
    (root / "src").mkdir(parents=True)
    for name in ("a.txt", "src/a.txt", "src/b.txt", "notes.md"):
        (root / name).write_text("moored")
    (root.parent / MARKER).write_text('never_read = ["notes.md"]')
    (root / "src" / MARKER).write_text('never_read = ["a.txt"]')
    read = {name: files.read(str(root), name) for name in ("a.txt", "src/a.txt", "src/b.txt", "notes.md")}
    assert read == {"a.txt": b"moored", "src/a.txt": None, "src/b.txt": b"moored", "notes.md": None}
    (root / "src" / MARKER).write_text("never_read = 3")
    assert files.read(str(root), "src/b.txt") is None, "of what cannot be understood nothing is read"
