"""What memory needs of the world, and no word on which process answers.

    journal                 the durable truth: exchanges, sessions, ledger, facts, passages, receipts
    handed                  the values that it hands over and is handed
    index                   the vector index
    models                  embedders and language models
    files                   lasting files
    guard                   what may fail or be late

Stores are async because they may live in another thread, process or machine.
"""

from memory.ports.files import LastingFiles, NotWritten
from memory.ports.guard import Guard
from memory.ports.handed import (
    AsideLeft,
    Counts,
    Forgotten,
    Generation,
    Graph,
    Journaled,
    Kept,
    Lag,
    Lesson,
    Measured,
    Overview,
    Rarity,
    Shelved,
    Sum,
    Tally,
    Turn,
    Use,
)
from memory.ports.index import Found, Index, Point, Query, Sparse
from memory.ports.journal import Journal, StoreError
from memory.ports.models import Embedder, LanguageModel, NoAnswer, Vector

__all__ = [
    "AsideLeft",
    "Counts",
    "Embedder",
    "Forgotten",
    "Found",
    "Generation",
    "Graph",
    "Guard",
    "Index",
    "Journal",
    "Journaled",
    "Kept",
    "Lag",
    "LanguageModel",
    "LastingFiles",
    "Lesson",
    "Measured",
    "NoAnswer",
    "NotWritten",
    "Overview",
    "Point",
    "Query",
    "Rarity",
    "Shelved",
    "Sparse",
    "StoreError",
    "Sum",
    "Tally",
    "Turn",
    "Use",
    "Vector",
]
