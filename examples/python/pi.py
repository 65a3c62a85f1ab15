"""Estimates pi by throwing points on all workers until the estimate is good enough.

    python pi.py 0.001

Uses numpy where it is installed, else Python alone.
"""

import concurrent.futures
import math
import random
import sys

import weft

try:
    import numpy
except ImportError:
    numpy = None

POINTS = 200_000


def throw(seed, points):
    """How many of these points lie in the circle."""
    if numpy is not None:
        x, y = numpy.random.default_rng(seed).random((2, points))
        return int((x * x + y * y <= 1).sum())
    source = random.Random(seed)
    return sum(source.random() ** 2 + source.random() ** 2 <= 1 for _ in range(points))


def main(wanted):
    """Throws more points until two standard errors are below what is wanted; takes the rest back."""
    inside = thrown = 0
    with weft.Executor(2, cpus=1, memory="200M", retries=2) as executor:
        futures = [executor.submit(throw, seed, POINTS) for seed in range(500)]
        for future in concurrent.futures.as_completed(futures):
            inside, thrown = inside + future.result(), thrown + POINTS
            share = inside / thrown
            error = 2 * 4 * math.sqrt(share * (1 - share) / thrown)
            if error < wanted:
                break
        executor.shutdown(cancel_futures=True)
    print(f"pi is {4 * share:.4f} +- {error:.4f}, from {thrown} points")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.005)
