"""Numbers of people and of their money, where they are to be taken out too: cards, IBANs, national numbers.

Each is judged by what its issuer made for that: length, beginning, check digits. A number that has none is found by its
whole form alone. What is found may overlap: one that only looks like a number of those must not hide one that is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from memory.settings import NumberKind

Found = Iterator[tuple[int, int, str]]

# What stands between the groups of a number: a space, also one at which no line breaks, a dash or a dot.
_SPACES = " \u00a0\u2007\u2009\u202f"
_MARKS = f"{_SPACES}-\u2010\u2011\u2013."
_UNMARKED = dict.fromkeys(map(ord, _MARKS))

# Digits and dashes that are an id by their form.
_UUID = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![0-9A-Fa-f])")
_GROUP = re.compile(r"[0-9]+")
# Behind a sign it counts something, behind a slash it is part of an address, behind a point the rest of a number.
_NO_CARD_BEGINS = re.compile(r"[\w+/]|(?<![^\W\d_])\.")
_CARD_GROUPS = 5
# How a card of each issuer begins, and how many digits it has.
_CARDS = re.compile(
    r"4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}"
)

_IBAN = re.compile(rf"(?<![A-Za-z0-9])[A-Za-z]{{2}}[{_SPACES}]?[0-9]{{2}}")
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

_DASH, _MARK = rf"[{_SPACES}\-\u2010\u2011\u2013]", rf"[{_SPACES}\-\u2010\u2011\u2013.]?"


def _pattern_of_form(number: str) -> re.Pattern[str]:
    """What is written so, in large letters or small, and is no part of a longer number or word."""
    return re.compile(rf"(?<![\w+])(?<![0-9][.\-])(?ai:{number})(?!\w)(?!-\w)(?!\.[0-9])")


_US = _pattern_of_form(rf"(?!000|666|9)[0-9]{{3}}(?P<mark>{_DASH})(?!00)[0-9]{{2}}(?P=mark)(?!0000)[0-9]{{4}}")
_GB = _pattern_of_form(
    rf"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]{_MARK}(?:[0-9]{{2}}{_MARK}){{3}}[A-D]"
)
_ES = _pattern_of_form(rf"(?:[XYZ]{_MARK}[0-9]{{7}}|[0-9]{{2}}\.?[0-9]{{3}}\.?[0-9]{{3}})-?[A-HJ-NP-TV-Z]")
_FR = _pattern_of_form(
    rf"[12]{_MARK}[0-9]{{2}}{_MARK}(?:0[1-9]|1[0-2]){_MARK}(?:[0-9]{{2}}|2[AB]){_MARK}"
    rf"[0-9]{{3}}{_MARK}[0-9]{{3}}{_MARK}[0-9]{{2}}"
)
_DE = _pattern_of_form(rf"[1-9][0-9](?:{_MARK}[0-9]{{3}}){{3}}")
_IT = _pattern_of_form(
    rf"[A-Z]{{3}}{_MARK}[A-Z]{{3}}{_MARK}[0-9]{{2}}{_MARK}[A-EHLMPRST]{_MARK}[0-9]{{2}}{_MARK}[A-Z][0-9]{{3}}{_MARK}[A-Z]"
)

_ES_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
# What a character at an odd place of an Italian tax code counts; at an even one it is its place in the alphabet.
_IT_ODD_VALUES = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_IT_ODD = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _IT_ODD_VALUES, strict=True)) | dict(
    zip("0123456789", _IT_ODD_VALUES[:10], strict=True)
)


def find_cards(text: str, lower: str) -> Found:
    """Numbers of payment cards: start, end, kind."""
    text = _UUID.sub(lambda match: "x" * len(match.group()), text)
    groups = [match.span() for match in _GROUP.finditer(text)]
    for at, (start, _) in enumerate(groups):
        if start and _NO_CARD_BEGINS.match(text, start - 1):
            continue
        end = _card_end(text, groups[at : at + _CARD_GROUPS])
        if end is not None:
            yield start, end, "card number"


def _card_end(text: str, groups: Sequence[tuple[int, int]]) -> int | None:
    """Where the longest card ends that begins with the first of these groups and has one sign between all of its."""
    digits, mark, found = "", "", None
    end = groups[0][0]
    for count, (start, stop) in enumerate(groups):
        between = text[end:start]
        if count == 1:
            mark = between
        if (count and (between != mark or len(mark) != 1 or mark not in _MARKS)) or len(digits) + stop - start > 19:
            break
        digits, end = digits + text[start:stop], stop
        if _is_card(digits) and not _goes_on(text, end, mark):
            found = end
        if stop - start < 4:
            break
    return found


def _is_card(digits: str) -> bool:
    return len(digits) >= 14 and bool(_CARDS.fullmatch(digits)) and len(set(digits)) > 1 and _luhn(digits)


def _goes_on(text: str, end: int, mark: str) -> bool:
    """Whether the number or word goes on behind this place."""
    following = text[end : end + 2]
    if mark != "." and following[:1] == "." and following[1:].isdigit():
        return True
    return following[:1].isalnum() or following[:1] == "_"


def find_ibans(text: str, lower: str) -> Found:
    """IBANs: start, end, kind."""
    for match in _IBAN.finditer(text):
        end = _iban_end(text, match.start())
        if end is not None:
            yield match.start(), end, "iban"


def _iban_end(text: str, start: int) -> int | None:
    left = _IBAN_LENGTHS.get(text[start : start + 2].upper())
    if left is None:
        return None
    iban, end = "", start
    while left:
        each = text[end : end + 1]
        if each in _MARKS and text[end + 1 : end + 2] not in _MARKS:
            end, each = end + 1, text[end + 1 : end + 2]
        if not (each.isascii() and each.isalnum()):
            return None
        iban, end, left = iban + each.upper(), end + 1, left - 1
    if text[end : end + 1].isalnum() or sum(map(str.isdigit, iban)) * 5 < len(iban) * 2:
        return None
    return end if int("".join(str(int(each, 36)) for each in iban[4:] + iban[:4])) % 97 == 1 else None


def find_national_ids(text: str, lower: str) -> Found:
    """Numbers that a state gives a person (US, GB, ES, FR, DE, IT): start, end, kind."""
    text = _UUID.sub(lambda match: "x" * len(match.group()), text)
    for pattern, holds in _NATIONAL:
        at = 0
        while match := pattern.search(text, at):
            if holds(match.group().translate(_UNMARKED).upper()):
                yield *match.span(), "national number"
            at = match.start() + 1


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
