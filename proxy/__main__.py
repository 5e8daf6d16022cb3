"""``python -m proxy``: the command line."""

from proxy.cli import main

main()
