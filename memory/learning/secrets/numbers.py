"""Numbers of people and of their money, where they are to be taken out too: cards, IBANs, national numbers.

Each is judged by what its issuer made for that: length, beginning, check digits. A number that has none is found by its
whole form alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

NumberKind = Literal["cards", "ibans", "national_ids"]

Found = Iterator[tuple[int, int, str]]

_DIGITS = re.compile(r"(?<![\w.\-+/])[0-9](?:[ \-]?[0-9]){12,18}(?![\w/])(?!\.[0-9])")
# How a card of each issuer begins, and how many digits it has.
_CARDS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}"
)

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?: ?[A-Za-z0-9]){11,30}")
# Characters of an IBAN, by its country.
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
    }.items()
    for country in countries.split()
}

_EDGE, _END = r"(?<![\w\-.])", r"(?![\w\-])"
_US = re.compile(rf"{_EDGE}(?!000|666|9)[0-9]{{3}}-(?!00)[0-9]{{2}}-(?!0000)[0-9]{{4}}{_END}")
_GB = re.compile(
    rf"{_EDGE}(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(?:[0-9]{{2}} ?){{3}}[A-D]{_END}"
)
_ES = re.compile(rf"{_EDGE}(?:[XYZ]-?[0-9]{{7}}|[0-9]{{8}})-?[A-HJ-NP-TV-Z]{_END}")
_FR = re.compile(
    rf"{_EDGE}[12] ?[0-9]{{2}} ?(?:0[1-9]|1[0-2]) ?(?:[0-9]{{2}}|2[AB]) ?[0-9]{{3}} ?[0-9]{{3}} ?[0-9]{{2}}{_END}"
)
_DE = re.compile(rf"{_EDGE}[1-9][0-9](?: ?[0-9]{{3}}){{3}}{_END}")
_IT = re.compile(rf"{_EDGE}[A-Z]{{6}}[0-9]{{2}}[A-EHLMPRST][0-9]{{2}}[A-Z][0-9]{{3}}[A-Z]{_END}")

_ES_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
# What a character at an odd place of an Italian tax code counts; at an even one it is its place in the alphabet.
_IT_ODD_VALUES = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_IT_ODD = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _IT_ODD_VALUES, strict=True)) | dict(
    zip("0123456789", _IT_ODD_VALUES[:10], strict=True)
)


def find_cards(text: str, lower: str) -> Found:
    """Numbers of payment cards: start, end, kind."""
    for match in _DIGITS.finditer(text):
        digits = _plain(match.group())
        if _CARDS.fullmatch(digits) and _luhn(digits) and len(set(digits)) > 1 and _evenly(match.group()):
            yield *match.span(), "card number"


def find_ibans(text: str, lower: str) -> Found:
    """IBANs: start, end, kind."""
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match.group()[:2].upper())
        if length is None:
            continue
        end, left = match.start(), length
        while left and end < match.end():
            left -= text[end] != " "
            end += 1
        if left or (end < len(text) and text[end].isalnum()):
            continue
        iban = _plain(text[match.start() : end]).upper()
        if int("".join(str(int(each, 36)) for each in iban[4:] + iban[:4])) % 97 == 1:
            yield match.start(), end, "iban"


def find_national_ids(text: str, lower: str) -> Found:
    """Numbers that a state gives a person (US, GB, ES, FR, DE, IT): start, end, kind."""
    for pattern, holds in _NATIONAL:
        for match in pattern.finditer(text):
            if holds(_plain(match.group())):
                yield *match.span(), "national number"


def _plain(number: str) -> str:
    return number.replace(" ", "").replace("-", "")


def _evenly(number: str) -> bool:
    """Whether it is written in one piece, or with one sign between groups of four or more."""
    if number.isdigit():
        return True
    groups = re.split(r"[ \-]", number)
    return len({*number} - {*"0123456789"}) == 1 and all(len(each) >= 4 for each in groups[:-1])


def _luhn(digits: str) -> bool:
    doubled = (int(each) * (1 + at % 2) for at, each in enumerate(reversed(digits)))
    return sum(each // 10 + each % 10 for each in doubled) % 10 == 0


def _spanish(number: str) -> bool:
    digits = number[:-1].translate({ord("X"): "0", ord("Y"): "1", ord("Z"): "2"})
    return _ES_LETTERS[int(digits) % 23] == number[-1]


def _french(number: str) -> bool:
    digits = int(number[:13].replace("2A", "19").replace("2B", "18"))
    return 97 - digits % 97 == int(number[13:])


def _german(number: str) -> bool:
    counts = [number[:10].count(each) for each in set(number[:10])]
    if max(counts) not in (2, 3) or sum(count > 1 for count in counts) != 1:
        return False
    rest = 10
    for each in number[:10]:
        rest = ((int(each) + rest) % 10 or 10) * 2 % 11
    return (11 - rest) % 10 == int(number[10])


def _italian(number: str) -> bool:
    total = sum(
        _IT_ODD[each] if at % 2 == 0 else int(each) if each.isdigit() else ord(each) - ord("A")
        for at, each in enumerate(number[:15])
    )
    return chr(ord("A") + total % 26) == number[15]


def _any(number: str) -> bool:
    return True


_NATIONAL: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (_US, _any),
    (_GB, _any),
    (_ES, _spanish),
    (_FR, _french),
    (_DE, _german),
    (_IT, _italian),
)

NUMBERS: dict[NumberKind, Callable[[str, str], Found]] = {
    "cards": find_cards,
    "ibans": find_ibans,
    "national_ids": find_national_ids,
}
