"""What is sealed is opened by its passphrase alone, here and by every program that knows the format."""

from __future__ import annotations

import base64
import io
import tarfile
from pathlib import Path

import pytest

from memory.stores import sealed
from memory.stores.backups.backup import NoBackup
from memory.stores.backups.sealing import unseal
from memory.stores.sealed import CHUNK, Sealed, Unsealer, sealing

PASSPHRASE = "correct horse battery"

BY_RAGE = base64.b64decode(
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCB1S2ZNZXp2czVtNGdWVXY4M3pQT3VRIDE3Cm15MDNtR3lpMGZJU2xONEc2TVNmNUpBQjNX"
    "ei9kdXIvMzJlNTJoK2VQTzQKLS0tIHFMdkM0eW1yeExEbjN1RXJnVVZ6YlhxMFMraFh1MzhNb3ZGZWRSazEwUEEK7cG7YHh73Q5XtC9sGXeTXKSw"
    "Hf8Vsr4I2cJ+iu82AlotI0BWvWM5jmnjlg=="
)
"""``Palimpsest`` and a line's end, sealed by another program of this format (pyrage 1.4.0)."""


@pytest.fixture(autouse=True)
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "WORK", 10)


def packed(data: bytes) -> bytes:
    stream = io.BytesIO()
    with sealing(stream, PASSPHRASE) as sealer:
        for start in range(0, len(data), 5000):
            sealer.write(data[start : start + 5000])
    return stream.getvalue()


def opened(data: bytes, passphrase: str = PASSPHRASE) -> bytes:
    return Unsealer(io.BytesIO(data), passphrase).read()


def test_what_another_program_sealed_is_opened() -> None:
    assert opened(BY_RAGE) == b"Palimpsest\n"


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 17])
def test_any_size_comes_back_and_is_told_by_nothing_but_the_passphrase(size: int) -> None:
    data = bytes(number % 251 for number in range(size))
    told = packed(data)
    assert opened(told) == data and (size < 100 or data[:50] not in told)
    assert packed(data) != told
    with pytest.raises(Sealed, match="passphrase"):
        opened(told, PASSPHRASE + "!")


def test_it_is_read_in_pieces() -> None:
    reader = Unsealer(io.BytesIO(packed(bytes(CHUNK) + b"end")), PASSPHRASE)
    told = [reader.read(size) for size in (10, CHUNK - 11, 2, 100, 1)]
    assert [len(each) for each in told] == [10, CHUNK - 11, 2, 2, 0] and b"".join(told) == bytes(CHUNK) + b"end"


def test_whatever_byte_is_changed_it_is_noticed() -> None:
    told = packed(b"x" * (CHUNK + 100))
    for at in (*range(300), CHUNK, len(told) - 1):
        changed = bytearray(told)
        changed[at] ^= 1
        with pytest.raises(Sealed):
            opened(bytes(changed))


def test_what_is_cut_off_reordered_or_longer_is_noticed() -> None:
    told = packed(b"x" * 3 * CHUNK)
    head = len(told) - 3 * (CHUNK + 16)
    first, second = told[head : head + CHUNK + 16], told[head + CHUNK + 16 : head + 2 * (CHUNK + 16)]
    for changed in (
        told[: head + CHUNK + 16],
        told[: head + 2 * (CHUNK + 16)],
        told[:-1],
        told[:head],
        told[: head - 8],
        told[:40],
        b"",
        told + b"x",
        told[:head] + second + first + told[head + 2 * (CHUNK + 16) :],
    ):
        with pytest.raises(Sealed):
            opened(changed)


def test_a_file_that_asks_for_endless_work_is_refused_before_any_is_done() -> None:
    with pytest.raises(Sealed, match="work"):
        opened(packed(b"x").replace(b" 10\n", b" 30\n", 1))


def test_a_short_passphrase_is_refused() -> None:
    with pytest.raises(Sealed, match="at least 12"), sealing(io.BytesIO(), "hunter2"):
        pass


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "pages/../../outside", "link", "folder"])
def test_what_no_backup_holds_is_taken_out_nowhere(name: str, tmp_path: Path) -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        member = tarfile.TarInfo(name)
        member.type = {"link": tarfile.SYMTYPE, "folder": tarfile.DIRTYPE}.get(name, tarfile.REGTYPE)
        member.linkname = "/etc/passwd" if name == "link" else ""
        tar.addfile(member)
    file = tmp_path / "hostile.age"
    file.write_bytes(packed(plain.getvalue()))
    (tmp_path / "scratch").mkdir()
    with pytest.raises(NoBackup, match="what no backup does"):
        unseal(file, tmp_path / "scratch", PASSPHRASE)
    assert [each.name for each in (tmp_path / "scratch").rglob("*")] == ["backup"]
    assert not (tmp_path / "outside").exists()
