"""Home folders that earlier versions wrote, kept packed: a newer version must find in them what was there.

``make`` plays one; ``python -m tests.homes.make tests/homes/NAME.tar.xz`` is run with the code of the version that is
about to be left behind, and the file is committed. Those that are there are never made again.
"""
