"""What a release is checked for: the tables are those that were made, licences are allowed, all parts are listed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs.release import tables
from docs.release.licences import allowed, faults
from docs.release.locked import LOCK, Package, packages
from docs.release.sbom import bill
from docs.release.tables import TABLES, changed, stale

ROOT = Path(__file__).parent.parent


def test_the_shipped_tables_are_those_that_were_made() -> None:
    assert list(changed()) == []


def test_every_table_that_is_shipped_is_known() -> None:
    data = ROOT / "memory" / "models" / "data"
    there = {file.relative_to(ROOT).as_posix() for file in data.iterdir() if file.suffix not in (".md", "")}
    assert there == set(TABLES)


def test_a_table_that_was_changed_or_is_older_than_its_data_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tables.now()
    told["memory/models/data/clauses.npz"]["sha256"] = "0" * 64
    told["memory/models/data/encoder.npz"]["made_from"] = "0" * 64
    monkeypatch.setattr(tables, "MADE", tmp_path / "made.json")
    tables.MADE.write_text(json.dumps(told))
    [first], [second] = changed(), stale()
    assert "clauses.npz is not the one" in first and "encoder.npz was made from other data" in second


def test_every_locked_package_is_in_the_bill_with_its_hashes_and_twice_the_same() -> None:
    told = json.loads(bill())
    assert bill() == bill() and (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    locked = re.findall(r"^([\w.-]+)==([^\s;]+)", LOCK.read_text(), re.MULTILINE)
    libraries = [each for each in told["components"] if each["type"] == "library"]
    assert [(each["name"], each["version"]) for each in libraries] == locked
    hashes = sum(each["name"].endswith("sha256") for library in libraries for each in library["properties"])
    assert hashes == LOCK.read_text().count("--hash=sha256:")
    assert {each["name"] for each in told["components"] if each["type"] == "data"} == set(TABLES)
    assert len({each["bom-ref"] for each in told["components"]}) == len(told["components"])
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", told["serialNumber"])


def test_all_that_is_installed_is_under_a_licence_that_is_allowed() -> None:
    assert list(faults()) == [] and sum(each.installed for each in packages()) > 60


@pytest.mark.parametrize(
    ("licence", "fine"),
    [
        ("MIT", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        ("GPL-3.0 OR MIT", True),
        ("MPL-2.0 AND MIT", True),
        ("Apache-2.0 AND (MIT OR Apache-2.0)", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-2.0", False),
        ("LGPLv3", False),
        ("AGPL-3.0", False),
        ("Proprietary", False),
        ("", False),
    ],
)
def test_a_licence_is_allowed_or_not(licence: str, fine: bool) -> None:
    assert allowed(licence) is fine


def test_a_package_that_says_nothing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Package, "licence", property(lambda _: ""))
    assert "nothing that it says" in next(faults())


def test_an_audit_that_could_not_look_a_package_up_is_none() -> None:
    """Without this option pip-audit skips what it finds nothing about, and says that all is well."""
    [audit] = [line for line in Path("Makefile").read_text().splitlines() if "/pip-audit " in line]
    assert "--strict" in audit and "requirements.lock" in audit
