"""Whether each package that is installed may be shipped beside an Apache-2.0 program, unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from docs.release.locked import Package, packages

ALLOWED: Final = re.compile(
    r"(the )?(mit|(3-clause )?bsd|apache|cnri-python|isc|psf|python software foundation|0bsd|zlib|unlicense|cc0|mpl|"
    r"mozilla public license|hpnd|historical permission)\b.*",
    re.IGNORECASE,
)
"""Licences that ask for no more than their notice, or (MPL) for the source of their own files, which nobody changes."""

AS_A_LIBRARY: Final = frozenset(("psycopg", "psycopg-binary"))
"""Under the LGPL, of an extra only: installed from where they are published, unchanged, and anybody may put another
version in their place. Nothing else under it is allowed by itself."""

_EITHER: Final = re.compile(r"\s+or\s+|\s*/\s*", re.IGNORECASE)
_BOTH: Final = re.compile(r"\s+and\s+|\s*,\s*|\s*;\s*", re.IGNORECASE)


def faults(found: Iterable[Package] | None = None) -> Iterator[str]:
    """A sentence for each package that says none of these. Those of other platforms are not installed here."""
    for package in packages() if found is None else found:
        if package.name in AS_A_LIBRARY and package.licence.startswith("LGPL"):
            continue
        if package.installed and not allowed(package.licence):
            yield f"{package.name} {package.version} is licensed under {package.licence or 'nothing that it says'}"


def allowed(licence: str) -> bool:
    """Whether a licence, or one of those that may be chosen from, is one of these."""
    return bool(licence) and any(
        all(ALLOWED.fullmatch(each.strip(" ()")) for each in _BOTH.split(choice)) for choice in _EITHER.split(licence)
    )
