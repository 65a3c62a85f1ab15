"""An Executor beside ProcessPoolExecutor, and Dask where it is installed, two workers each and by turns.

Run by `bench/python.ts` with WEFT_SOCKET naming a head. Prints a line of JSON for each figure.
"""

import concurrent.futures
import json
import statistics
import sys
import time

import weft

TURNS = 3
LARGE_MIB = 64


def same(x):
    return x


def tell(what, **figures):
    print(
        json.dumps({"what": what, **{name: round(value, 3) for name, value in figures.items()}}), flush=True
    )


def rate(submit_all, count):
    since = time.perf_counter()
    if sum(submit_all(range(count))) != count * (count - 1) // 2:
        raise SystemExit("a wrong sum")
    return count / (time.perf_counter() - since)


def round_trip_ms(executor, count=300):
    took = []
    for _ in range(count):
        since = time.perf_counter()
        executor.submit(same, 1).result()
        took.append((time.perf_counter() - since) * 1000)
    return statistics.median(took)


def mib_a_second(executor):
    """There and back: numpy arrays where it is installed, else bytes."""
    try:
        import numpy

        large = numpy.ones(1024 * 128)
    except ImportError:
        large = bytes(1024 * 1024)
    since = time.perf_counter()
    for future in [executor.submit(same, large) for _ in range(LARGE_MIB)]:
        future.result()
    return LARGE_MIB / (time.perf_counter() - since)


def dask_client():
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        return None
    return Client(LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None))


def main(count):
    since = time.perf_counter()
    ours = weft.Executor(2, cpus=1, memory="300M")
    ours.submit(same, 1).result()
    tell("first result, s", weft=time.perf_counter() - since)
    since = time.perf_counter()
    theirs = concurrent.futures.ProcessPoolExecutor(2)
    theirs.submit(same, 1).result()
    tell("first result, s", process_pool=time.perf_counter() - since)
    dask = dask_client()
    for _ in range(TURNS):
        figures = {"weft": rate(lambda xs: ours.map(same, xs), count)}
        figures["process_pool"] = rate(lambda xs: theirs.map(same, xs), count)
        if dask is not None:
            gather = lambda xs: dask.gather(dask.map(same, list(xs), pure=False))
            figures["dask"] = rate(gather, max(100, count // 10))
        tell("empty calls a second", **figures)
        tell("one call after the other, p50 ms", weft=round_trip_ms(ours), process_pool=round_trip_ms(theirs))
        tell("1 MiB there and back, MiB/s", weft=mib_a_second(ours), process_pool=mib_a_second(theirs))
    ours.shutdown()
    theirs.shutdown()
    if dask is not None:
        dask.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
