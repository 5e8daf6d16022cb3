"""The index on a Qdrant server, by ``qdrant-client``, which is imported only when one is configured.

Its import costs a second and more than a hundred megabytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from memory.ports import IndexHit, Point, Query
from memory.stores.errors import StoreFault, StoreFaultKind

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

T = TypeVar("T")

DENSE = "dense"
LEXICAL = "lexical"
PIECE = 256

ANSWERED_SECONDS = 10
"""How long one call may take."""


def client_of(url: str, api_key: str | None, timeout: int | None = None) -> AsyncQdrantClient:
    """A client of a server; nothing is asked of it yet.

    Raises:
        StoreFault: when the extra ``server`` is not installed.
    """
    try:
        from qdrant_client import AsyncQdrantClient
    except ModuleNotFoundError:
        how = "pip install 'palimpsest-proxy[server]'"
        raise StoreFault(f"memory.qdrant.url needs the package qdrant-client: {how}") from None
    return AsyncQdrantClient(url=url, api_key=api_key, timeout=timeout, check_compatibility=False)


class ServerIndex:
    """A collection of a Qdrant server, as it is there or made when the server is first reached.

    Args:
        anew: what lies there under its name is removed then.
        expected: it must be there: it is told to be gone, and not made, where it is not.
        replication: how many nodes of a cluster hold each part of it, where it is made.

    ``created`` tells that the collection was not there before, ``gone`` that it was expected to be.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        dimensions: int,
        *,
        anew: bool = False,
        expected: bool = False,
        replication: int = 1,
    ) -> None:
        self._client = client
        self.collection = collection
        self.dimensions = dimensions
        self.anew = anew
        self.expected = expected
        self._replication = replication
        self.created = False
        self.gone = False
        self._reached = False
        self._reaching: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, client: AsyncQdrantClient, collection: str, dimensions: int) -> ServerIndex:
        """Use a collection, or make it where there is none.

        Raises:
            StoreFault: when the server does not answer, or the collection has other dimensions.
        """
        index = cls(client, collection, dimensions)
        await index.reach()
        return index

    async def reach(self) -> None:
        """See that the collection is there; once.

        Raises:
            StoreFault: when the server does not answer, or the collection is gone or has other dimensions.
        """
        if self._reached:
            return
        if self._reaching is None or self._reaching.done():
            # Whoever gives up waiting leaves no half of it behind.
            self._reaching = asyncio.ensure_future(self._make())
            self._reaching.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(self._reaching)

    async def upsert(self, points: Sequence[Point]) -> None:
        from qdrant_client import models

        for point in points:
            if len(point.dense) != self.dimensions:
                raise ValueError(f"{point.id} has {len(point.dense)} dimensions, the index {self.dimensions}")
        for start in range(0, len(points), PIECE):
            structs = [
                models.PointStruct(
                    id=point.id,
                    vector={DENSE: point.dense.tolist(), LEXICAL: _sparse(point.sparse)},
                    payload={"owner": point.owner, "sort": point.sort, "at": float(point.at)},
                )
                for point in points[start : start + PIECE]
            ]
            await self._ask(partial(self._client.upsert, self.collection, structs, wait=True))

    async def delete(self, ids: Sequence[str]) -> None:
        if ids:
            await self._ask(lambda: self._client.delete(self.collection, list(ids), wait=True))

    async def search(self, query: Query) -> list[IndexHit]:
        """See :class:`memory.ports.Index`. Two round trips: both legs, then the cosines that are missing."""
        if not query.owners or query.limit < 1:
            return []
        within = _filter(query)
        dense = None if query.dense is None else query.dense.tolist()
        sparse = _sparse(query.sparse) if query.sparse else None
        by_dense, by_terms = await self._search_legs(
            [(None if query.by_words else dense, DENSE, within, query.limit), (sparse, LEXICAL, within, query.limit)]
        )
        cosines = {hit.id: hit.score for hit in by_dense}
        dots = {hit.id: hit.score for hit in by_terms}
        no_cosine = dots.keys() - cosines.keys()
        (more,) = await self._search_legs([(dense, DENSE, _only(no_cosine), len(no_cosine))])
        cosines |= {hit.id: hit.score for hit in more}
        return [IndexHit(str(id), cosines.get(id, 0.0), dots.get(id, 0.0)) for id in cosines.keys() | dots.keys()]

    async def count(self) -> int:
        return (await self._ask(lambda: self._client.count(self.collection, exact=True))).count

    async def drop(self) -> None:
        """Remove the collection from the server."""
        await self._ask(lambda: self._client.delete_collection(self.collection))

    async def close(self) -> None:
        await self._client.close()

    async def _make(self) -> None:
        from qdrant_client import models

        there = await answer(self._client.collection_exists(self.collection))
        if there and self.anew:
            await answer(self._client.delete_collection(self.collection))
        elif there:
            info = await answer(self._client.get_collection(self.collection))
            vectors = info.config.params.vectors
            size = vectors[DENSE].size if isinstance(vectors, dict) and DENSE in vectors else None
            if size != self.dimensions:
                raise StoreFault(
                    f"collection {self.collection} has not {self.dimensions} dimensions", StoreFaultKind.CORRUPT
                )
            self._reached = True
            return
        elif self.expected:
            self.gone = True
            raise StoreFault(f"collection {self.collection} is gone from the Qdrant server", StoreFaultKind.FAILING)
        await answer(
            self._client.create_collection(
                self.collection,
                vectors_config={DENSE: models.VectorParams(size=self.dimensions, distance=models.Distance.DOT)},
                sparse_vectors_config={LEXICAL: models.SparseVectorParams()},
                # A graph for each owner and none over all of them: every search is filtered by owner.
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                replication_factor=self._replication,
            )
        )
        schemas: tuple[tuple[str, Any], ...] = (
            ("owner", models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)),
            ("sort", models.PayloadSchemaType.KEYWORD),
            ("at", models.PayloadSchemaType.FLOAT),
        )
        for field, schema in schemas:
            await answer(self._client.create_payload_index(self.collection, field, schema, wait=True))
        self.created = self._reached = True

    async def _search_legs(self, legs: Sequence[tuple[Any, str, Any, int]]) -> list[list[Any]]:
        """Run those legs that have something to look for, in one call."""
        from qdrant_client import models

        numbered = [(place, leg) for place, leg in enumerate(legs) if leg[0] is not None and leg[3] > 0]
        found: list[list[Any]] = [[] for _ in legs]
        if not numbered:
            return found
        requests = [
            models.QueryRequest(query=vector, using=using, filter=within, limit=limit, with_payload=False)
            for _, (vector, using, within, limit) in numbered
        ]
        answers = await self._ask(lambda: self._client.query_batch_points(self.collection, requests))
        for (place, _), answer in zip(numbered, answers, strict=True):
            found[place] = list(answer.points)
        return found

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        await self.reach()
        return await answer(ask())


async def answer(call: Awaitable[T]) -> T:
    """What a server answers.

    Raises:
        StoreFault: when it does not; ``FAILING`` where that is no refusal.
    """
    from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

    try:
        return await call
    except (ApiException, OSError) as error:
        refused = isinstance(error, UnexpectedResponse) and (error.status_code or 500) < 500
        raise StoreFault(
            f"the Qdrant server did not do what it was asked ({error})",
            StoreFaultKind.OTHER if refused else StoreFaultKind.FAILING,
        ) from error


def _sparse(weights: Any) -> Any:
    from qdrant_client import models

    return models.SparseVector(indices=list(weights.keys()), values=[float(weight) for weight in weights.values()])


def _only(ids: Iterable[Any]) -> Any:
    from qdrant_client import models

    return models.Filter(must=[models.HasIdCondition(has_id=list(ids))])


def _filter(query: Query) -> Any:
    from qdrant_client import models

    must: list[Any] = [models.FieldCondition(key="owner", match=models.MatchAny(any=list(query.owners)))]
    if query.sort is not None:
        must.append(models.FieldCondition(key="sort", match=models.MatchValue(value=query.sort)))
    if query.since is not None or query.until is not None:
        must.append(models.FieldCondition(key="at", range=models.Range(gte=query.since, lte=query.until)))
    return models.Filter(must=must)
