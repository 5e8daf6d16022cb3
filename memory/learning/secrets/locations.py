"""Secrets by their place: credentials in a URI, authorization headers, cookies, webhooks, password hashes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.learning.secrets.values import jumps, random, stands_in, template, wordy

_AUTHORITY = re.compile(
    r"(?P<user>[^\s/:@\"'<>\\`]{0,256}):(?P<password>[^\s/\"'<>\\`]{1,512})@(?P<host>[A-Za-z0-9.\-_,:%\[\]]{0,512})"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,31}\Z")
_WEB = ("http", "https", "ftp", "ftps", "sftp", "ssh", "git", "ws", "wss", "svn", "socks5", "socks4", "socks5h")
_AUTHORIZATION = re.compile(
    r"(?:bearer|basic|token|apikey|digest|negotiate|ntlm)\b[ \t]{1,4}(?P<value>[A-Za-z0-9+/=_.~:\-]{8,4096})"
)
_COOKIE = re.compile(r"cookie2?(?:\\{0,8}[\"'])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,8}[\"'])?")
_COOKIE_PAIR = re.compile(r"[ \t]{0,4}[A-Za-z0-9_.\-$%]{1,80}=(?P<value>[^\s;\"'\\,]{1,2048})(?:;|(?=[\s\"'\\,]|\Z))")
_HOOKS = (
    ("hooks.slack.com/", re.compile(r"(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/_\-]{20,})")),
    ("/api/webhooks/", re.compile(r"(?P<value>[0-9]{6,24}/[A-Za-z0-9_\-]{20,})")),
    ("office.com/webhook", re.compile(r"(?:b[0-9])?/(?P<value>[A-Za-z0-9@/\-]{30,})")),
    ("office365.com/webhook", re.compile(r"(?:b[0-9])?/(?P<value>[A-Za-z0-9@/\-]{30,})")),
    ("api.telegram.org/", re.compile(r"(?:file/)?bot(?P<value>[0-9]{6,12}:[A-Za-z0-9_\-]{30,})")),
    ("hooks.zapier.com/", re.compile(r"hooks/catch/(?P<value>[0-9A-Za-z/]{8,})")),
)
_CRYPT = re.compile(
    r"\$(?:2[abxy]?|1|5|6|7|8|9|y|gy|apr1|argon2(?:id|i|d)|scrypt|pbkdf2[a-z0-9\-]{0,12}|krb5[a-z]{2,5}|P|H|"
    r"S)\$[A-Za-z0-9./=,$+*@_:\-]{20,}"
)
_PAYPAL = re.compile(r"access_token\$[a-z]{4,12}\$[a-z0-9]{10,24}\$[0-9a-f]{20,40}")
_ATLAS = re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9\-_=]{40,}")
_ZOHO = re.compile(r"(?<![A-Za-z0-9.])1000\.[0-9a-f]{32}\.[0-9a-f]{32}")
_SECURE_STRING = re.compile(
    r"ConvertTo-SecureString(?:\s{1,4}-(?:String|AsPlainText|Force|"
    r"Key)){0,4}\s{1,4}[\"']?(?P<value>[^\s\"'$-][^\s\"']{3,200})"
)
_CREDENTIAL_CALL = re.compile(
    r"(?:NetworkCredential|DirectoryEntry|PasswordCredential|PasswordAuthentication|HTTPBasicAuth)\([ \t]{0,4}"
    r"(?:\\{0,8}[\"'][^\"'\\\n]{0,200}\\{0,8}[\"'],(?:\s|\\{1,8}n){0,40}){1,2}\\{0,8}[\"'](?P<value>[^\"'\\\n]{3,200})\\{0,8}[\"']"
)
_AZURE = re.compile(r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}")
_PGPASS = re.compile(
    r"(?m)^[A-Za-z0-9.*\-]{1,100}:(?:[0-9]{2,5}|"
    r"\*):[A-Za-z0-9_*\-]{1,64}:[A-Za-z0-9_*.\-]{1,64}:(?P<value>\S{1,200})$"
)
_SHARED_ACCESS = re.compile(
    r"[?&;](?:sig|sv_sig|x-amz-signature|x-amz-security-token|x-goog-signature|accountkey|sharedaccesskey|"
    r"sharedaccesssignature)=(?P<value>[A-Za-z0-9%+/=_\-]{16,})"
)


def find_located(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Secrets by their place: start, end, kind. ``lower`` is the text in lower case, of the same length."""
    yield from _in_uris(text)
    if "bearer" in lower or "basic" in lower or "authorization" in lower:
        for match in _AUTHORIZATION.finditer(lower):
            start, end = match.span("value")
            if _credential(text[start:end], match.group()[:5] == "basic"):
                yield start, end, "authorization"
    if "cookie" in lower:
        yield from _cookies(text, lower)
    yield from _webhooks(text, lower)
    if "$" in text:
        yield from ((*match.span(), "password hash") for match in _CRYPT.finditer(text))
    if "access_token$" in text:
        yield from ((*match.span(), "paypal token") for match in _PAYPAL.finditer(text))
    if ".atlasv1." in text:
        yield from ((*match.span(), "terraform token") for match in _ATLAS.finditer(text))
    if "1000." in text:
        yield from ((*match.span(), "zoho token") for match in _ZOHO.finditer(text))
    if "ConvertTo-SecureString" in text:
        yield from _values(_SECURE_STRING, text, "password")
    if "Credential" in text or "DirectoryEntry" in text or "Auth" in text:
        yield from _values(_CREDENTIAL_CALL, text, "password")
    if "Q~" in text:
        yield from ((*match.span(), "azure secret") for match in _AZURE.finditer(text))
    if "sig" in lower or "access" in lower or "accountkey" in lower:
        yield from ((*match.span("value"), "signature") for match in _SHARED_ACCESS.finditer(lower))
    if ":5432:" in text or ":*:" in text or "pgpass" in lower:
        yield from _values(_PGPASS, text, "password")


def _values(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        if not stands_in(match.group("value")):
            yield (*match.span("value"), kind)


def _in_uris(text: str) -> Iterator[tuple[int, int, str]]:
    at = text.find("://")
    while at >= 0:
        match = _AUTHORITY.match(text, at + 3)
        if match is not None and not template(match.group("password")):
            scheme = _SCHEME.search(text, max(0, at - 32), at)
            if scheme is not None and scheme.group().lower() in _WEB:
                if not stands_in(match.group("password")):
                    yield (*match.span("password"), "password")
            else:
                # Where a database stands and who logs in belong to the credential.
                yield match.start(), match.end(), "connection credentials"
        at = text.find("://", at + 3)


def _webhooks(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    for host, path in _HOOKS:
        at = lower.find(host)
        while at >= 0:
            at += len(host)
            if match := path.match(text, at):
                yield (*match.span("value"), "webhook")
            at = lower.find(host, at)


def _credential(value: str, basic: bool) -> bool:
    if stands_in(value):
        return False
    if basic:
        return len(value) >= 12 and not wordy(value)
    return random(value, 16) or (len(value) >= 20 and not wordy(value) and jumps(value) > 0.08)


def _cookies(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    for match in _COOKIE.finditer(lower):
        at = match.end()
        for _ in range(50):
            pair = _COOKIE_PAIR.match(text, at)
            if pair is None:
                break
            if random(pair.group("value"), 12):
                yield (*pair.span("value"), "cookie")
            at = pair.end()
