"""The index inside this process: Qdrant's own engine, by ``qdrant-edge-py``.

Search is exact (no graph is built), which for one owner's points is as fast as a graph and never stops the process
to build one. All calls run in one thread of this index's own; a bulk of points is cut up, so that a search never
waits for more than one piece of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import qdrant_edge as edge

from memory.ports import IndexHit, Point, Query
from memory.stores.disk import drop_page_cache, write_out
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.tenant_vectors import ROOM, TenantVectors
from memory.stores.vector_snapshot import LATE, VectorSnapshot

T = TypeVar("T")

DENSE = "dense"
LEXICAL = "lexical"
# Points in one call: some milliseconds.
PIECE = 64
# Free disk below which nothing is written: the engine's files are mapped and have holes, and a page of them for which
# the disk has no room ends the process.
RESERVE = 16 * 2**20
# How long others have Python's lock to themselves after each piece that is put at hand, which holds it as long.
REST_SECONDS = 0.001
# The engine's own log outlives a kill of the process; carrying it over now and then keeps the next start quick.
FLUSH_EVERY = 2000
# After so long all that was deleted is overwritten in the files, and cut off from the engine's log.
FLUSH_SECONDS = 5.0
# Texts of ids that are kept: writing one out takes ten times as long as looking it up.
NAMES = 16384
# From so many points on the fields that are filtered by are indexed. Below it a search that reads them from every point
# takes 0.4 ms longer at most, and only until its owner's points are at hand; making their indexes costs four times what
# making the shard does.
FIELDS_FROM = 256
# Larger than any index: never build a graph, always compare with every point that the filter lets through.
_NEVER = 1_000_000_000
_FIELDS: dict[str, edge.KeywordIndexParams | edge.FloatIndexParams] = {
    "owner": edge.KeywordIndexParams(is_tenant=True),
    "sort": edge.KeywordIndexParams(),
    "at": edge.FloatIndexParams(),
}


class EdgeIndex:
    """A shard of Qdrant Edge in a folder. One process owns it. Made by :meth:`open`."""

    def __init__(self, folder: Path, dimensions: int, at_hand: int = ROOM) -> None:
        self.folder = folder
        self.dimensions = dimensions
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="index")
        self._shard: Any = None
        self._unflushed = 0
        self._flushing: asyncio.TimerHandle | None = None
        self._names: dict[int, str] = {}
        self._at_hand = TenantVectors(dimensions, at_hand)
        self.snapshot_folder = folder / "at_hand"
        self._snapshot = VectorSnapshot(self.snapshot_folder)

    @classmethod
    async def open(cls, folder: Path, dimensions: int, at_hand: int = ROOM) -> EdgeIndex:
        """Open the shard in a folder, or make one where there is none. So many points are kept at hand at most.

        Raises:
            StoreFault: ``LOCKED`` when another process owns it, ``CORRUPT`` when it cannot be read (then it is to
                be removed and filled again from the journal).
        """
        index = cls(folder, dimensions, at_hand)
        try:
            await index._run(index._open)
        except BaseException:
            index._thread.shutdown(wait=False)
            raise
        return index

    async def upsert(self, points: Sequence[Point]) -> None:
        for point in points:
            if len(point.dense) != self.dimensions:
                raise ValueError(f"{point.id} has {len(point.dense)} dimensions, the index {self.dimensions}")
        for start in range(0, len(points), PIECE):
            piece = points[start : start + PIECE]
            await self._run(lambda piece=piece: self._upsert(piece))  # type: ignore[misc]

    async def delete(self, ids: Sequence[str]) -> None:
        """See :class:`memory.ports.Index`. The vectors are overwritten first: a deleted point keeps its place in
        the files until the shard is made anew."""
        if ids:
            await self._run(lambda: self._delete(ids))
            if self._flushing is None:
                # The engine holds Python's lock while it does: once for all that goes at a time.
                self._flushing = asyncio.get_running_loop().call_later(
                    FLUSH_SECONDS, self._thread.submit, self._translating_errors, self._flush
                )

    async def search(self, query: Query) -> list[IndexHit]:
        if not query.owners or query.limit < 1:
            return []
        if self._shard is None:
            raise StoreFault(f"the index in {self.folder} is closed", StoreFaultKind.CLOSED)
        missing = self._at_hand.missing(query.owners)
        for owner in missing:
            self._thread.submit(self._load_points, owner)
        if any(map(self._snapshot.has, missing)):
            # What lies in files is at hand in a moment, without the engine's holding up everybody else.
            await self._run(lambda: None)
        found = self._at_hand.search(query)
        # Here and not in the thread: the engine keeps Python's lock while it searches, so that a thread would only
        # add the way there and back.
        return self._translating_errors(lambda: self._search(query)) if found is None else found

    async def count(self) -> int:
        return int(await self._run(lambda: self._shard.count(edge.CountRequest(exact=True))))

    async def close(self) -> None:
        """See :class:`memory.ports.Index`. Closing twice does nothing."""
        if self._shard is None:
            return
        if self._flushing is not None:
            self._flushing.cancel()
        try:
            await self._run(self._close)
        finally:
            self._shard = None
            self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], T]) -> T:
        if self._thread._shutdown:
            raise StoreFault(f"the index in {self.folder} is closed", StoreFaultKind.CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._translating_errors, work)

    def _translating_errors(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (ValueError, TypeError, StoreFault):
            raise
        except Exception as error:
            raise self._fault(error) from error
        except BaseException as error:
            # A panic of the engine is no Exception in Python.
            if type(error).__name__ == "PanicException":
                raise self._fault(error) from error
            raise

    def _fault(self, error: BaseException) -> StoreFault:
        message = str(error)
        if "WouldBlock" in message:
            return StoreFault(f"another process owns the index in {self.folder}", StoreFaultKind.LOCKED)
        if "No space left" in message or "StorageFull" in message:
            return StoreFault(f"the disk is full: the index in {self.folder} could not grow", StoreFaultKind.FULL)
        if "Permission denied" in message:
            return StoreFault(
                f"the index in {self.folder} may not be opened: check its owner and mode", StoreFaultKind.DENIED
            )
        return StoreFault(
            f"the index in {self.folder} is damaged and has to be made again ({message})", StoreFaultKind.CORRUPT
        )

    def _must_have_room(self) -> None:
        there = self.folder
        while not there.exists() and there != there.parent:
            there = there.parent
        if shutil.disk_usage(there).free < RESERVE:
            raise StoreFault(f"the disk is full: the index in {self.folder} is not written", StoreFaultKind.FULL)

    def _open(self) -> None:
        self._must_have_room()
        config = edge.EdgeConfig(
            vectors={DENSE: edge.EdgeVectorParams(size=self.dimensions, distance=edge.Distance.Dot)},
            # No idf modifier: the query's weights carry it already, by the caller's own store.
            sparse_vectors={LEXICAL: edge.EdgeSparseVectorParams()},
            hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=_NEVER),
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_NEVER),
        )
        if any(self.folder.glob("*")):
            self._shard = edge.EdgeShard.load(str(self.folder), config)
            self._index_fields()
            self._snapshot.open()
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._shard = edge.EdgeShard.create(str(self.folder), config)

    def _index_fields(self) -> None:
        """Index the fields that are filtered by, once there are points enough; a kill may have left some of them."""
        info = self._shard.info()
        if info.points_count < FIELDS_FROM:
            return
        for field, schema in _FIELDS.items():
            if field not in info.payload_schema:
                self._shard.update(edge.UpdateOperation.create_field_index(field, schema))

    def _close(self) -> None:
        self._shard.flush()
        self._shard.close()
        self._shard = None  # for what is still to be gathered
        if len(self._snapshot.changes()) > LATE:
            self._snapshot.clear()
            for owner in self._at_hand.whole():
                self._save_snapshot(owner)
        self._snapshot.close()

    def _upsert(self, points: Sequence[Point]) -> None:
        self._must_have_room()
        self._snapshot.change(point.id for point in points)
        self._shard.update(
            edge.UpdateOperation.upsert_points(
                [
                    edge.Point(
                        point.id,
                        {DENSE: point.dense.tolist(), LEXICAL: _sparse(point.sparse)},
                        {"owner": point.owner, "sort": point.sort, "at": float(point.at)},
                    )
                    for point in points
                ]
            )
        )
        self._at_hand.put(points)
        for owner in {point.owner for point in points}:
            table = self._at_hand.table(owner)
            if table is not None and self._snapshot.outgrown(owner, table):
                self._save_snapshot(owner)
        self._index_fields()
        self._unflushed += len(points)
        if self._unflushed >= FLUSH_EVERY:
            self._flush()

    def _delete(self, ids: Sequence[str]) -> None:
        self._must_have_room()
        records = self._shard.retrieve(list(ids), True, False)
        known = [record.id for record in records]
        if not known:
            return
        self._snapshot.change(map(str, known))
        # Only what is mapped forgets. Whose a point was before it was its owner's is known from the files alone.
        for owner in self._snapshot.holding(list(map(str, known))):
            if self._at_hand.table(owner) is None:
                self._snapshot.drop(owner)
        self._at_hand.drop(map(str, known))
        blank = {DENSE: [0.0] * self.dimensions, LEXICAL: _sparse({})}
        self._shard.update(edge.UpdateOperation.upsert_points([edge.Point(id, blank, {}) for id in known]))
        self._shard.update(edge.UpdateOperation.delete_points(known))

    def _flush(self) -> None:
        self._flushing = None
        write_out(self.folder / "segments")
        self._shard.flush()
        # What was written is at hand, or is read again when somebody asks.
        drop_page_cache(self.folder)
        self._unflushed = 0

    def _search(self, query: Query) -> list[IndexHit]:
        dense = None if query.dense is None else edge.Query.Nearest(query.dense.tolist(), using=DENSE)
        lexical = edge.Query.Nearest(_sparse(query.sparse), using=LEXICAL) if query.sparse else None
        within = _filter(query)
        # By their numbers: the hash of a UUID is reckoned in Python, and so is its text.
        dots = self._search_leg(lexical, query.limit, within)
        cosines = self._search_leg(None if query.by_words else dense, query.limit, within)
        others: set[Any] = {uuid.UUID(int=number) for number in dots if number not in cosines}
        if others:
            cosines |= self._search_leg(dense, len(others), edge.Filter(must=[edge.HasIdCondition(others)]))
        return [IndexHit(self._name(id), cosines.get(id, 0.0), dots.get(id, 0.0)) for id in {**dots, **cosines}]

    def _search_leg(self, leg: Any, limit: int, within: Any) -> dict[int, float]:
        """What one leg finds. Points that share no term with the question have no score, which is 0."""
        if leg is None:
            return {}
        hits = self._shard.query(edge.QueryRequest(limit=limit, query=leg, filter=within))
        return {hit.id.int: hit.score for hit in hits}

    def _load_points(self, owner: str, begun: bool = False, offset: Any = None) -> None:
        """Put the points of an owner at hand, a piece at a time, so that nothing else waits for long. Done in the
        index's own thread, in which no point is written meanwhile."""
        if self._shard is None:
            return
        with contextlib.suppress(Exception):  # only a shortcut: the engine is asked where it fails
            try:
                self._gather_piece(owner, begun, offset)
            except BaseException:  # a panic of the engine is no Exception in Python
                # What was begun would never be whole, and what is kept may be why.
                self._at_hand.fail(owner)
                self._snapshot.drop(owner)
                raise

    def _gather_piece(self, owner: str, begun: bool, offset: Any) -> None:
        if not begun and self._load_snapshot(owner):
            return
        within = edge.Filter(must=[edge.FieldCondition(key="owner", match=edge.MatchValue(owner))])
        count = 0 if begun else self._shard.count(edge.CountRequest(exact=True, filter=within))
        if not begun and not self._at_hand.begin(owner, count):
            return
        records, offset = self._shard.scroll(
            edge.ScrollRequest(limit=PIECE, offset=offset, with_vector=True, with_payload=True, filter=within)
        )
        self._at_hand.put([_point(record) for record in records])
        if offset is None:
            self._at_hand.finish(owner)
            self._save_snapshot(owner)
            drop_page_cache(self.folder)
        else:
            time.sleep(REST_SECONDS)
            self._thread.submit(self._load_points, owner, True, offset)

    def _load_snapshot(self, owner: str) -> bool:
        """Put the points of an owner at hand as they are kept; False where they are not."""
        if self._at_hand.table(owner) is not None:
            return True
        table = self._snapshot.take(owner) if self._snapshot.has(owner) else None
        if table is None:
            return False
        if self._at_hand.begin(owner, len(table.rows), table):
            changes = self._snapshot.changes()
            for start in range(0, len(changes), PIECE):
                piece = changes[start : start + PIECE]
                records = self._shard.retrieve(piece, True, True)
                # What a kill amid its deletion has left blank is nobody's.
                own = [_point(record) for record in records if (record.payload or {}).get("owner") == owner]
                self._at_hand.drop({id for id in piece if id in table.rows}.difference(point.id for point in own))
                self._at_hand.put(own)
                time.sleep(REST_SECONDS)
            self._at_hand.finish(owner)
            drop_page_cache(self.folder)
        return True

    def _save_snapshot(self, owner: str) -> None:
        """Have an owner's points lie in files, so that the next start has them."""
        self._at_hand.settle(owner)
        table = self._at_hand.table(owner)
        arrays = None if table is None else self._snapshot.save(owner, table)
        if arrays is not None:
            self._at_hand.lie(owner, arrays)

    def _name(self, number: int) -> str:
        name = self._names.get(number)
        if name is None:
            if len(self._names) >= NAMES:
                self._names.clear()
            name = self._names[number] = str(uuid.UUID(int=number))
        return name


def remove(folder: Path) -> None:
    """Remove a shard that nobody has open; a missing one is removed already."""
    shutil.rmtree(folder, ignore_errors=True)


def _sparse(weights: Any) -> Any:
    return edge.SparseVector(list(weights.keys()), [float(weight) for weight in weights.values()])


def _point(record: Any) -> Point:
    payload, dense, sparse = record.payload, record.vector[DENSE], record.vector[LEXICAL]
    return Point(
        str(record.id),
        payload["owner"],
        payload["sort"],
        payload["at"],
        np.asarray(dense, dtype=np.float32),
        dict(zip(sparse.indices, sparse.values, strict=True)),
    )


def _filter(query: Query) -> Any:
    # One condition for each owner: measured, it costs half of what one condition for any of them does.
    owners: list[Any] = [edge.FieldCondition(key="owner", match=edge.MatchValue(owner)) for owner in query.owners]
    must: list[Any] = []
    if query.sort is not None:
        must.append(edge.FieldCondition(key="sort", match=edge.MatchValue(query.sort)))
    if query.since is not None or query.until is not None:
        must.append(edge.FieldCondition(key="at", range=edge.RangeFloat(gte=query.since, lte=query.until)))
    return edge.Filter(must=must or None, should=owners)
