"""``python -m docs.release sbom | licences | tables [--write]``: see each module."""

from __future__ import annotations

import argparse
import sys

from docs.release.licences import faults as licence_faults
from docs.release.sbom import bill
from docs.release.tables import changed, stale, write


def main(arguments: list[str]) -> int:
    """The exit code: 1 where a check found something."""
    parser = argparse.ArgumentParser(prog="python -m docs.release", description=__doc__)
    told = parser.add_subparsers(dest="what", required=True)
    told.add_parser("sbom", help="write a bill of materials to standard output")
    told.add_parser("licences", help="check the licences of all that is installed")
    tables = told.add_parser("tables", help="check the shipped tables, and what they were made from")
    tables.add_argument("--write", action="store_true", help="write down those that have just been made")
    asked = parser.parse_args(arguments)
    if asked.what == "sbom":
        sys.stdout.write(bill())
        return 0
    if asked.what == "tables" and asked.write:
        write()
        return 0
    faults = list(licence_faults() if asked.what == "licences" else (*changed(), *stale()))
    print("\n".join(faults) or f"{asked.what}: nothing to complain of")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
