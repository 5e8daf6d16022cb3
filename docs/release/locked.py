"""The packages of the lock file: what ``palimpsest-proxy[all]`` installs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LOCK: Final = ROOT / "requirements.lock"

_ENTRY: Final = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>[^\s;\\]+)(?: ; (?P<where>[^\\\n]+?))? ?\\?$"
    r"(?P<hashes>(?:\n +--hash=sha256:[0-9a-f]{64}(?: \\)?)+)",
    re.MULTILINE,
)
_OF_CLASSIFIER: Final = "License :: OSI Approved :: "


@dataclass(frozen=True, slots=True)
class Package:
    """One package: its name, version, on which platforms it is installed (empty: on all), and its files' hashes."""

    name: str
    version: str
    where: str
    hashes: tuple[str, ...]

    @property
    def licence(self) -> str:
        """What it says it is licensed under; empty where it is not installed here, or does not say."""
        try:
            told = metadata.metadata(self.name)
        except metadata.PackageNotFoundError:
            return ""
        if "License-Expression" in told:
            return told["License-Expression"]
        of_classes = [each.rpartition(" :: ")[2] for each in told.get_all("Classifier", ()) if _OF_CLASSIFIER in each]
        first_line = told["License"].strip().partition("\n")[0] if "License" in told else ""
        return " AND ".join(of_classes) or first_line

    @property
    def installed(self) -> bool:
        """Whether it is installed here."""
        try:
            metadata.distribution(self.name)
        except metadata.PackageNotFoundError:
            return False
        return True


@cache
def packages() -> tuple[Package, ...]:
    """All of them."""
    found = (
        Package(each["name"], each["version"], each["where"] or "", tuple(re.findall(r"[0-9a-f]{64}", each["hashes"])))
        for each in _ENTRY.finditer(LOCK.read_text(encoding="utf-8"))
    )
    return tuple(found)
