"""Weft from Python: jobs, files and events of a cluster, and an Executor that runs functions there.

>>> import weft
>>> client = weft.Client()
>>> client.run("echo hello").output
'hello\\n'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

__version__ = "0.2.0"

# By name, and loaded when they are used: a worker needs hardly any of them.
_PLACES = {
    "Client": "_client",
    "Executor": "_executor",
    "Future": "_executor",
    "Shared": "_parcel",
    "call": "_call",
    "Job": "_job",
    "JobResult": "_job",
    "View": "_view",
    **{
        name: "_errors"
        for name in (
            "WeftError JobFailed CallError WorkerLost CallTimeout CallCancelled CallRefused VersionSkew "
            "PoolClosed ClusterGone NotSendable RemoteError RemoteTraceback"
        ).split()
    },
}
__all__ = ["__version__", *sorted(_PLACES)]

if TYPE_CHECKING:
    from ._call import call as call
    from ._client import Client as Client
    from ._errors import CallCancelled as CallCancelled
    from ._errors import CallError as CallError
    from ._errors import CallRefused as CallRefused
    from ._errors import CallTimeout as CallTimeout
    from ._errors import ClusterGone as ClusterGone
    from ._errors import JobFailed as JobFailed
    from ._errors import NotSendable as NotSendable
    from ._errors import PoolClosed as PoolClosed
    from ._errors import RemoteError as RemoteError
    from ._errors import RemoteTraceback as RemoteTraceback
    from ._errors import VersionSkew as VersionSkew
    from ._errors import WeftError as WeftError
    from ._errors import WorkerLost as WorkerLost
    from ._executor import Executor as Executor
    from ._executor import Future as Future
    from ._job import Job as Job
    from ._job import JobResult as JobResult
    from ._parcel import Shared as Shared
    from ._view import View as View


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"weft.{place}"), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(__all__)
