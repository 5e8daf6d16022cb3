"""A bill of materials in CycloneDX 1.6: the locked packages, and the data in our own. From the same files it is the
same to the byte."""

from __future__ import annotations

import hashlib
import json
import tomllib
import uuid
from collections.abc import Iterator
from typing import Any, Final

from docs.release.locked import ROOT, Package, packages
from docs.release.tables import TABLES, sum_of

_FORMAT: Final = "1.6"


def bill() -> str:
    """The document."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    components = [*map(_package, packages()), *_data()]
    identity = uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(json.dumps(components).encode()).hexdigest())
    told = {
        "bomFormat": "CycloneDX",
        "specVersion": _FORMAT,
        "serialNumber": identity.urn,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": project["name"],
                "name": project["name"],
                "version": project["version"],
                "licenses": [{"license": {"id": project["license"]}}],
                "purl": f"pkg:pypi/{project['name']}@{project['version']}",
            }
        },
        "components": components,
        "dependencies": [{"ref": project["name"], "dependsOn": [each["bom-ref"] for each in components]}],
    }
    return json.dumps(told, indent=2) + "\n"


def _package(package: Package) -> dict[str, Any]:
    name = f"pkg:pypi/{package.name}@{package.version}"
    told: dict[str, Any] = {
        "type": "library",
        "bom-ref": name,
        "name": package.name,
        "version": package.version,
        "purl": name,
        # Of each of its files for some platform: an installer takes one of them.
        "properties": [{"name": "palimpsest:file:sha256", "value": each} for each in package.hashes],
    }
    if package.where:
        told["properties"].append({"name": "palimpsest:installed where", "value": package.where})
    if package.licence:
        told["licenses"] = [{"license": {"name": package.licence}}]
    return told


def _data() -> Iterator[dict[str, Any]]:
    for name in sorted(TABLES):
        file = ROOT / name
        yield {
            "type": "data",
            "bom-ref": name,
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": sum_of([file])}],
        }
