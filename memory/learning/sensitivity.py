"""How guarded a memory must be, by written rules.

``restricted``: health of a grave kind, intimate life, what stands next to credentials, what somebody asked to keep
secret. ``confidential``: health, money, relationships, faith and politics of a person, law, and what is marked so.
Everything else is normal. A word alone does not decide where it is also ordinary ("a healthy build", "token
budget"): those words count only beside the person.
"""

from __future__ import annotations

import re

from memory.fact import Sensitivity

_PERSON = re.compile(
    r"\b(?:i|i'm|i've|my|me|mine|he|she|his|her|him|our|wife|husband|partner|son|daughter|mother|father|mom|dad|"
    r"friend|colleague|employee|patient|client|boss|ich|mein\w{0,2}|mir)\b"
)
_SECRET = re.compile(
    r"\b(?:keep (?:this|it|that) (?:a )?(?:secret|to yourself|quiet|between us)|don't (?:tell|share (?:this|"
    r"it) with) (?:anyone|anybody)|tell (?:no one|nobody)|top secret|strictly confidential|under nda|eyes only|"
    r"never (?:share|disclose|repeat) (?:this|it))\b"
)
_CREDENTIAL = re.compile(
    r"\b(?:password|passwd|passphrase|passcode|pin code|api[ _-]?key|secret key|access key|private key|"
    r"client secret|credentials?|bearer token|access token|auth token|recovery (?:code|phrase)|seed phrase|2fa|otp|"
    r"security question|social security|ssn|passport (?:number|no)|credit card|card number|cvv|iban|account number|"
    r"routing number|tax id|driver'?s licen[cs]e (?:number|no))\b.{0,40}(?:\bis\b|\bare\b|:|=|\[redacted|\*\*\*)"
)
_GRAVE = re.compile(
    r"\b(?:hiv|aids|cancer|tumou?r|chemo\w{0,8}|suicid\w{1,5}|self[- ]harm|overdose|abus(?:e|ed|ive)|rape[d]?|"
    r"assault(?:ed)?|addict(?:ed|ion)|rehab|alcoholi[cs]\w{0,2}|miscarriage|abortion|std|bipolar|"
    r"schizophreni\w{1,2}|psychosis|eating disorder|anorexi\w{1,2}|bulimi\w{1,2}|sexual(?:ity)?|orientation|affair|"
    r"cheated on|terminal(?:ly)? ill\w{0,4})\b"
)
_MARKED = re.compile(
    r"\b(?:confidential(?:ly)?|between (?:us|you and me)|off the record|in confidence|not (?:public|"
    r"for publication|yet public|to be shared)|internal only|nda|embargo(?:ed)?|sensitive (?:information|data|"
    r"matter)|vertraulich|unter uns|geheim)\b"
)
_PRIVATE = re.compile(
    r"\b(?:diagnos\w{1,5}|illness|disease|disorder|therap(?:y|ist)|psychiatr\w{1,4}|antidepress\w{1,4}|"
    r"depress(?:ed|ion)|anxiety|adhd|autis\w{1,4}|dyslexi\w{1,2}|diabet\w{1,4}|asthma|arthritis|epilep\w{1,4}|"
    r"migraines?|medications?|prescri\w{1,8}|surgery|hospital\w{0,9}|pregnan\w{1,4}|allerg\w{1,4}|"
    r"blood (?:pressure|type|test)|disab\w{1,6}|insomnia|panic attacks?|salary|income|debts?|mortgage|"
    r"bankrupt\w{0,3}|savings|net worth|loan|in debt|divorc\w{1,4}|broke up|break-?up|custody|lawsuit|sued|"
    r"arrest\w{0,2}|convict\w{1,4}|criminal record|visa status|fired|laid off|immigra\w{1,5}|religion|religious|"
    r"muslim|jewish|christian|catholic|hindu|buddhist|atheist|voted? for|political (?:views?|party)|gay|lesbian|"
    r"bisexual|transgender|non-?binary|queer|gender identity|krankheit|gehalt|schulden|schwanger|scheidung)\b"
)
_ADDRESS = re.compile(
    r"\b(?:my|his|her|our|their) (?:home |private |street )?(?:address|phone number|mobile|date of birth|"
    r"birth date)\b|\b\d{1,5} [a-z]{2,20} (?:street|avenue|road|lane|drive|boulevard)\b"
)
_NOT_OF_PEOPLE_ALONE = re.compile(
    r"\b(?:aids|std|abuse|orientation|diagnos\w{1,5}|disabl\w{1,4}|fired|savings|prescrib\w{1,5}|voted? for|"
    r"non-?binary|tech(?:nical)? debts?)\b"
)
"""Words of what is grave or private that are as ordinary of a program."""


JUDGED = 4000
"""Characters of a text that are judged; those of a longer one by :func:`is_guarded`."""

_OVERLAP = 400
"""Characters that stand in two of the pieces that are judged one after the other."""


def is_guarded(text: str) -> bool:
    """Whether anything in a text, however long, is more than normal."""
    starts = range(0, max(len(text) - _OVERLAP, 1), JUDGED - _OVERLAP)
    return any(sensitivity(text[start : start + JUDGED]) is not Sensitivity.NORMAL for start in starts)


def is_of_private_life(text: str) -> bool:
    """Whether a text has a word of what is grave or private, whoever it is about, that is no ordinary one of a
    program."""
    plain = _NOT_OF_PEOPLE_ALONE.sub(" ", text.lower().replace("’", "'"))
    return bool(_GRAVE.search(plain) or _PRIVATE.search(plain))


def sensitivity(text: str) -> Sensitivity:
    """The guard that a text needs, by its first :data:`JUDGED` characters."""
    plain = text[:JUDGED].lower().replace("’", "'")
    if _SECRET.search(plain) or _CREDENTIAL.search(plain):
        return Sensitivity.RESTRICTED
    personal = bool(_PERSON.search(plain))
    if personal and _GRAVE.search(plain):
        return Sensitivity.RESTRICTED
    if _MARKED.search(plain) or _ADDRESS.search(plain) or (personal and _PRIVATE.search(plain)):
        return Sensitivity.CONFIDENTIAL
    return Sensitivity.NORMAL
