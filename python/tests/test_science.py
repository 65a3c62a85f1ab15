"""With numpy, joblib and dask: arrays beside the pickle, `n_jobs`, a scheduler of dask.

Run with WEFT_DIR naming the cluster, by a Python that has them.
"""

import unittest

import dask
import joblib
import numpy

import weft
import weft.joblib
from weft import _parcel


def scaled(array, factor):
    array *= factor
    return array


def part(array, at):
    return float(array[at])


def fail(x):
    if x == 3:
        raise ValueError("three")
    return x


class Science(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.executor = weft.Executor(2, cpus=1, memory="200M")

    @classmethod
    def tearDownClass(cls):
        cls.executor.shutdown()

    def test_arrays_travel_beside_the_pickle(self):
        array = numpy.arange(300_000, dtype="float64")
        parcel = _parcel.pack((array, 1))
        self.assertEqual(parcel[0], 1)
        self.assertLess(len(parcel) - array.nbytes, 1000)
        result = self.executor.submit(scaled, array, 2).result(60)
        numpy.testing.assert_array_equal(result, array * 2)
        result += 1
        self.assertEqual(array[1], 1, "the program's own is as it was")

    def test_arrays_are_aligned_where_they_are_read(self):
        array = numpy.ones(100_000)
        look = lambda one: (one.flags.aligned, one.__array_interface__["data"][0] % 16)  # noqa: E731
        shared = self.executor.share(array)
        self.addCleanup(self.executor._unshare, [shared])
        self.assertEqual(self.executor.submit(look, shared).result(60), (True, 0))
        self.assertEqual(self.executor.submit(look, array).result(60), (True, 0))

    def test_all_kinds_of_arrays(self):
        for array in (
            numpy.zeros(0),
            numpy.array(3.5),
            numpy.asfortranarray(numpy.arange(12_000.0).reshape(100, 120)),
            numpy.arange(100_000)[::3],
            numpy.array([{"a": 1}, None], dtype=object),
            numpy.array(["text", "b"]),
        ):
            back = self.executor.submit(lambda a: a, array).result(60)
            numpy.testing.assert_array_equal(back, array)
            self.assertEqual(back.dtype, array.dtype)

    def test_joblib(self):
        big = numpy.arange(400_000.0)
        with joblib.parallel_config("weft", executor=self.executor):
            squares = joblib.Parallel(n_jobs=-1)(joblib.delayed(pow)(x, 2) for x in range(200))
            self.assertEqual(squares, [x * x for x in range(200)])
            parts = joblib.Parallel(n_jobs=2)(joblib.delayed(part)(big, at) for at in range(30))
            self.assertEqual(parts, [float(at) for at in range(30)])
            with self.assertRaisesRegex(ValueError, "three"):
                joblib.Parallel(n_jobs=2)(joblib.delayed(fail)(x) for x in range(10))
            again = joblib.Parallel(n_jobs=2)(joblib.delayed(part)(big, at) for at in range(5))
            self.assertEqual(again, [0.0, 1.0, 2.0, 3.0, 4.0])
        self.assertFalse(self.executor._shared, "what was shared for a call is needed no more")

    def test_dask(self):
        total = dask.delayed(sum)([dask.delayed(pow)(x, 2) for x in range(30)])
        self.assertEqual(total.compute(scheduler=self.executor), sum(x * x for x in range(30)))


if __name__ == "__main__":
    unittest.main()
