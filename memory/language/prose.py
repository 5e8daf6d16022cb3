"""What of a message is its speaker's own prose.

People paste: code, logs, stack traces, diffs, tickets, what another agent wrote. None of it is what they say, and
a rule that reads it learns nonsense. What is left are blocks of prose, list items and headings, in order. Decided
line by line and block by block, without a model; when in doubt a line is kept, for the rules are strict by
themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memory.language.sentences import BlockShape, TextBlock, blocks

LIMIT = 20_000
"""Characters of a message that are read at most: what a person types is shorter, what is longer was pasted."""
_LONG, _HEAD, _TAIL = 4000, 1200, 800

_LEVEL = r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)"
_MACHINE = re.compile(
    rf"""\s{{0,40}}(?:
      \d{{4}}-\d\d-\d\d[T\s]\d\d:\d\d                      # a log's time stamp
    | [A-Z][a-z]{{2}}\s{{1,2}}\d{{1,2}}\s\d\d:\d\d:\d\d
    | \[?\d\d:\d\d:\d\d
    | \[?{_LEVEL}\b[\]:|\s]
    | \|{_LEVEL}\|
    | at\s[\w$.<>/]{{1,120}}\s?\(                          # stack traces
    | File\s"[^"]{{1,200}}",\sline\s\d
    | Traceback\s\(
    | (?:---|===)\s?(?:FAIL|PASS|RUN|NAME|SKIP)\b
    | (?:panic|fatal|error|warning|hint|note|npm\sERR!|make):?\s?(?:\[|:|!)
    | (?:Error|[A-Z]\w{{2,40}}(?:Error|Exception)):\s
    | (?:diff\s--git|index\s[0-9a-f]{{7}}|@@\s-|\+\+\+\s|---\s[ab]/)
    | [-+]{{1}}(?:\s{{2,}}|\t|[\w.]{{1,30}}\s?[({{=])       # a diff's lines
    | \d{{1,5}}\s{{1,4}}[-+|]\s?                            # numbered source or diff lines
    | [❯➜$%»⎿⏺✓✔✗✘●│┃└├╭╰─━]                             # prompts and what terminals draw
    | [\w./-]{{1,120}}\.\w{{1,5}}:\d{{1,6}}:                # file:line:
    | [{{}}\[\]]\s{{0,3}}["'{{]?\w{{0,40}}["']?:            # JSON
    | [{{}}\[\]();,]{{1,6}}\s{{0,3}}$
    | <[/!?a-zA-Z][^>]{{0,200}}>                            # markup
    )""",
    re.VERBOSE,
)
_CODE = re.compile(
    r"\s{0,40}(?:(?:def|class|func|fn|impl|struct|interface|enum)\s\w{1,60}\s?[({<:]"
    r"|(?:import|from|package|using|include)\s[\w.\"'<@{/*]{1,80}(?:\s(?:import|from|as)\s.{1,80})?;?\s{0,4}$"
    r"|(?:const|let|var|val|static|public|private|export|return|await|async)\s[^.!?]{1,120}(?:[=({;]|=>)"
    r"|(?:if|for|while|switch|elif|else|try|catch|except)\b[^.!?]{0,120}[{:]\s{0,4}$"
    r"|[\w.\[\]>*&-]{1,80}\s?(?::=|[+*/|-]?=(?!=)|=>)\s?\S"
    r"|[\w.:>-]{1,80}\([^)\n]{0,120}\);?\s{0,4}$"
    r"|//\s|/\*|\*\s@|#!|SELECT\s.{1,80}\sFROM\s)"
)
# What leads a paste in: "I got this feedback:", "the raw log:", "another agent says".
_LEAD = re.compile(
    r"(?:\b(?:feedback|comment|comments|message|review|report|log|logs|output|trace|error|errors|warning|failure|"
    r"failures|following|this|that|says?|said|wrote|shows?|prints?|get|got|getting|saw|seeing|happens?|text|mail|"
    r"email|ticket|issue|description|prompt|quote)\b[^:\n]{0,80})[:>]\s{0,4}$",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:message|feedback|comments?|review|reply|text|output|report|finding|findings)\s(?:is\s)?(?:from|by|of)\s"
    r"(?:another|the|a|an|my|our)\b|\b(?:got|have|received|there'?s)\s(?:this|the|a|another|some|more|following)\s"
    r"(?:\w{1,15}\s){0,2}(?:feedback|comments?|suggestions?|findings?)\b",
    re.IGNORECASE,
)
# What only review tools write.
_TICKET = re.compile(
    r"^\s{0,4}\W{0,4}(?:high|medium|low|critical|minor|major)\s(?:severity|priority)\W{0,4}$", re.I | re.M
)
_PERSONAL = re.compile(
    r"\b(?:i|i'?m|i'?d|i'?ve|i'?ll|me|my|mine|we|we'?re|we'?d|we'?ve|we'?ll|us|our|ours|let'?s|you|your|please|pls|"
    r"ich|wir|mir|mein\w{0,2}|unser\w{0,2}|bitte|lass)\b",
    re.IGNORECASE,
)
_NAME_OF_CODE = re.compile(
    r"\b(?:[a-z][a-z0-9]{1,40}[A-Z]\w{1,40}|[A-Z][a-z0-9]{1,30}[A-Z][a-z]\w{0,40}|\w{1,40}_\w{1,40}|\w{1,40}\(\))"
    r"|[\w-]{1,40}/[\w./-]{2,80}|\b\w{1,40}\.(?:go|py|ts|js|rs|java|rb|c|h|cpp|json|ya?ml|toml|md|sh)\b"
)
_OURS = re.compile(r"<(palimpsest[\w-]{0,40})\b[^>]{0,400}>", re.IGNORECASE)
_TAG = re.compile(r"^\s{0,8}<([a-zA-Z][\w]{0,30}[-_:][\w:-]{0,40})\b[^>\n]{0,400}>", re.MULTILINE)


def own_words(text: str) -> tuple[TextBlock, ...]:
    """The blocks of a message that its speaker wrote: prose, list items and headings, free of what was pasted."""
    return _own_words(text[:LIMIT])


@lru_cache(maxsize=32)  # one message is looked at for several things
def _own_words(text: str) -> tuple[TextBlock, ...]:
    text = without_tags(text)
    if _TICKET.search(text[:2000]):
        return ()
    own_blocks: list[TextBlock] = []
    quoting = False
    for block in blocks(text):
        if block.shape in (BlockShape.CODE, BlockShape.QUOTE, BlockShape.TABLE):
            # A fence or a quote *is* what the lead promised; what comes after it is the speaker again.
            quoting = False
            continue
        if quoting:
            if not (_PERSONAL.search(block.text) and len(block.text) < 240 and not _NAME_OF_CODE.search(block.text)):
                continue
            quoting = False
        body = "\n".join(_spoken(block.text))
        if body:
            own_blocks.append(TextBlock(block.shape, body, block.marker))
        quoting = bool(_LEAD.search(block.text)) or (
            bool(_OTHERS.search(block.text)) and not block.text.rstrip().endswith("?")
        )
    return () if _pasted(own_blocks) else tuple(_around(own_blocks))


def prose(text: str) -> str:
    """:func:`own_words` as one text, a paragraph for each block."""
    return "\n\n".join(block.text for block in own_words(text))


def without_tags(text: str) -> str:
    """The text without blocks of ours and without those that a runtime puts in tags (``<some-name>…</some-name>``)."""
    if "<" not in text:
        return text
    for pattern in (_OURS, _TAG):
        cut: list[str] = []
        at = 0
        unclosed: set[str] = set()
        while opened := pattern.search(text, at):
            closing = f"</{opened[1]}>"
            end = -1 if closing in unclosed else text.find(closing, opened.end())
            if end < 0:
                unclosed.add(closing)
            cut.append(text[at : opened.start()])
            # Without its end only the tag itself goes: a person may write one without meaning it.
            at = opened.end() if end < 0 else end + len(closing)
        cut.append(text[at:])
        text = "".join(cut)
    return text


def is_machine_output(line: str) -> bool:
    """Whether a line was printed by a program or is source code, by its form alone."""
    if _MACHINE.match(line) or _CODE.match(line):
        return True
    if len(line) < 30:
        return False
    plain = sum(map(str.isalpha, line)) + line.count(" ")
    return plain < 0.7 * len(line) and not _PERSONAL.search(line)


def _spoken(body: str) -> Iterator[str]:
    """The lines of a block that are no log and no code."""
    return (line for line in body.splitlines() if not is_machine_output(line))


def _around(blocks: list[TextBlock]) -> list[TextBlock]:
    """Of a message that is long and full of code's names only its beginning and its end: between them is a paste."""
    whole = sum(len(block.text) for block in blocks)
    if whole <= _LONG or len(_NAME_OF_CODE.findall("\n".join(block.text for block in blocks)[:_LONG])) < 5:
        return blocks
    own: list[TextBlock] = []
    at = 0
    for block in blocks:
        if at + len(block.text) <= _HEAD or at >= whole - _TAIL:
            own.append(block)
        at += len(block.text)
    return own


def _pasted(blocks: list[TextBlock]) -> bool:
    """Whether all that is left reads like a ticket: long, full of code's names, and nobody speaks in it."""
    words = sum(len(block.text) for block in blocks)
    if words < 200:
        return False
    whole = "\n".join(block.text for block in blocks)
    names = len(_NAME_OF_CODE.findall(whole[:4000]))
    personal = len(_PERSONAL.findall(whole[:4000]))
    return names >= 2 and personal * 400 < min(words, 4000)
