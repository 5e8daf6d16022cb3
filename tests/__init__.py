"""The tests of both packages, and what they share."""

import os

# Before anything imports numpy, as the command line does it: a second thread brings nothing to matrices as small as
# ours, and two that wait for each other take the processor from the tests beside them.
for _library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_library, "1")
