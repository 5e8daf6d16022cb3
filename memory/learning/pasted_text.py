"""Text that a person has found somewhere and pasted: it is not their word, whatever it says.

It begins behind a line that announces it ("Here is a page I found:") and goes on to the end of the message. It is kept
like what the web says, and what reads like an order in it is left out: whoever wrote it has no orders to give.
"""

from __future__ import annotations

import re

_LEAD = re.compile(
    r"^(?=[^\n]{0,160}:[ \t]{0,4}$)"
    r"(?=[^\n]{0,160}\b(?:here(?:'s|’s| is| are)|found|pasted?|copied|read|saw|from|keep|save)\b)"
    r"[^\n]{0,160}\b(?:(?:web ?)?(?:page|site)s?|website|article|blog|(?:blog |forum )?posts?|documents?|newsletter|"
    r"press release|paper|chapter|wiki|handbook|guide|tutorial|leaflet|flyer|advert|spam)\b[^\n]{0,160}:[ \t]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST_QUESTION = 240
"""Characters of a last paragraph in which the person may ask something about it."""


def parted(text: str) -> tuple[str, str]:
    """A message as its person's own words and what they found elsewhere, which is empty in nearly every message."""
    lead = _LEAD.search(text)
    if lead is None:
        return text, ""
    own, found = text[: lead.end()], text[lead.end() :]
    paragraph, _, asks = found.rstrip().rpartition("\n")
    body = paragraph.rstrip()
    between = paragraph[len(body) :]
    if "\n" in between and 1 < len(asks) <= _LONGEST_QUESTION + 1 and asks.endswith("?"):
        return f"{own}\n\n{asks}", body + between[: between.index("\n")]
    return own, found
