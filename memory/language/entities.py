"""The names in a text: people, places and products, identifiers, paths, versions, technologies.

Cheap: by form only, one pattern, no dictionary beyond a list of words that are capitals for another reason. Names
are given as they are written, each once, in the order in which they appear.
"""

from __future__ import annotations

import re

from memory.language.vocabulary import vocabulary

MOST = 16
"""Names that are kept of one text at most."""

_NAME = re.compile(
    r"`(?P<span>[^`\s]{2,80})`|(?P<path>(?<![\w/.])(?:~|\.{1,2})?/?(?:[\w.@-]{1,60}/){1,12}[\w.@-]{1,60}|"
    r"\b[\w-]{1,60}\.(?:py|go|ts|tsx|js|jsx|rs|java|rb|c|h|cc|cpp|cs|php|kt|swift|sh|sql|json|ya?ml|toml|md|ini|"
    r"cfg|conf|env|lock|html|css)\b)|(?P<version>\b[A-Za-z][\w.+#-]{1,30} v?\d{1,4}\.\d{1,4}(?:\.\d{1,5})?\b|"
    r"\bv\d{1,4}(?:\.\d{1,5}){1,3}\b)|(?P<issue>\b[A-Z]{2,10}-\d{1,6}\b|(?<!\w)#\d{1,7}\b)|"
    r"(?P<identifier>\b(?:[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}|[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}|"
    r"[a-z][a-z0-9]{0,40}(?:[A-Z][a-z0-9]{1,40}){1,8}|(?:[A-Z][a-z0-9]{1,40}){2,8})\b)|"
    r"(?P<proper>\b[A-Z][\w'’&+#-]{1,40}(?: (?:(?:of|the|de|van|von|la) )?[A-Z][\w'’&+#-]{1,40}){0,3})"
)
_COMMON = vocabulary(
    "i i'm i'd i've i'll a an the this that these those it its he she they we you my your his her our their there "
    "here what who when where why how which if in on at by for from to of with and but or so not no yes yeah ok "
    "okay please let let's lets do does did don't is are was were be been can could would should will shall may "
    "might must have has had just also now then thanks thank hi hello hey well oh wow great good nice sure right "
    "sorry actually maybe perhaps always never remember note use make keep add remove fix as after before since "
    "because while although all any some each every most both one two three first second next last new another "
    "other more only even still yet january february march april may june july august september october november "
    "december monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday"
)


def entities(text: str) -> tuple[str, ...]:
    """The names in a text, at most :data:`MOST`."""
    found: dict[str, str] = {}
    for match in _NAME.finditer(text[:4000]):
        name = match["span"] or match["path"] or match["version"] or match["issue"] or match["identifier"]
        if not name:
            name = _proper(match["proper"])
        if name:
            found.setdefault(name.lower(), name)
            if len(found) >= MOST:
                break
    return tuple(found.values())


def _proper(name: str) -> str:
    """A capitalised run without the words that are capitals only because a sentence begins."""
    words = name.replace("’", "'").split(" ")
    while words and words[0].lower() in _COMMON:
        words.pop(0)
    while words and words[-1].lower() in _COMMON:
        words.pop()
    name = " ".join(words)
    return name[:-2] if name.endswith("'s") else name if len(name) > 1 else ""
