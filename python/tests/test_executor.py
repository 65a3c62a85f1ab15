"""The Executor against a cluster of `weft up`: what calls give, raise and survive.

Run with WEFT_DIR naming the cluster, in a directory of its own.
"""

import array
import asyncio
import concurrent.futures
import functools
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

import weft
from weft import _parcel

LIMIT = 60
WORKER = {"cpus": 1, "memory": "150M"}
OFFSET = 100


def square(x):
    return x * x


def with_offset(x, more=0):
    return x + OFFSET + more


class Odd(ValueError):
    """Takes other arguments than it gives to its base: such a one cannot be unpickled."""

    def __init__(self, number, words):
        super().__init__(f"{number}: {words}")


class Point:
    def __init__(self, x):
        self.x = x


def fail(kind):
    raise {"value": ValueError("too small"), "odd": Odd(3, "is odd"), "exit": SystemExit(4)}[kind]


def too_much():
    """Its own process takes no more than ten bytes, this once."""
    from weft import _child

    most = _child._BYTES_MAX

    class Once(int):
        def __ge__(self, other):
            _child._BYTES_MAX = most
            return False

    _child._BYTES_MAX = Once(10)
    return bytes(20)


def hold(folder, name):
    """Says that it runs, and ends when the test says so."""
    import pathlib
    import time

    with open(pathlib.Path(folder) / name, "a") as file:
        file.write(f"{os.getpid()} {os.getppid()}\n")
    while not (pathlib.Path(folder) / f"go-{name}").exists():
        time.sleep(0.02)
    return name


def runs(process):
    """Whether there is such a process, and it is no zombie."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Executors(unittest.TestCase):
    """One pool for all tests of a class."""

    workers = 2
    more: dict = {}
    executor: weft.Executor

    @classmethod
    def setUpClass(cls):
        cls.executor = weft.Executor(cls.workers, **WORKER, **cls.more)

    @classmethod
    def tearDownClass(cls):
        cls.executor.shutdown()

    def until(self, what, look):
        deadline = time.monotonic() + LIMIT
        while not look():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def held(self, name, **options):
        """A call that runs, and its process and worker."""
        place = pathlib.Path(name)
        # A function that has killed its process three times in a row is not run again: each test has its own.
        own = functools.partial(hold, os.getcwd(), name)
        future = self.executor.submit_with(own, **options)
        self.until(f"{name} runs", lambda: place.exists() and place.read_text().endswith("\n"))
        process, worker = place.read_text().splitlines()[-1].split()
        return future, int(process), int(worker)

    @staticmethod
    def go(name):
        pathlib.Path(f"go-{name}").touch()


class Calls(Executors):
    def test_values_come_back(self):
        self.assertEqual(self.executor.submit(square, 7).result(LIMIT), 49)
        self.assertEqual(self.executor.submit(with_offset, 1, more=2).result(LIMIT), 103)
        self.assertEqual(self.executor.submit(lambda: OFFSET).result(LIMIT), 100)
        self.assertEqual(self.executor.submit(Point, 3).result(LIMIT).x, 3)
        point = self.executor.submit(lambda p: p, Point(4)).result(LIMIT)
        self.assertIsInstance(point, Point)

    def test_a_coroutine_is_run(self):
        async def later(x):
            await asyncio.sleep(0)
            return x + 1

        self.assertEqual(self.executor.submit(later, 1).result(LIMIT), 2)

    def test_map_is_in_order_whole_and_in_chunks(self):
        self.assertEqual(
            list(self.executor.map(square, range(300), timeout=LIMIT)), [x * x for x in range(300)]
        )
        chunked = self.executor.map(lambda a, b: a - b, range(100), range(0, 200, 2), chunksize=7)
        self.assertEqual(list(chunked), [-x for x in range(100)])
        drawn = []

        def items():
            for x in range(1000):
                drawn.append(x)
                yield x

        lazy = self.executor.map(square, items(), buffersize=10)
        self.assertEqual(next(lazy), 0)
        self.assertLessEqual(len(drawn), 12)
        lazy.close()

    def test_as_completed_and_wait(self):
        futures = {self.executor.submit(square, x): x for x in range(20)}
        done = {
            future.result(): futures[future] for future in concurrent.futures.as_completed(futures, LIMIT)
        }
        self.assertEqual(done, {x * x: x for x in range(20)})
        self.assertFalse(concurrent.futures.wait(futures, LIMIT).not_done)

    def test_calls_are_submitted_from_callbacks_and_threads(self):
        second = concurrent.futures.Future()

        def chain(future):
            self.executor.submit(square, future.result()).add_done_callback(
                lambda inner: second.set_result(inner.result())
            )

        self.executor.submit(square, 3).add_done_callback(chain)
        self.assertEqual(second.result(LIMIT), 81)
        found = []
        threads = [
            threading.Thread(target=lambda: found.extend(self.executor.map(square, range(200))))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found), sorted([x * x for x in range(200)] * 4))

    def test_large_values_travel_both_ways(self):
        data = os.urandom(5_000_000)
        self.assertEqual(self.executor.submit(lambda b: b[::-1], data).result(LIMIT), data[::-1])
        sizes = self.executor.map(len, [bytes(size) for size in (0, 65_000, 65_536, 70_000, 3_000_000)])
        self.assertEqual(list(sizes), [0, 65_000, 65_536, 70_000, 3_000_000])

    def test_buffers_go_beside_the_pickle_and_can_be_written_to(self):
        parcel = _parcel.pack(pickle.PickleBuffer(array.array("d", range(10_000))))
        self.assertEqual(parcel[0], 1)
        view = _parcel.unpack(bytearray(parcel))
        self.assertFalse(memoryview(view).readonly)
        self.assertEqual(len(memoryview(view).cast("B")), 80_000)

    def test_a_shared_value_is_sent_once(self):
        big = self.executor.share(list(range(50_000)))
        self.assertEqual(self.executor.submit(lambda values, at: values[at], big, 7).result(LIMIT), 7)
        total = self.executor.map(lambda at: big[at] if isinstance(big, list) else -1, range(50))
        self.assertEqual(list(total), list(range(50)))

    def test_what_a_function_prints_is_in_the_log(self):
        self.executor.submit(print, "seen in the log").result(LIMIT)
        client = self.executor._client
        job = client.job(self.executor.pool)
        self.until("it is logged", lambda: any("seen in the log" in job[at].output() for at in (0, 1)))

    def test_progress_is_heard(self):
        def steps():
            from weft import call

            for step in range(3):
                call.progress(step)
            return call.attempt

        heard = []
        future = self.executor.submit(hold, os.getcwd(), "progress-gate")
        told = self.executor.submit(steps)
        told.on_progress(heard.append)
        self.go("progress-gate")
        self.assertEqual(told.result(LIMIT), 1)
        future.result(LIMIT)
        self.assertIn(heard, ([0, 1, 2], [1, 2], [2], []))

    def test_it_shows_itself(self):
        self.executor.submit(square, 1).result(LIMIT)
        # What was told before the first worker came is not what is shown.
        self.executor._pool.numbers = {"workers": 0, "busy": 0, "waiting": 9, "why": None}
        self.assertRegex(self.executor._repr_html_(), "<td>[1-9][0-9]*</td><td>0</td><td>0</td>")
        self.assertEqual(self.executor.info().python, sys.executable)


class WhatIsRaised(Executors):
    workers = 1

    def test_an_exception_has_the_traceback_of_the_worker(self):
        with self.assertRaises(ValueError) as caught:
            self.executor.submit(fail, "value").result(LIMIT)
        self.assertEqual(str(caught.exception), "too small")
        cause = caught.exception.__cause__
        self.assertIsInstance(cause, weft.RemoteTraceback)
        self.assertIn("in fail", str(cause))
        with self.assertRaises(ZeroDivisionError) as caught:
            self.executor.submit(lambda x: 1 / x, 0).result(LIMIT)
        self.assertIn("test_executor.py", str(caught.exception.__cause__), "of what travels by value, too")
        self.assertNotIn("_child.py", str(cause))

    def test_what_cannot_come_back_is_told_in_words(self):
        with self.assertRaises(weft.RemoteError) as caught:
            self.executor.submit(fail, "odd").result(LIMIT)
        self.assertIn("Odd: 3: is odd", str(caught.exception))
        with self.assertRaisesRegex(weft.RemoteError, "SystemExit: 4"):
            self.executor.submit(fail, "exit").result(LIMIT)
        with self.assertRaisesRegex(weft.CallRefused, "its result cannot be pickled"):
            self.executor.submit(threading.Lock).result(LIMIT)
        self.assertEqual(self.executor.submit(square, 2).result(LIMIT), 4)

    def test_a_result_that_is_too_large_is_refused_in_words(self):
        with self.assertRaisesRegex(weft.CallRefused, r"its result has \d+ bytes, \d+ are the most"):
            self.executor.submit(too_much).result(LIMIT)
        self.assertEqual(self.executor.submit(len, bytes(100)).result(LIMIT), 100)

    def test_what_cannot_be_sent_is_refused_by_name(self):
        lock = threading.Lock()
        with self.assertRaisesRegex(weft.NotSendable, "by lock, cannot|by lock cannot"):
            self.executor.submit(lambda: lock)
        with self.assertRaisesRegex(weft.NotSendable, r"args\[1\] cannot be pickled"):
            self.executor.submit(square, 1, lock)
        with self.assertRaisesRegex(weft.NotSendable, "key cannot be pickled"):
            self.executor.submit(square, key=lock)
        with self.assertRaisesRegex(weft.NotSendable, "no function to call, but int"):
            self.executor.submit(3)

    def test_a_module_that_the_worker_lacks_is_named(self):
        here = types.ModuleType("only_here")
        exec("def double(x):\n    return 2 * x", here.__dict__)
        sys.modules["only_here"] = here
        self.addCleanup(sys.modules.pop, "only_here")
        with self.assertRaisesRegex(weft.CallRefused, "needs the module 'only_here'.*files= or modules="):
            self.executor.submit(here.double, 2).result(LIMIT)
        with weft.Executor(1, modules=[here], **WORKER) as executor:
            self.assertEqual(executor.submit(here.double, 2).result(LIMIT), 4)

    def test_a_module_may_go_as_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "sent_along.py"
            place.write_text("def thrice(x):\n    return 3 * x\n")
            sys.path.append(folder)
            self.addCleanup(sys.path.remove, folder)
            import sent_along

            with weft.Executor(1, files=[place], **WORKER) as executor:
                self.assertEqual(executor.submit(sent_along.thrice, 2).result(LIMIT), 6)

    def test_another_version_of_python_is_refused_by_name(self):
        real = _parcel.headed
        other = bytes([3, 7])
        _parcel.headed = lambda mark, parcel: mark + other + b"\0" + parcel
        self.addCleanup(setattr, _parcel, "headed", real)
        with self.assertRaises(weft.VersionSkew) as caught:
            self.executor.submit(lambda: 1).result(LIMIT)
        ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
        self.assertIn(
            f"the worker has Python {ours} ({sys.executable}), the program 3.7", str(caught.exception)
        )

    def test_another_cloudpickle_is_named_where_it_matters(self):
        real, version = _parcel._cloudpickled, _parcel._pickler_version
        _parcel._pickler_version = lambda: b"9.9"
        self.addCleanup(setattr, _parcel, "_pickler_version", version)
        self.assertEqual(self.executor.submit(lambda: 5).result(LIMIT), 5)
        _parcel._cloudpickled = lambda function: b"cno_module\nno_name\n."
        self.addCleanup(setattr, _parcel, "_cloudpickled", real)
        with self.assertRaisesRegex(weft.VersionSkew, r"the worker has cloudpickle \S+, the program 9\.9"):
            self.executor.submit(lambda: 6).result(LIMIT)

    def test_an_interpreter_that_is_not_there_is_told(self):
        with weft.Executor(1, python="/nowhere/python3", **WORKER) as executor:
            with self.assertRaises(weft.CallRefused) as caught:
                executor.submit(square, 1).result(LIMIT)
            self.assertIn("do not start", str(caught.exception))
            job = executor._client.job(f"{executor.pool}[0]")
            self.assertIn("there is no /nowhere/python3 here", job.output("stderr"))


class Ends(Executors):
    workers = 1
    more = {"recycle_after": 500}

    def test_a_waiting_call_is_cancelled_and_a_running_one_aborted(self):
        future, _, _ = self.held("running")
        waiting = self.executor.submit(square, 2)
        self.until("it is known to run", future.running)
        self.assertFalse(future.cancel())
        self.assertTrue(waiting.cancel() and waiting.cancelled() and waiting.cancel())
        self.assertTrue(concurrent.futures.wait([waiting], LIMIT).done)
        future.abort()
        with self.assertRaises(weft.CallCancelled):
            future.result(LIMIT)
        self.assertEqual(self.executor.submit(square, 3).result(LIMIT), 9)

    def test_what_a_call_started_ends_with_it(self):
        def solve(place, before, seconds):
            import os
            import pathlib
            import subprocess

            if place is None:
                return
            copy = os.fork()
            if copy == 0:
                os.setsid()
                time.sleep(300)
                os._exit(0)
            # What has no mark is told apart by when it was begun.
            time.sleep(before)
            plain = subprocess.Popen(["sleep", "300"])
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            apart = subprocess.Popen(["sleep", "300"], start_new_session=True, **quiet)
            bare = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True, env={}, **quiet)
            pathlib.Path(place).write_text(f"{plain.pid} {apart.pid} {bare.pid} {copy}\n")
            time.sleep(seconds)

        def started(name):
            place = pathlib.Path(name).absolute()
            self.until("it runs", lambda: place.exists() and place.read_text().endswith("\n"))
            return [int(pid) for pid in place.read_text().split()]

        with weft.Executor(1, **WORKER) as executor:
            # Calls that are known to be short are given ahead: the second begins as the first ends.
            concurrent.futures.wait([executor.submit(solve, None, 0, 0) for _ in range(50)], LIMIT)
            returned = executor.submit(solve, os.path.abspath("left"), 0, 0)
            aborted = executor.submit(solve, os.path.abspath("aborted"), 0.05, 300)
            returned.result(LIMIT)
            gone = started("aborted")
            aborted.abort()
            with self.assertRaises(weft.CallCancelled):
                aborted.result(LIMIT)
            left = started("left")
            self.until("they are gone", lambda: not any(runs(pid) for pid in gone))
            self.assertEqual([runs(pid) for pid in left], [True] * 4)
        self.until("the pool has ended", lambda: not any(runs(pid) for pid in left))

    def test_an_interrupt_ends_what_runs(self):
        with self.assertRaises(KeyboardInterrupt), weft.Executor(1, **WORKER) as executor:
            running = executor.submit(time.sleep, LIMIT * 10)
            self.until("it runs", running.running)
            raise KeyboardInterrupt
        self.assertIsInstance(running.exception(0), weft.CallCancelled)

    def test_a_program_that_is_interrupted_does_not_wait(self):
        program = (
            "import os, signal, time, weft\n"
            f"executor = weft.Executor(1, **{WORKER})\n"
            f"future = executor.submit(time.sleep, {LIMIT * 10})\n"
            "while not future.running():\n"
            "    time.sleep(0.02)\n"
            "os.kill(os.getpid(), signal.SIGINT)\n"
            "future.result()\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT * 2)
        self.assertIn("KeyboardInterrupt", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_a_function_sees_that_it_is_cancelled(self):
        def patient(place):
            import pathlib
            import time

            from weft import call

            pathlib.Path(place).touch()
            while not call.cancelled:
                time.sleep(0.01)
            pathlib.Path(place).write_text("heard")

        place = pathlib.Path("heeds").absolute()
        future = self.executor.submit(patient, str(place))
        self.until("it runs", place.exists)
        future.abort()
        self.until("it has heard", lambda: place.read_text() == "heard")
        with self.assertRaises(weft.CallCancelled):
            future.result(LIMIT)

    def test_a_time_limit_ends_a_call(self):
        with self.assertRaises(weft.CallTimeout):
            self.executor.submit_with(time.sleep, (LIMIT,), timeout="300ms").result(LIMIT)
        self.assertEqual(self.executor.submit(square, 3).result(LIMIT), 9)

    def test_a_process_that_is_killed_is_told_with_its_last_words(self):
        def die(code):
            print("the last words", file=sys.stderr, flush=True)
            os._exit(code)

        with self.assertRaises(weft.WorkerLost) as caught:
            self.executor.submit(die, 3).result(LIMIT)
        self.assertIn("exit code 3", str(caught.exception))
        self.assertIn("the last words", str(caught.exception))
        self.assertIsInstance(caught.exception, concurrent.futures.BrokenExecutor)
        future, process, _ = self.held("killed")
        behind = self.executor.submit(square, 5)
        os.kill(process, signal.SIGKILL)
        with self.assertRaisesRegex(weft.WorkerLost, "SIGKILL"):
            future.result(LIMIT)
        self.assertEqual(behind.result(LIMIT), 25)

    def test_with_retries_it_runs_again(self):
        future, process, _ = self.held("again", retries=1)
        os.kill(process, signal.SIGKILL)
        place = pathlib.Path("again")
        self.until("it runs again", lambda: len(place.read_text().splitlines()) == 2)
        self.go("again")
        self.assertEqual(future.result(LIMIT), "again")
        self.assertEqual(future.attempt, 2)

    def test_a_worker_that_is_killed(self):
        future, _, worker = self.held("worker")
        behind = self.executor.submit(square, 6)
        os.kill(worker, signal.SIGKILL)
        with self.assertRaises(weft.WorkerLost):
            future.result(LIMIT)
        self.assertEqual(behind.result(LIMIT), 36)

    def test_a_process_is_replaced_after_so_many_calls(self):
        pids = set(self.executor.map(lambda _: os.getpid(), range(1200)))
        self.assertGreaterEqual(len(pids), 3)


class HeadRestarts(Executors):
    def test_calls_go_on_when_the_head_is_killed(self):
        future, process, _ = self.held("over-head")
        waiting = [self.executor.submit(square, x) for x in range(500)]
        late = self.executor.submit(bytes, 500_000)
        head = json.loads((pathlib.Path(os.environ["WEFT_DIR"]) / "run" / "head.pid").read_text())["pid"]
        os.kill(head, signal.SIGKILL)
        more = [self.executor.submit(square, x) for x in range(500)]
        self.go("over-head")
        self.assertEqual(future.result(LIMIT), "over-head")
        self.assertEqual(pathlib.Path("over-head").read_text().splitlines()[0].split()[0], str(process))
        self.assertEqual(len(pathlib.Path("over-head").read_text().splitlines()), 1, "it ran once")
        for futures in (waiting, more):
            self.assertEqual([one.result(LIMIT) for one in futures], [x * x for x in range(500)])
        self.assertEqual(len(late.result(LIMIT)), 500_000)


class OverTls(unittest.TestCase):
    """With WEFT_TEST_HEAD, WEFT_TEST_FINGERPRINT and WEFT_TEST_TOKEN."""

    def test_calls_go_over_the_network(self):
        if "WEFT_TEST_HEAD" not in os.environ:
            self.skipTest("no head over TLS")
        said = {name.lower(): os.environ[f"WEFT_TEST_{name}"] for name in ("HEAD", "FINGERPRINT", "TOKEN")}
        with weft.Client(**said) as client, client.executor(2, **WORKER) as executor:
            self.assertEqual(list(executor.map(square, range(500))), [x * x for x in range(500)])
            data = os.urandom(3_000_000)
            self.assertEqual(executor.submit(bytes.upper, data).result(LIMIT), data.upper())


class Functions(Executors):
    def test_more_functions_than_a_line_takes(self):
        def made(n):
            return lambda: n

        count = 12_000
        futures = [self.executor.submit(made(n)) for n in range(count)]
        self.assertEqual(sum(future.result(LIMIT * 2) for future in futures), sum(range(count)))

    def test_a_fork_of_the_program_waits_for_nothing(self):
        future = self.executor.submit(time.sleep, 0.3)
        child = os.fork()
        if child == 0:
            try:
                self.executor.submit(square, 1)
                os._exit(1)
            except RuntimeError:
                os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        future.result(LIMIT)


class Pools(Executors):
    workers = (0, 2)
    more = {"idle": "1s"}

    def test_workers_come_with_work_and_leave_without(self):
        self.assertEqual(self.executor.submit(square, 2).result(LIMIT), 4)
        self.until("they have left", lambda: not self.executor.info().workers)
        self.assertEqual(list(self.executor.map(square, range(50)))[-1], 49 * 49)
        self.executor.scale((1, 2))
        self.assertEqual(self.executor.info().min, 1)

    def test_a_pool_with_a_name_stays(self):
        with weft.Executor(1, name="kept", **WORKER) as first:
            self.assertEqual(first.submit(square, 2).result(LIMIT), 4)
        with weft.Executor(name="kept") as second:
            self.assertEqual(second.pool, first.pool)
            self.assertEqual(second.submit(square, 3).result(LIMIT), 9)
            running = second.submit(time.sleep, LIMIT)
            second.stop()
            with self.assertRaises(weft.PoolClosed):
                running.result(LIMIT)
        with self.assertRaises(weft.WeftError):
            weft.Executor(name="never")

    def test_a_pool_of_node_is_not_taken(self):
        client = self.executor._client
        client._line.call("POST", "/v1/pools", body={"name": "node", "max": 1, "umask": 18})
        with self.assertRaisesRegex(weft.WeftError, "runs functions of Node programs"):
            weft.Executor(name="node")
        client._line.call("DELETE", "/v1/pools/node")

    def test_calls_within_calls(self):
        def total(n):
            import os

            import weft

            if n == 0:
                return 0
            with weft.Executor(name=os.environ["WEFT_POOL"]) as inner:
                return n + inner.submit(total, n - 1).result()

        with weft.Executor(1, **WORKER) as executor:
            self.assertEqual(executor.submit(total, 3).result(LIMIT), 6)

    def test_who_waits_for_workers_is_told_why(self):
        with weft.Executor(2, cpus=2, memory="100M") as all_cpus:
            list(all_cpus.map(square, range(10)))
            self.until("both run", lambda: all_cpus.info().workers.get("running") == 2)
            with weft.Executor(1, **WORKER) as late, self.assertLogs("weft", "WARNING") as told:
                waiting = late.submit(square, 2)
                self.until("it is told", lambda: late.status["why"])
                all_cpus.stop()
                self.assertEqual(waiting.result(LIMIT), 4)
        self.assertRegex(told.output[0], "1 calls wait for a worker of pool")

    def test_each_process_is_prepared_once(self):
        def prepare(path, words):
            import builtins

            builtins.prepared = getattr(builtins, "prepared", []) + [words]
            with open(path, "a") as file:
                file.write(f"{os.getpid()}\n")

        def look(_):
            import builtins

            return builtins.prepared, os.getpid()

        place = pathlib.Path("prepared").absolute()
        with weft.Executor(
            max_workers=2, initializer=prepare, initargs=(str(place), "ready"), recycle_after=30, **WORKER
        ) as executor:
            found = list(executor.map(look, range(100)))
            found += executor.map(look, range(20), chunksize=5)
        self.assertEqual([words for words, _ in found if words != ["ready"]], [])
        pids = place.read_text().split()
        self.assertEqual(sorted(pids), sorted({str(pid) for _, pid in found}))
        self.assertGreater(len(pids), 2)

    def test_an_initializer_that_fails_is_told_by_every_call(self):
        def broken():
            raise OSError("no licence")

        with weft.Executor(1, initializer=broken, **WORKER) as executor:
            for _ in range(3):
                with self.assertRaisesRegex(weft.CallRefused, "broken has failed in this process: OSError: no licence"):
                    executor.submit(square, 1).result(LIMIT)

    def test_mistakes_are_told_before_a_pool_is_started(self):
        lock = threading.Lock()
        cases = {
            "give one of them": lambda: weft.Executor(1, max_workers=1),
            "is no function": lambda: weft.Executor(1, initializer=3),
            "the initializer, or one of initargs, cannot be pickled": lambda: weft.Executor(
                1, initializer=square, initargs=(lock,)
            ),
            "say how many workers": lambda: weft.Executor(),
            "Did you mean 'memory'": lambda: weft.Executor(1, memry="1G"),
            "name two interpreters": lambda: weft.Executor(1, python="python3", venv="."),
            "workers: 0 is not a whole number": lambda: weft.Executor(0),
            "is not a module": lambda: weft.Executor(1, modules=["json"]),
        }
        for words, make in cases.items():
            with self.subTest(words), self.assertRaisesRegex(weft.WeftError, words) as caught:
                make()
            self.assertIsInstance(caught.exception, (ValueError, TypeError))

    def test_after_shutdown_nothing_is_taken(self):
        executor = weft.Executor(1, **WORKER)
        future = executor.submit(square, 4)
        executor.shutdown()
        self.assertEqual(future.result(0), 16)
        with self.assertRaises(RuntimeError):
            executor.submit(square, 1)
        late = weft.Executor(1, **WORKER)
        waiting = [late.submit(time.sleep, 0.01) for _ in range(200)]
        late.shutdown(cancel_futures=True)
        self.assertTrue(all(one.done() for one in waiting))
        self.assertTrue(any(one.cancelled() for one in waiting))


if __name__ == "__main__":
    unittest.main()
