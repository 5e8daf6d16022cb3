"""What memory needs of the world, and no word on which process answers.

    journal                 the durable truth: exchanges, sessions, ledger, facts, passages, receipts
    records                 the values that it hands over and is handed
    index                   the vector index, embedders and language models
    files                   lasting files
    shared_events           what other processes do that write the same journal
    guard                   what may fail or be late

Stores are async because they may live in another thread, process or machine.
"""

from memory.ports.files import PublishedFiles, PublishFailed
from memory.ports.guard import BoundedSeconds, Guard, bounded_by
from memory.ports.index import Embedder, Index, IndexHit, LanguageModel, NoAnswer, Point, Query, Sparse, Vector
from memory.ports.journal import FACT_DECISIONS, Journal, StoreError
from memory.ports.records import (
    NO_LEDGER,
    AgreedLedger,
    Counts,
    Forgotten,
    Generation,
    Graph,
    Journaled,
    JournaledMessage,
    JournaledTurn,
    Lag,
    LedgerVersion,
    Lesson,
    Measured,
    MemoryUse,
    ModelTotals,
    Overview,
    SaidIn,
    SetAsideErasure,
    StoredMessage,
    StoredSession,
    SummaryLine,
    Tally,
    TermRarity,
)
from memory.ports.shared_events import SharedEvents

__all__ = [
    "FACT_DECISIONS",
    "NO_LEDGER",
    "AgreedLedger",
    "BoundedSeconds",
    "Counts",
    "Embedder",
    "Forgotten",
    "Generation",
    "Graph",
    "Guard",
    "Index",
    "IndexHit",
    "Journal",
    "Journaled",
    "JournaledMessage",
    "JournaledTurn",
    "Lag",
    "LanguageModel",
    "LedgerVersion",
    "Lesson",
    "Measured",
    "MemoryUse",
    "ModelTotals",
    "NoAnswer",
    "Overview",
    "Point",
    "PublishFailed",
    "PublishedFiles",
    "Query",
    "SaidIn",
    "SetAsideErasure",
    "SharedEvents",
    "Sparse",
    "StoreError",
    "StoredMessage",
    "StoredSession",
    "SummaryLine",
    "Tally",
    "TermRarity",
    "Vector",
    "bounded_by",
]
