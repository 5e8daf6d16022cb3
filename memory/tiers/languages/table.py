"""The table of languages, ``languages.toml``: what each is known by, and what an outline of it shows."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

LANGUAGES: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("languages.toml").read_text("utf-8")
)
