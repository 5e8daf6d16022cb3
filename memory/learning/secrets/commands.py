"""Secrets on the command line: `curl -u me:…`, `docker login -p …`, `mysql -p…`, `vault login …`, `echo … | chpasswd`.

A command is read word by word from its program on, as a shell would, also where it stands in JSON or as a list of
arguments. Which of its words carry a credential is what the programs' own manuals say: `-p` is a password to
`docker login`, a port to `ssh`, a database to `mysql` where a blank follows it and a password where none does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory.learning.secrets.values import stands_in


@dataclass(frozen=True, slots=True)
class CredentialFlags:
    """What carries a credential in the commands of some programs, each a list of words parted by blanks.

    ``after``: only where this word stands behind the program. ``next``: flags whose next word is it, or what stands
    behind their ``=``. ``attached``: flags that it is attached to. ``split``: flags whose next word holds it behind
    ``sign``; behind ``=`` only where the name before it says so. ``keys``: what a word of its own begins with.
    ``place``: which of the words that are no flags is it, counted from 1, or, with -1, the last one, and then only
    where one of the flags has the letter ``letter``.
    """

    programs: str
    after: str = ""
    next: str = ""
    attached: str = ""
    split: str = ""
    sign: str = ":"
    keys: str = ""
    place: int = 0
    letter: str = ""


ROWS = (
    # Web
    CredentialFlags("curl", next="--oauth2-bearer --pass --proxy-pass", split="-u --user -U --proxy-user"),
    CredentialFlags("http https xh xhs httpie", split="-a --auth"),
    CredentialFlags("wget aria2c", next="--password --http-password --http-passwd --ftp-password"),
    CredentialFlags("lftp", split="-u --user", sign=","),
    # Databases
    CredentialFlags(
        "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mysqlslap mysqlsh mycli mariadb "
        "mariadb-dump mariadb-admin mariadb-import mariadb-check",
        attached="-p",
        next="--password",
    ),
    CredentialFlags(
        "mongo mongosh mongodump mongorestore mongoexport mongoimport", next="-p --password", attached="-p"
    ),
    CredentialFlags("clickhouse-client pgcli", next="--password"),
    CredentialFlags("redis-cli valkey-cli keydb-cli", next="-a --pass"),
    CredentialFlags("sqlcmd bcp tsql sqsh", next="-P", attached="-P"),
    CredentialFlags("sqlplus impdp expdp sqlldr", place=1, sign="/"),
    CredentialFlags("cqlsh beeline influx", next="-p --password -password"),
    # Directories, remote machines, shares
    CredentialFlags("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare", next="-w"),
    CredentialFlags("sshpass", next="-p", attached="-p"),
    CredentialFlags("plink pscp psftp putty", next="-pw"),
    CredentialFlags("smbclient smbmap rpcclient", split="-U --user", sign="%"),
    CredentialFlags("psexec winrs rdesktop evil-winrm ncftp", next="-p", attached="-p: /p:"),
    CredentialFlags("xfreerdp wlfreerdp", attached="/p:"),
    CredentialFlags("ipmitool mosquitto_pub mosquitto_sub", next="-P", attached="-P"),
    CredentialFlags("net", after="user", place=2),
    # Logins
    CredentialFlags("docker podman nerdctl buildah skopeo oras", after="login", next="-p --password", attached="-p"),
    CredentialFlags("helm", after="registry", next="-p --password"),
    CredentialFlags("az oc cf argocd", after="login", next="-p --password --token"),
    CredentialFlags("twine", after="upload", next="-p --password"),
    CredentialFlags("vault", after="login", place=1, keys="token= password="),
    CredentialFlags("vault", after="unwrap", place=1),
    CredentialFlags("consul nomad", next="-token --token"),
    CredentialFlags("cargo", after="login", place=1),
    CredentialFlags("snyk", after="auth", place=1),
    CredentialFlags("ngrok", after="authtoken", place=1),
    CredentialFlags("ngrok", after="config", place=2),
    CredentialFlags("tailscale", after="up", next="--authkey --auth-key"),
    CredentialFlags("rabbitmqctl", after="add_user", place=2),
    CredentialFlags("rabbitmqctl", after="change_password", place=2),
    CredentialFlags("rabbitmqadmin", next="-p --password"),
    # Keys and archives
    CredentialFlags("openssl", next="-k", split="-passin -passout -pass"),
    CredentialFlags("gpg gpg2", next="--passphrase"),
    CredentialFlags("keytool jarsigner", next="-storepass -keypass -srcstorepass -deststorepass"),
    CredentialFlags("htpasswd", place=-1, letter="b"),
    CredentialFlags("zip unzip zipcloak", next="-P --password"),
    CredentialFlags("7z 7za 7zr rar unrar", attached="-p -hp"),
    # Surroundings that are handed on
    CredentialFlags("docker podman nerdctl", split="-e --env --build-arg", sign="="),
    CredentialFlags("kubectl oc", split="--from-literal", sign="=", next="--token --password --docker-password"),
    CredentialFlags("helm", split="--set --set-string", sign="="),
)


_MAX_COMMAND_CHARS = 1000
_MOST_WORDS = 80
_LEAST = 3
"""Characters that a credential has at least."""


class _Word(NamedTuple):
    """A word of a command without its quotes: where it begins and ends, and what it is."""

    start: int
    end: int
    text: str


_TABLE: dict[str, list[CredentialFlags]] = {}
for _row in ROWS:
    for _program in _row.programs.split():
        _TABLE.setdefault(_program, []).append(_row)


def _any_of(words: Sequence[str]) -> str:
    """A pattern of any of some words that looks at each letter once: side by side they would be tried one by one, at
    every place of every text."""
    by_head: dict[str, list[str]] = {}
    for word in words:
        by_head.setdefault(word[0], []).append(word[1:])
    branches = []
    for head, tails in sorted(by_head.items()):
        longer = [tail for tail in tails if tail]
        rest = _any_of(longer) if longer else ""
        branches.append(re.escape(head) + (f"(?:{rest})?" if rest and len(longer) < len(tails) else rest))
    return f"(?:{'|'.join(branches)})"


_PROGRAM = re.compile(rf"(?<![a-z0-9_.\-]){_any_of(tuple(_TABLE))}(?:\.exe)?(?=[ \t\"'\\])")
_GAP = re.compile(r"(?:[ \t]|\\{1,3}\r?\n|\\{3}n){1,200}")
_BARE = re.compile(r"(?:[^\s\"'`\\|;&<>()]|\\[^\s\\\"'nrt`]|\\{2,4}(?=[A-Z0-9])){1,300}")
_QUOTED = re.compile(r"(?P<quote>\\{0,8}[\"'])(?P<inner>[^\"'\\\n]{1,300})(?P=quote)")
_COMMA = re.compile(r"[ \t]{0,8},\s{0,40}")
_NAMED = re.compile(r"(?i)pass(?:word|wd|phrase)?\Z|pwd\Z|secret|token\Z|(?:api|access|private|secret)[_-]?key\Z")
# Not the credential but where it stands.
_ELSEWHERE = frozenset(("env", "file", "fd"))

_ENVIRONMENT = re.compile(
    r"(?<![A-Za-z0-9_])(?:SSHPASS|REDISCLI_AUTH|PGPASSWORD|MYSQL_PWD|LDAPPASS)="
    r"(?:\\{0,8}[\"'])?(?P<value>[^\s\"'\\`;|&]{3,200})"
)
_LONG_FLAG = re.compile(
    r"(?<![A-Za-z0-9_\-])--(?:[a-z]{1,20}-)?(?:password|passwd|passphrase)="
    r"(?:\\{0,8}[\"'])?(?P<value>[^\s\"'\\`;|&]{4,200})"
)
_PIPED = re.compile(
    r"\b(?:echo|printf)[ \t]{1,4}(?:-[en]{1,2}[ \t]{1,4})?(?:\\{0,8}[\"'])?"
    r"(?:[A-Za-z0-9_.\-]{1,40}:(?=[^|\n]{0,250}\|[^|\n]{0,60}chpasswd))?"
    r"(?P<value>[^\s\"'\\|$`]{4,200})(?:\\{0,8}[\"'])?[ \t]{0,4}\|[ \t]{0,4}"
    r"[^|\n]{0,100}?(?:--password-stdin|--passphrase-fd|sudo[ \t]{1,4}-S|passwd[ \t]{1,4}--stdin|chpasswd)"
)
_PLAIN_WORD = re.compile(r"[A-Z_]{2,40}\Z")


def find_commanded(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Credentials in commands: start, end, kind. ``lower`` is the text in lower case, of the same length."""
    # A line break in JSON is no letter before what begins a line.
    lines = text.replace("\\n", "\\\n")
    patterns = [_PIPED] if "|" in text and ("echo" in text or "printf" in text) else []
    if "pass" in lower or "AUTH=" in text or "PWD=" in text:
        patterns += [_ENVIRONMENT, _LONG_FLAG]
    for pattern in patterns:
        yield from (
            (*match.span("value"), "password")
            for match in pattern.finditer(lines)
            if _can_be_credential(match["value"])
        )
    done = 0
    for hit in _PROGRAM.finditer(lower.replace("\\n", "\\\n")):
        if hit.start() < done:
            continue
        words, done = _words(text, hit.start(), hit.end())
        programs = [at for at, word in enumerate(words) if _name(word.text) in _TABLE]
        for at, following in zip(programs, [*programs[1:], len(words)], strict=True):
            for row in _TABLE[_name(words[at].text)]:
                yield from (
                    (start, end, "password") for start, end in _credentials_by_row(row, words[at + 1 : following])
                )


def _name(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe")


def _words(text: str, start: int, end: int) -> tuple[list[_Word], int]:
    """A command's words from its program on, and where they end."""
    words, reach = [_Word(start, end, text[start:end])], start + _MAX_COMMAND_CHARS
    quote = _opening_quote(text, start)
    if quote and text.startswith(quote, end):
        return _arguments(text, words, end + len(quote), reach)
    at = end
    while at < reach and len(words) < _MOST_WORDS and (gap := _GAP.match(text, at)):
        word, at = _word(text, gap.end())
        if word is None:
            break
        words.append(word)
    return words, at


def _opening_quote(text: str, start: int) -> str:
    found = re.search(r"\\{0,8}[\"']\Z", text[max(0, start - 9) : start])
    return found.group() if found else ""


def _word(text: str, at: int) -> tuple[_Word | None, int]:
    """The word that begins here, without its quotes. A quote amid a word is its own only behind a flag or a sign; else
    it is the end of what the whole command stands in."""
    if quoted := _QUOTED.match(text, at):
        return _Word(*quoted.span("inner"), quoted["inner"]), quoted.end()
    bare = _BARE.match(text, at)
    if bare is None:
        return None, at
    if (bare.end() - at == 2 or text[bare.end() - 1] in "=:") and (quoted := _QUOTED.match(text, bare.end())):
        return _Word(at, quoted.end("inner"), bare.group() + quoted["inner"]), quoted.end()
    return _Word(at, bare.end(), bare.group()), bare.end()


def _arguments(text: str, words: list[_Word], at: int, reach: int) -> tuple[list[_Word], int]:
    """The words of a command that is written as a list of quoted arguments."""
    while at < reach and len(words) < _MOST_WORDS and (comma := _COMMA.match(text, at)):
        quoted = _QUOTED.match(text, comma.end())
        if quoted is None:
            break
        words.append(_Word(*quoted.span("inner"), quoted["inner"]))
        at = quoted.end()
    return words, at


def _credentials_by_row(row: CredentialFlags, words: Sequence[_Word]) -> Iterator[tuple[int, int]]:
    if row.after:
        if not words or words[0].text != row.after:
            return
        words = words[1:]
    nexts, splits, keys = row.next.split(), row.split.split(), row.keys.split()
    plain: list[_Word] = []
    taken = False
    for at, word in enumerate(words):
        if taken:
            taken = False
            continue
        following = words[at + 1] if at + 1 < len(words) else None
        flag, sign, rest = word.text.partition("=")
        if word.text in nexts and following:
            taken = True
            yield from _checked_span(following, following.text)
        elif sign and flag in nexts:
            yield from _checked_span(word, rest)
        elif word.text in splits or _is_flag_cluster(word.text, splits):
            taken = following is not None
            yield from _credential_behind(row.sign, following, following.text) if following else ()
        elif sign and flag in splits:
            yield from _credential_behind(row.sign, word, rest)
        elif attached := next((flag for flag in row.attached.split() if word.text.startswith(flag)), ""):
            yield from _checked_span(word, word.text[len(attached) :].removeprefix("="))
        elif short := next((flag for flag in splits if len(flag) == 2 and word.text.startswith(flag)), ""):
            yield from _credential_behind(row.sign, word, word.text[len(short) :])
        elif key := next((key for key in keys if word.text.startswith(key)), ""):
            yield from _checked_span(word, word.text[len(key) :])
        elif word.text[0] not in "-/" and not (row.place and "=" in word.text):
            plain.append(word)
    if row.place and len(plain) >= max(row.place, 1):
        lettered = any(re.fullmatch(rf"-[A-Za-z]{{0,8}}{row.letter}[A-Za-z]{{0,8}}", word.text) for word in words)
        chosen = plain[row.place - 1 if row.place > 0 else -1]
        if not row.letter or (lettered and len(plain) > 1):
            yield from (
                _credential_behind("/", chosen, chosen.text) if row.sign == "/" else _checked_span(chosen, chosen.text)
            )


def _is_flag_cluster(word: str, flags: Sequence[str]) -> bool:
    """Whether a word is several flags of a letter each, of which the last one takes the next word: `-sSLu`."""
    return 2 < len(word) <= 8 and word[0] == "-" and word[1:].isalpha() and f"-{word[-1]}" in flags


def _credential_behind(sign: str, word: _Word, value: str) -> Iterator[tuple[int, int]]:
    head, found, secret = value.partition(sign)
    if found and head not in _ELSEWHERE and (sign != "=" or _NAMED.search(head)):
        yield from _checked_span(word, secret)


def _checked_span(word: _Word, value: str) -> Iterator[tuple[int, int]]:
    """The span of a value at the end of a word, where it is a credential."""
    if _can_be_credential(value):
        yield word.end - len(value), word.end


def _can_be_credential(value: str) -> bool:
    """Whether this can be a credential, and not only its place or its name."""
    return len(value) >= _LEAST and value[0] not in "-$<{[%@," and not _PLAIN_WORD.match(value) and not stands_in(value)
