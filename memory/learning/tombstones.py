"""What a person had forgotten, or has dismissed, is not learned again: a keyed hash of it stays, and says nothing
without the key."""

from __future__ import annotations

import hashlib

from memory.language.words import words


def tombstone_of(key: bytes, owner: str, text: str) -> bytes:
    """16 bytes that name a text of an owner, whatever its spacing, case and punctuation."""
    normal = " ".join(words(text))
    return hashlib.blake2b(f"{owner}\0{normal}".encode("utf-8", "replace"), digest_size=16, key=key[:64]).digest()


def person_tombstone(key: bytes, person: str) -> bytes:
    """16 bytes that name a person who was forgotten, by the owner of what is known of them in all projects."""
    return tombstone_of(key, f"person\0{person}", "")


def dismissal_of(key: bytes, owner: str, text: str) -> bytes:
    """16 bytes that name a draft which a person has dismissed; its text may still be learned where it is said for
    sure."""
    return tombstone_of(key, f"dismissed\0{owner}", text)
