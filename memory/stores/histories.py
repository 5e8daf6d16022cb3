"""Histories without repetition: a client sends all of its history again and again, and only its end is new.

Pure functions over message digests of 16 bytes. A *joined* history is its digests one after the other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

DIGEST = 16


def join(digests: Sequence[bytes]) -> bytes:
    """A joined history.

    Raises:
        ValueError: when a digest is not 16 bytes long.
    """
    if not {*map(len, digests)} <= {DIGEST}:
        raise ValueError(f"a digest has {DIGEST} bytes")
    return b"".join(digests)


def split(joined: bytes) -> tuple[bytes, ...]:
    """The inverse of :func:`join`."""
    return tuple([joined[start : start + DIGEST] for start in range(0, len(joined), DIGEST)])


def common(first: bytes, second: bytes) -> int:
    """How many digests two joined histories share from the front."""
    length = min(len(first), len(second)) // DIGEST
    if first[: length * DIGEST] == second[: length * DIGEST]:
        return length
    return bisect_right(range(length), 0, key=lambda n: first[: (n + 1) * DIGEST] != second[: (n + 1) * DIGEST])


def rebuild(links: Sequence[tuple[int, bytes]]) -> bytes:
    """A joined history out of its deltas ``(kept, joined tail)``: the newest first, the last complete in itself."""
    history = b""
    for count, tail in reversed(links):
        history = history[: count * DIGEST] + tail
    return history


def fresh(history: Sequence[bytes], start: int, seen: Mapping[bytes, int]) -> tuple[list[int], dict[bytes, int]]:
    """What is new from ``start`` on, where each digest has been ``seen`` so often in one request at most.

    The second "yes" of a session is new when no earlier request had more than one.

    Returns:
        The indices of what is new, and how often each digest from ``start`` on stands in the whole history.
    """
    times = dict.fromkeys(history[start:], 0)
    for digest in history[:start]:
        if digest in times:
            times[digest] += 1
    found = []
    for index in range(start, len(history)):
        digest = history[index]
        times[digest] += 1
        if times[digest] > seen.get(digest, 0):
            found.append(index)
    return found, times
