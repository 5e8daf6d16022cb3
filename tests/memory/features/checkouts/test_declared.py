"""What manifests name, and what they speak against."""

from __future__ import annotations

import pytest

from memory.checkout import Citation, CitationKind
from memory.features.checkouts.declared import against, declared, declared_version

PACKAGE = '{"packageManager": "pnpm@9.1.0", "engines": {"node": ">=20"}, "devDependencies": {"vitest": "^1.6.0"}}'
PYPROJECT = (
    '[project]\nrequires-python = ">=3.11"\ndependencies = ["fastapi>=0.110", "uvicorn[standard]~=0.29"]\n[tool.ruff]\n'
)
BUILT = declared({"package.json": PACKAGE, "pyproject.toml": PYPROJECT, ".python-version": "3.12\n"}, ["uv.lock"])


def test_every_manifest_is_read() -> None:
    told = declared(
        {
            "go.mod": "module a\n\ngo 1.22\n\nrequire github.com/jackc/pgx v5.5.0\n",
            "Cargo.toml": '[dependencies]\nserde = { version = "1.0" }\ntokio = "1.37"\n',
            "requirements.txt": "flask==3.0.2\n# no\npytest\n",
            "Gemfile": "gem 'rails', '7.1.3'\n",
            ".tool-versions": "terraform 1.8.0\n",
            "tox.ini": "[pytest]\n",
            "composer.json": "{not json",
        }
    )
    wanted = {"go": "1.22", "pgx": "5.5.0", "serde": "1.0", "tokio": "1.37", "flask": "==3.0.2", "rails": "7.1.3"}
    assert told.versions == wanted | {"terraform": "1.8.0", "pytest": ""}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("We use jest for the tests.", "package.json has vitest"),
        ("Install with npm.", "package.json has pnpm"),
        ("The API is written with Flask.", "pyproject.toml has fastapi"),
        ("We use poetry.", "uv.lock has uv"),
        ("We use vitest for the tests.", ""),
        ("We moved from jest to vitest.", ""),
        ("We do not use jest.", ""),
        ("We drink tea.", ""),
    ],
)
def test_a_plain_statement_is_compared_with_the_manifests(text: str, other: str) -> None:
    assert against(text, BUILT) == other


@pytest.mark.parametrize(
    ("cited", "other"),
    [
        ("vitest 1.4", None),
        ("vitest 0.34", "package.json has 1.6.0"),
        ("node 18", "package.json has 20"),
        ("node 22", None),
        ("Python 3.12", None),
        ("Python 3.9", "pyproject.toml has 3.11"),
        ("react 17", None),
    ],
)
def test_a_version_is_compared_as_closely_as_it_is_told(cited: str, other: str | None) -> None:
    assert declared_version(Citation(CitationKind.VERSION, cited), BUILT) == other
