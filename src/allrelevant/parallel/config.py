"""Choice of the executor for all parallel work in a block of code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .._optional import import_extra

if TYPE_CHECKING:
    from .cluster import ClusterExecutor

# Executor that :func:`config_context` chose; None means local processes.
EXECUTOR: ContextVar[ClusterExecutor | None] = ContextVar("allrelevant executor", default=None)


@contextmanager
def config_context(*, executor: Any) -> Iterator[None]:
    """Run all parallel work of a block on a Dask cluster.

    The setting applies to the current thread, and ends with the block, as in
    ``sklearn.config_context``. It does not change results.

    Parameters
    ----------
    executor : distributed.Client or None
        Client of the cluster whose workers process the tasks. Parameters ``n_jobs`` are then
        ignored. None means processes of this computer, as outside of the block.

    Raises
    ------
    ClusterError
        If the client is not connected, or if Python or package versions of the cluster differ from
        those of this process.

    Examples
    --------
    >>> from allrelevant import ClassificationBounds, config_context
    >>> from distributed import Client  # doctest: +SKIP
    >>> with config_context(executor=Client("tcp://10.0.0.1:8786")):  # doctest: +SKIP
    ...     ClassificationBounds().fit(X, y)
    """
    if executor is None:
        with _chosen(None):
            yield
        return
    import_extra("distributed", "cluster")
    from .cluster import ClusterExecutor

    cluster = ClusterExecutor(executor)
    with cluster.opened(), _chosen(cluster):
        yield


@contextmanager
def _chosen(executor: ClusterExecutor | None) -> Iterator[None]:
    token = EXECUTOR.set(executor)
    try:
        yield
    finally:
        EXECUTOR.reset(token)


@contextmanager
def cluster_context(place: str | None, n_jobs: int | None = None) -> Iterator[None]:
    """Connect to a cluster, or start one, and run all parallel work of the block on it.

    ``place`` is an address, a scheduler file, or ``"local"`` for a new cluster of ``n_jobs``
    processes on this computer (None: one per core). If it is None, nothing changes.
    """
    if place is None:
        yield
        return
    import_extra("distributed", "cluster")
    from .cluster import connect

    with connect(place, n_jobs) as client, config_context(executor=client):
        yield
