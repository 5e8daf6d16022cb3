"""Does a value look like a secret? Measures of randomness, and the shapes that only stand for a secret.

Knows nothing of names or places: who calls says how strong the suspicion is already.
"""

from __future__ import annotations

import math
import re
from collections import Counter

_CLASSES = {
    **dict.fromkeys(range(ord("a"), ord("z") + 1), "a"),
    **dict.fromkeys(range(ord("A"), ord("Z") + 1), "A"),
    **dict.fromkeys(range(ord("0"), ord("9") + 1), "0"),
}

_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})\Z")
_UUID = re.compile(r"[0-9A-Za-z]{8}-[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{12}\Z")
_GROUPS = re.compile(r"(?:(?=[^0-9]{0,60}[0-9])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,7}|[A-Z]{5,7}(?:-[A-Z]{5,7}){3,5})\Z")
_CODE = re.compile(r"[A-Za-z]{3}[(\[]|\?\.[a-z]|[A-Za-z]=[^=]")
_SPLIT = re.compile(r"[^A-Za-z0-9]+")
# Signs that join no words.
_UNUSUAL = frozenset("!#$%^*~`?;|[]{}<>\\\"'")

# What other text will be put in the place of.
_TEMPLATE = re.compile(
    r"\$\{|\$\(|\$[A-Za-z_]\w{0,80}\Z|%\w{1,80}%\Z|%[sdvr]\Z|\{|<|&lt;|#\{|@\w{1,60}@\Z|\[|[x*.•·?…]{1,400}\Z",
    re.IGNORECASE,
)
# What stands in the place of a secret: variables, templates, masks, words that ask for one.
_STAND_IN = re.compile(
    r"""
      [\\'"]{1,4}\$ | [?][A-Za-z] | [.+&][ ]?\$ | \$\{ | \$\( | \$\[ | \$[A-Za-z_]\w{0,80}\Z | \$\w{0,80}\$
    | %\( | %\w{1,80}%\Z | %[sdvr]\Z | \{ | < | &lt; | \#\{ | @\w{1,60}@\Z | \[ | __\w{1,60}__\Z | \(
    | arn: | \#[0-9a-f]{3,8}\Z | [A-Za-z]:\\ | \.{0,2}/[\w.\-]*/ | ~/
    | [x*.\-_•·#?=+/…0]{1,400}\Z
    | (?:null|none|nil|true|false|undefined|nan|yes|no|empty|unset|string|str|text|bytes|int|number|bool|boolean|object
        |any|hidden|required|optional|redacted|masked|secret|password|passwd|pass|pwd|token|key|value|username|user|name
        |admin|root|default|test|input|env|self|this|type|auth|bearer|basic|data|func|function|const|var|let|new|return
        |not|and|or|is|in|if)\Z
    | (?:process\.env|os\.environ|os\.getenv|env\.|getenv|import\.meta|secrets\.|vars\.|var\.|local\.|self\.|this\.
        |config\.|settings\.|request\.|req\.|args\.|options\.|opts\.|ctx\.|params\.|props\.|data\.|vault:|ssm:
        |secretsmanager:|op://|file:|/run/secrets)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?i)example|your[-_ ]?|change[-_]?(?:me|it)|placeholder|redacted|replace[-_]?(?:me|with)|insert[-_]|xxxx|"
    r"\*\*\*|\.\.\.|…|todo|fixme"
)


def entropy(value: str) -> float:
    """Shannon entropy in bits per character; 0 for the empty text."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


def jumps(value: str) -> float:
    """How often neighbours change between lower case, upper case and digits, per character (a capital's own word
    counts once). Words and camelCase stay below 0.2, random base 62 is near 0.45, random hex near 0.47."""
    if not value:
        return 0.0
    shape = value.translate(_CLASSES)
    return sum(shape.count(pair) for pair in ("aA", "a0", "0a", "A0", "0A")) / len(value)


def stands_in(value: str) -> bool:
    """Whether the value only holds a secret's place: a variable, a template, a mask, `<your-key>`, `xxxx`."""
    return bool(_STAND_IN.match(value) or _ASKS.search(value[:200])) or len(set(value)) < min(4, len(value))


def template(value: str) -> bool:
    """Whether the value is a variable, a template or a mask."""
    return bool(_TEMPLATE.match(value))


def is_hex(value: str) -> bool:
    """At least 16 hexadecimal digits in one case, letters and digits both."""
    return bool(_HEX.match(value)) and not value.isdigit() and not value.isalpha()


def is_uuid(value: str) -> bool:
    """Written like a UUID (published dead ones are not always hexadecimal)."""
    return bool(_UUID.match(value))


def wordy(value: str) -> bool:
    """Made of words and numbers as people write them: paths, identifiers, versions, dates."""
    return len(set(value) & _UNUSUAL) < 4 and all(
        piece.isalpha() or piece.isdigit() or (len(piece) < 10 and jumps(piece) * len(piece) < 3)
        for piece in _SPLIT.split(value)
        if piece
    )


def symbolic(value: str) -> bool:
    """Drawn from the whole keyboard: at least 16 characters, letters, and several signs that no word or path has."""
    if len(value) < 16 or len(set(value)) < 12 or not any(map(str.isdigit, value)) or _CODE.search(value):
        return False
    signs = [c for c in value if c in "!@#$%^&*~`?+;|[]{}()<>"]
    return len(set(signs)) >= 3 and len(value) < 7 * (1 + len(_SPLIT.findall(value)))


def random(value: str, least: int = 16) -> bool:
    """Whether the value was drawn, not written: one piece of at least ``least`` characters that jumps between
    letters and digits and repeats little."""
    longest = max(_SPLIT.split(value), key=len, default="")
    core = longest if len(longest) >= max(least, len(value) / 2) else value
    if len(value) < least or len(core) < least or wordy(value):
        return False
    return jumps(core) >= 0.2 and entropy(core) >= min(3.0, 0.6 * math.log2(len(core)))


def mixed(value: str, least: int = 16) -> bool:
    """A weaker test for values beside a name: one piece of ``least`` characters, letters and digits both, or many
    characters that make no word."""
    piece = max(_SPLIT.split(value), key=len, default="")
    if len(piece) < least or len(set(piece)) < 5:
        return False
    if piece.isdigit():
        return len(piece) >= 20
    if piece.isalpha():
        humps = jumps(piece)
        return (len(piece) >= 24 and humps < 0.05) or (humps >= 0.2 and entropy(piece) >= 3.8)
    return True


def numbered(value: str, least: int = 12) -> bool:
    """One piece of ``least`` characters, of several letters and several digits."""
    piece = max(_SPLIT.split(value), key=len, default="")
    return len(piece) >= least and sum(map(str.isdigit, piece)) >= 4 and sum(map(str.isalpha, piece)) >= 3


def grouped(value: str) -> bool:
    """Groups of capitals and digits as licence keys are printed, or a UUID's groups."""
    return is_uuid(value) or bool(_GROUPS.match(value))


def drawn(piece: str) -> bool:
    """Whether a long piece betrays itself without any name beside it: base 62, far too even for words."""
    return jumps(piece) >= 0.3 and entropy(piece) >= 3.8 and not is_hex(piece)
