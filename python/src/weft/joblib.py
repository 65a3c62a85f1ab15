"""A backend of joblib, and so of scikit-learn's `n_jobs`, on the workers of an Executor.

>>> import joblib, weft, weft.joblib
>>> with weft.Executor(8) as executor, joblib.parallel_config("weft", executor=executor):
...     joblib.Parallel(n_jobs=-1)(joblib.delayed(abs)(x) for x in range(10))
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from joblib._parallel_backends import AutoBatchingMixin, ParallelBackendBase  # type: ignore[import-untyped]
from joblib.parallel import register_parallel_backend  # type: ignore[import-untyped]

from ._errors import wrong
from ._parcel import Shared

if TYPE_CHECKING:
    from ._executor import Executor, Future

# Larger arrays go to each worker once for all calls of one Parallel.
_SHARED_BYTES = 1024 * 1024


class WeftBackend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
    """Batches of joblib as calls of an Executor."""

    supports_retrieve_callback = True
    supports_timeout = True
    default_n_jobs = -1
    # A call over the head costs more than one over a pipe.
    MIN_IDEAL_BATCH_DURATION = 0.05
    MAX_IDEAL_BATCH_DURATION = 1.0

    def __init__(self, executor: "Optional[Executor]" = None, **options: Any) -> None:
        super().__init__(**options)
        if executor is None:
            raise wrong("name an Executor: joblib.parallel_config('weft', executor=executor)")
        self._executor = executor
        self._shared: Dict[int, Tuple[Any, Shared]] = {}
        self._futures: List[Any] = []

    def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
        """How many workers the pool may have, unless fewer are wanted."""
        most = self._executor._max_workers
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None or n_jobs == -1:
            return most
        return max(most + 1 + n_jobs, 1) if n_jobs < 0 else n_jobs

    def submit(self, func: Any, callback: Optional[Callable[[Any], None]] = None) -> "Future[Any]":
        """One batch is one call."""
        batch = copy.copy(func)
        batch.items = [
            (function, tuple(map(self._lean, args)), {name: self._lean(one) for name, one in kwargs.items()})
            for function, args, kwargs in func.items
        ]
        future = self._executor.submit(_run, batch)
        future.get = future.result  # type: ignore[attr-defined]
        self._futures = [one for one in self._futures if not one.done()]
        self._futures.append(future)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def _lean(self, value: Any) -> Any:
        size = getattr(value, "nbytes", 0)
        if not isinstance(size, int) or size < _SHARED_BYTES:
            return value
        known = self._shared.get(id(value))
        if known is None:
            # The value is kept, so that its id stays its own.
            known = self._shared[id(value)] = (value, self._executor.share(value))
        return known[1]

    def retrieve_result_callback(self, out: "Future[Any]") -> Any:
        """What the batch gave, or raised."""
        return out.result()

    def stop_call(self) -> None:
        """A Parallel is over: its large arrays are needed no more."""
        self._executor._unshare([handle for _, handle in self._shared.values()])
        self._shared.clear()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """One of the calls has failed: nobody reads the rest."""
        for future in self._futures:
            future.abort()
        self._futures = []


def _run(batch: Callable[[], Any]) -> Any:
    return batch()


register_parallel_backend("weft", WeftBackend)
