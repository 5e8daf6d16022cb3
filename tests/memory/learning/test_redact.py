"""No secret stays, little else goes, and no text is too strange.

All secrets here are invented: random letters from a counter behind a prefix that is put together at run time.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from itertools import islice
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning import redact as redaction
from memory.learning.redact import Redacted, redact
from memory.learning.secrets import assignments, commands, issued, locations, prefixes, private_keys, values

BASE62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def drawn(length: int, alphabet: str = BASE62, seed: int = 0) -> str:
    """Letters as random as a key's, and always the same."""
    digest = b"".join(hashlib.sha256(f"dead {seed} {block}".encode()).digest() for block in range(length // 32 + 1))
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:length])


HEX = "0123456789abcdef"
DIGITS = "0123456789"
BODY = "\n".join(drawn(64, BASE62 + "+/", seed) for seed in range(6))
PEM = "-----BEGIN " + "RSA PRIVATE KEY-----\n" + BODY + "\n" + drawn(22) + "==\n-----END " + "RSA PRIVATE KEY-----"
JWT = ".".join(("ey" + "J" + drawn(33), "ey" + "J" + drawn(60, seed=1), drawn(43, seed=2)))

ISSUED = {
    "openai key": "sk-" + "proj-" + drawn(48),
    "anthropic key": "sk-" + "ant-api03-" + drawn(93),
    "aws key": "AK" + "IA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "github token": "gh" + "p_" + drawn(36),
    "gitlab token": "gl" + "pat-" + drawn(20),
    "slack token": "xo" + "xb-" + drawn(12, DIGITS) + "-" + drawn(24),
    "stripe key": "sk_" + "live_" + drawn(24),
    "google key": "AI" + "za" + drawn(35),
    "npm token": "np" + "m_" + drawn(36),
    "pypi token": "py" + "pi-AgEI" + drawn(80),
    "hugging face token": "h" + "f_" + drawn(34),
    "sendgrid key": "S" + "G." + drawn(22) + "." + drawn(43),
    "twilio key": "S" + "K" + drawn(32, HEX),
    "telegram token": drawn(10, "123456789") + ":AA" + drawn(33),
    "square token": "sq0" + "atp-" + drawn(22),
    "shopify token": "shp" + "at_" + drawn(32, HEX),
    "digitalocean token": "do" + "p_v1_" + drawn(64, HEX),
    "databricks token": "da" + "pi" + drawn(32, HEX),
    "vault token": "hv" + "s." + drawn(24),
    "private key": "AGE-" + "SECRET-KEY-1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "doppler token": "dp." + "pt." + drawn(43),
    "linear key": "lin_" + "api_" + drawn(40),
    "notion token": "nt" + "n_" + drawn(46),
    "figma token": "fi" + "gd_" + drawn(40),
    "mailgun key": "ke" + "y-" + drawn(32, HEX),
    "jwt": JWT,
}


@pytest.mark.parametrize("kind", ISSUED)
@pytest.mark.parametrize(
    "around", ["{}", "the key is {}, keep it", 'x = "{}"', "a,{},b", "one\\n{}\\ntwo", "[32m{}[0m", "k={}&b=1"]
)
def test_a_key_that_a_provider_issued_is_taken_out_wherever_it_stands(kind: str, around: str) -> None:
    secret = ISSUED[kind]
    redacted = redact(around.format(secret))
    assert secret not in redacted.text
    assert redacted.text.startswith(around.split("{}")[0])
    assert redacted.text.endswith(around.split("{}")[1])


@pytest.mark.parametrize("kind", ISSUED)
def test_the_placeholder_names_the_kind(kind: str) -> None:
    assert redact(f"here: {ISSUED[kind]}") == Redacted(f"here: [secret: {kind}]", 1, (kind,))


@pytest.mark.parametrize(
    "text",
    [
        PEM,
        PEM.replace("\n", "\\n"),
        PEM.replace("\n", "\\r\\n"),
        json.dumps({"key": json.dumps({"key": PEM})}),
        "\n".join(f'    "{line}\\n" +' for line in PEM.split("\n")),
        "\n".join(f"   *  {line}" for line in PEM.split("\n")),
        PEM[: len(PEM) // 2],
        PEM.split("\n", 1)[1],
        PEM.replace("\n", " "),
        PEM.replace("RSA ", "OPENSSH "),
        PEM.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    ],
    ids=[
        "whole",
        "escaped",
        "escaped crlf",
        "json in json",
        "concatenated",
        "in a comment",
        "cut off",
        "headless",
        "one line",
        "openssh",
        "pgp",
    ],
)
def test_no_line_of_a_private_key_stays(text: str) -> None:
    redacted = redact(text).text
    assert not [line for line in BODY.split("\n") if line in redacted]
    assert "PRIVATE KEY" not in redacted


def test_text_around_a_private_key_stays() -> None:
    assert (
        redact(f"before\n{PEM}\nafter the key, documentation").text
        == "before\n[secret: private key]\nafter the key, documentation"
    )


def test_a_certificate_is_public_and_stays() -> None:
    text = "-----BEGIN CERTIFICATE-----\n" + BODY + "\n-----END CERTIFICATE-----"
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ('password = "', "hunter2!x", '"'),
        ("PASSWORD=", "tr0ub4dor&3", ""),
        ("password = '", "open sesame", "'\n"),
        ('"passphrase": "', "river stone lamp 42 cat", '",'),
        ('password: "', "correct horse battery staple", '"'),
        ('secret: "', "development#product", '"\n'),
        ("password: ", "Corr3ct-Horse!", "\n"),
        ("DB_PASSWORD=", "swordfishes", "\nDB_HOST=db"),
        ('{"api_key": "', drawn(32), '", "retries": 3}'),
        ("api-key: ", drawn(32, HEX), "\n"),
        ("<password>", "s3cret-Wort", "</password>"),
        ('<add key="SmtpPassword" value="', "Pr3stig!", '"/>'),
        ("client_secret: '", drawn(24), "'"),
        ("aws_secret_access_key = ", drawn(40, BASE62 + "/+"), "\n"),
        ("AccountKey=", drawn(86, BASE62 + "+/") + "==", ";EndpointSuffix=core"),
        ("Authorization: Bearer ", drawn(40), "\n"),
        ("authorization: Basic ", drawn(28), "\n"),
        ("curl -u admin:", "s3cr3tpw", " https://example.org"),
        ("mysql -u root -p", "s3cr3tpw!", " shop"),
        ("machine api.example.org login me password ", "s3cr3tpw", "\n"),
        ("localhost:5432:shop:me:", "s3cr3tpw", "\n"),
        ("--token ", drawn(20), " run"),
        ("the password is '", "blueberry9", "'"),
        ("token is ", "1ace4d19-fa7e-42e4-a3f0-9129474bcd81", " I think"),
        ("Cookie: theme=dark; sid=", drawn(32), "; lang=en"),
        ("https://me:", "hunter2", "@git.example.org/x.git"),
        ("https://hooks.slack.com/services/", "T0" + drawn(8) + "/B0" + drawn(8) + "/" + drawn(24), " posts there"),
        ("$key = '", "wwf*2#86t64!fgh6yav$aoeu@u2o", "'"),
        ('os.environ.get("APP_PASSWORD") or "', "at5G6zi!m", '"'),
        ("acme_key = ", "12ab34CD56ef", "\n"),
        ("acme ACCESS ", "1234" + drawn(12), ""),
        ("acme SECRETS ACCESS ", "abcd1234567EFG", ""),
        ("acmekey=", "RST123UVW456", "\n"),
        ("ACME_API_TOKEN: ", drawn(16, "123456789"), "\n"),
        ('webtokensecret: "', "7`D'}vY;W]5E;_&k>qX?G&3C", '"\n'),
        ("Use this password to go on:\n\n", drawn(32, HEX), "\n\nIt stands in a file, too."),
        ("Your new token:\n  ", drawn(24), "\n"),
        ("Set ACME_TOKEN:\n", drawn(32, HEX), "\n"),
        ("The password of the cache:\n", drawn(32, HEX), "\n"),
        ("credential_code: ", "2345678901234567", "\n"),
        ("credential: ", "12345678901234567", "\n"),
        ("hash: ", "$2b$" + "12$" + drawn(53, BASE62 + "./"), "\n"),
    ],
)  # fmt: skip
def test_a_value_beside_a_name_goes_and_the_rest_stays(before: str, secret: str, after: str) -> None:
    redacted = redact(before + secret + after)
    assert redacted.text.startswith(before)
    assert redacted.text.endswith(after)
    assert secret not in redacted.text
    assert re.fullmatch(r"\[secret: [a-z ]+\]", redacted.text[len(before) : len(redacted.text) - len(after)])


@pytest.mark.parametrize(("line", "kind"), [("Your password:", "password"), ("Your new token:", "secret")])
def test_what_is_announced_names_its_kind(line: str, kind: str) -> None:
    assert redact(f"{line}\n{drawn(32, HEX)}\n").text == f"{line}\n[secret: {kind}]\n"


@pytest.mark.parametrize("signs", range(10))
def test_what_joins_words_with_four_signs_that_join_none_is_not_wordy(signs: int) -> None:
    assert values.wordy("alpha" + "!#$%^*~`?;"[:signs] + ".beta12") == (signs < 4)


def test_where_a_database_stands_goes_with_its_credentials() -> None:
    assert (
        redact("postgres://me:hunter2@db.example.org:5432/shop?ssl=1").text
        == "postgres://[secret: connection credentials]/shop?ssl=1"
    )


def test_a_secret_is_taken_out_where_it_is_repeated() -> None:
    assert redact('password = "hunter2!xyz"\nThen I typed hunter2!xyz again.').text.count("hunter2") == 0


@pytest.mark.parametrize(
    "text",
    [
        "The tokenizer counts 12000 tokens; max_tokens=4096 and the key point is speed.",
        "password = os.environ['DB_PASSWORD']",
        "password: ${DB_PASSWORD}",
        'api_key = "<your-api-key>"',
        'token: "xxxxxxxxxxxxxxxxxxxxxxxx"',
        'secret = "CHANGE_ME_PLEASE_1"',
        "PASSWORD=$PASSWORD",
        "{{ vault.password }}",
        "self.password = password",
        'def login(user="", password=""):',
        "amqp://user:*****@example.org",
        "amqp://user:$password@example.org",
        "--- PASS: TestGradientCells256Fallback (0.00s)",
        "pwd: /home/me/project",
        "primary_key = 'customer_id_2024'",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"integrity": "sha512-' + drawn(86, BASE62 + "+/") + '=="',
        "toolu_" + "01" + drawn(22),
        "call_" + drawn(24),
        '{"session_id": "1ace4d19-fa7e-42e4-a3f0-9129474bcd81"}',
        "src/components/AuthProvider/usePasswordReset.test.tsx:120:14",
        "getAccessTokenFromAuthorizationHeader(request)",
        "https://example.org:8443/path?x=1@2",
        "claude-opus-4-20250514, gpt-4o-mini-2024-07-18",
        "The files changed for the key feature:\n\nsrc/components/AuthProvider.tsx\n",
        "Built from the commit below, see the notes:\n3f786850e387550fdab836ed7e6dc881de23001b\n",
        "cache_key = 'user12345678abc'",
        'routing_key = "orders20240115eu"',
        "lookup_key: user1234profile5678",
        "translation_key: 'settings_page_title'",
        "Please press any key: monkey, keyboard, author, compass.",
        "Last commit where all tests pass:\n9fceb02d0ae598e95dc970b74767f19372d81af8\n",
        "All tests pass:\n9fceb02d0ae598e95dc970b74767f19372d81af8\n",
        "First bad one for the bypass:\n9fceb02d0ae598e95dc970b74767f19372d81af8\n",
        "The monkey:\n9fceb02d0ae598e95dc970b74767f19372d81af8\n",
        "This commit fixes the api key handling:\n\n9fceb02d0ae598e95dc970b74767f19372d81af8\n",
        "The cache key is:\n9fceb02d0ae598e95dc970b74767f19372d81af8\n",
        "Row with this primary key:\n550e8400-e29b-41d4-a716-446655440000\n",
        "Row with this key:\n550e8400-e29b-41d4-a716-446655440000\n",
        "The API microservice2024 handles it.",
        "LOGIN screenshot20240612.png",
        "KEY a1screenshot20240612b.png",
        "KEY performance2025 report",
        "SEED benchmark20241015 was used",
        "The api ab12345cd6789ef handles it.",
        "The API ab12cd34ef handles it.",
        "sync_token=1732290000000000",
        "sync_token=1732290000000000123",
        "credential_id: 2345678901234567",
        "credentialId: 2345678901234567",
        "page_token: 234567",
        "refresh token: 23456789012",
        "api_key = 'order12'",
        "x_key = ab12cd34ef56",
        "a.key = ab12cd34ef56",
        "key = ab12cd34ef56",
        "token: ab#12!cd34.html",
        '"password": "Forgot your password?"',
        '"password": "reset link sent"',
        'password = "must be at least 8 characters"',
        '{"password": "invalid login"}',
        '"password": "reset link was sent again"',
        'passwordHint: "letters digits symbols mixed",',
        'const PASSWORD_PLACEHOLDER = "new secret word"',
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == Redacted(text)


def test_text_without_secrets_is_the_same_object() -> None:
    text = "We decided to keep the retries at 3."
    assert redact(text).text is text


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize(
    "value", [*ISSUED.values(), PEM, 'password = "hunter2!x"\nnext', 'a "quoted" api_key: ' + drawn(32), JWT + "\\"]
)
def test_json_stays_json(value: str, levels: int) -> None:
    text = json.dumps({"content": f"line\t{value}\n", "password": 12345678, "path": "a.txt"})
    for _ in range(levels - 1):
        text = json.dumps({"arguments": text})
    inner: Any = redact(text).text
    for _ in range(levels):
        inner = json.loads(inner)
        inner = inner.get("arguments", inner)
    assert inner["path"] == "a.txt"
    assert inner["password"] == "[secret: password]"
    assert value.strip("\\") not in inner["content"]


FRAGMENTS = [
    *(PEM, PEM[:90], PEM[90:], "-----BEGIN ", "PRIVATE KEY", "-----", "eyJ", "sk-", "hunter2!", "${X}"),
    *("password", "token", "key", "secret", "Bearer ", "://", "[secret: ", "[secret: token]", "]", "İ", "\ud800"),
    *("mysql -p", "docker login -p ", "curl -u a:", "vault login ", "htpasswd -nb a ", "echo a:b | chpasswd"),
    *("=", ": ", '"', "'", "\\", "\\n", "\n", " ", "@", ":", ".", "/", "_", "-", "|", "$"),
]
PIECES = st.sampled_from([*ISSUED.values(), *FRAGMENTS])


@given(st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=20).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == Redacted(once.text)


@given(st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map("".join))
def test_any_json_stays_json(text: str) -> None:
    json.loads(redact(json.dumps({"password": text, "content": [text, 7]})).text)


PROSE = "we keep the old parser because it reads every line of a file and stays small"


@given(st.lists(st.sampled_from(PROSE.split()), max_size=60).map(" ".join))
def test_plain_words_are_never_touched(text: str) -> None:
    assert redact(text) == Redacted(text)


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    redact(data.decode("latin-1"))


HOSTILE = [
    *(
        "-----BEGIN PRIVATE KEY-----",
        "BEGIN PRIVATE KEY",
        "-----END PRIVATE KEY-----",
        "MIIBIBAA",
        "aB3+/",
        "aB3dE6gH9",
    ),
    *(
        "eyJ",
        "eyJ-",
        "eyJaaaaaaaaaaaaa.",
        "sk-",
        "ghp_",
        "abc-def_",
        "aaaaaaaaaaaaaaaaaaaa.",
        "a",
        " ",
        "\n",
        "\\",
        '\\"',
    ),
    *("password=", 'password="', "İpassword=", "key: ", "key ", "token%3D", "sig", "[secret: token]"),
    *(
        "://",
        "://a:",
        "://a:b@",
        "cookie: a=b; ",
        "Bearer ",
        "mysql ",
        "mysql -",
        "mysql -pa ",
        "curl -u 'a:",
        "echo a |",
        'HTTPBasicAuth("a", ',
        "--user a:",
    ),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_work_grows_with_the_length_of_a_hostile_text_and_no_faster(unit: str) -> None:
    short, long = (unit * (size // len(unit)) for size in (4_000, 16_000))
    assert _calls(long) < 5 * _calls(short) + 200


def _calls(text: str) -> int:
    """How many functions, Python's and C's, are called to redact a text."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        redact(text)
    finally:
        sys.setprofile(None)
    return count


def _patterns() -> list[re.Pattern[str]]:
    modules = (assignments, commands, issued, locations, private_keys, values)
    own = [value for module in modules for value in vars(module).values() if isinstance(value, re.Pattern)]
    return (
        own
        + [re.compile(key.tail) for key in prefixes.issued_keys()]
        + [re.compile(issued._JWT)]
        + [pattern for _, pattern in locations._HOOKS]
    )


@pytest.mark.parametrize("key", prefixes.issued_keys(), ids=lambda key: key.prefixes[0])
def test_a_prefix_matches_its_examples_and_nothing_that_it_must_not(key: prefixes.IssuedKey) -> None:
    assert key.matches and key.misses
    for tail in key.matches:
        assert re.fullmatch(key.tail, tail)
        assert all(key.kind in redact(f"here: {prefix}{tail}").kinds for prefix in key.prefixes)
    for tail in key.misses:
        assert not re.match(key.tail, tail)


@pytest.mark.parametrize("pattern", _patterns(), ids=lambda pattern: pattern.pattern[:40])
def test_no_pattern_repeats_an_open_repetition(pattern: re.Pattern[str]) -> None:
    """An open repetition inside one that repeats often is what makes a pattern run for ever."""
    parser = re._parser  # type: ignore[attr-defined]
    assert not list(islice(_nested(parser.parse(pattern.pattern, pattern.flags), parser.MAXREPEAT, False), 1))


def _nested(tree: Any, unbounded: Any, inside: bool) -> Any:
    for operation, argument in tree:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, body = argument
            if inside and most == unbounded:
                yield argument
            yield from _nested(body, unbounded, inside or most == unbounded or most > 64)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _nested(branch, unbounded, inside)
        elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
            yield from _nested(argument[-1] if isinstance(argument, tuple) else argument, unbounded, inside)


def test_an_endless_run_of_all_kinds_of_characters_is_a_key_and_a_digest_is_none() -> None:
    endless = "abcdef1234567890ABCDEF" * 3
    assert endless not in redact(f"fullhouse={endless}").text
    digest = f"sha512-{endless}"
    assert digest in redact(f'"integrity": "{digest}"').text


FILLER = "the build went on as it had been decided\n" * 5000


@pytest.mark.parametrize("kind", [*ISSUED, "pem"])
@pytest.mark.parametrize("before", [2, 30, 900])
def test_a_secret_that_stands_across_two_slices_is_taken_out_as_any_other(kind: str, before: int) -> None:
    secret = PEM if kind == "pem" else ISSUED[kind]
    near = f"\nhere: {secret}\nand so on\n"
    start = redaction.SLICE - before
    behind = FILLER[:10_000]
    redacted, alone = redact(FILLER[:start] + near + behind), redact(near)
    assert redacted.text == FILLER[:start] + alone.text + behind
    assert redacted.kinds == alone.kinds


def test_a_value_that_was_given_away_in_one_slice_is_taken_out_of_all() -> None:
    value = "w" + drawn(19)
    text = f"{FILLER}\npassword = {value}\n{FILLER}{FILLER}\n{value}\n{FILLER}"
    assert value not in redact(text).text
    assert redact(text).count == 2


def test_what_is_free_of_secrets_comes_back_as_it_is_however_long_it_is() -> None:
    text = FILLER * 2
    assert redact(text).text is text
