"""The key of an installation, and what is a secret of ours."""

from __future__ import annotations

import base64
import stat
from pathlib import Path
from urllib.parse import quote

import pytest

from memory.learning.redact import redact
from proxy.auth.installation_key import (
    InstallationKey,
    OwnSecrets,
    installation_keys_in,
    is_installation_key,
    write_new_key,
)


def test_a_key_is_made_once_in_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file = tmp_path / "home" / "key"
    key = InstallationKey(file)
    assert is_installation_key(key.value) and key.matches(key.value)
    assert InstallationKey(file).value == key.value
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("told", ["", "palimpsest-", "palimpsest-" + "0" * 32, "x", "palimpsest-" + "é" * 32])
def test_nothing_else_matches(told: str, tmp_path: Path) -> None:
    assert not InstallationKey(tmp_path / "key").matches(told)


def test_a_new_key_holds_at_once_and_the_one_before_opens_nothing_more(tmp_path: Path) -> None:
    file = tmp_path / "key"
    key = InstallationKey(file)
    before = key.value
    after = write_new_key(file)
    assert after != before
    assert key.matches(after) and not key.matches(before)


def test_a_key_whose_file_is_gone_or_damaged_stays_in_force_and_is_not_taken_at_a_start(tmp_path: Path) -> None:
    file = tmp_path / "key"
    key = InstallationKey(file)
    before = key.value
    file.write_text("something else")
    assert key.matches(before)
    with pytest.raises(ValueError, match="holds no key"):
        InstallationKey(file)
    file.unlink()
    assert key.matches(before)
    file.write_text("")
    assert is_installation_key(InstallationKey(file).value)


LONG = "a-long-key-of-bob-1234"
OURS = OwnSecrets("the-token", ["key-of-ada", "a key with/odd", LONG])


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        ("the-token", True),
        ("Bearer the-token", True),
        ("bearer   key-of-ada ", True),
        ("Bearer a key with/odd", True),
        (f"x{LONG}y", True),
        (f"/v1/palimpsest-{'0' * 32}embeddings", True),
        ("xkey-of-aday", False),
        ("session=key-of-ada; other=1", True),
        ("http://127.0.0.1:8484/k/key-of-ada/v1", True),
        ("Basic " + base64.b64encode(b"ada:key-of-ada").decode(), True),
        ("Basic " + base64.b64encode(b"key-of-ada:").decode().rstrip("="), True),
        ("basic\t" + base64.urlsafe_b64encode("ÿÿ?:key-of-ada".encode()).decode(), True),
        (LONG.upper(), True),
        ("Bearer " + quote(quote(LONG.replace("a", "%61"))), True),
        (LONG.replace("a", "%" + "25" * 20_000 + "61"), True),
        ("%" + "25" * 30_000, False),
        ("Bearer palimpsest-" + "a" * 32, True),
        ("Palimpsest-" + "A" * 32, True),
        ("Bearer sk-proj-1234", False),
        ("Basic " + base64.b64encode(b"ada:other").decode(), False),
        ("Basic ????", False),
        ("the-tokens", False),
        ("palimpsest/1.0", False),
        ("", False),
    ],
)
def test_a_secret_of_ours_is_known_wherever_it_stands(value: str, ours: bool) -> None:
    assert OURS.stand_in(value) is ours


def test_where_there_is_no_token_an_empty_header_is_no_secret() -> None:
    assert not OwnSecrets("", []).stand_in("")


def test_a_key_in_a_talk_is_stored_nowhere() -> None:
    key = "palimpsest-0123456789abcdef0123456789abcdef"
    for text in (f"base_url = http://127.0.0.1:8484/k/{key}/v1", f"the key is {key} ok"):
        assert key not in redact(text).text


def test_keys_are_found_in_a_text() -> None:
    one, two = "palimpsest-" + "1" * 32, "palimpsest-" + "2" * 32
    assert installation_keys_in(f'"url": "http://h/k/{one}/v1", "/k/{two}"') == {one, two}
    assert installation_keys_in("palimpsest-1234") == frozenset()


@pytest.mark.parametrize("times", range(1, 12))
def test_a_secret_is_known_however_often_each_of_its_letters_is_encoded(times: int) -> None:
    encoded = LONG[0]
    for _ in range(times):
        encoded = "".join(f"%{byte:02x}" for byte in encoded.encode()) if len(encoded) < 9000 else f"%25{encoded[1:]}"
    assert OURS.stand_in(encoded + LONG[1:])
