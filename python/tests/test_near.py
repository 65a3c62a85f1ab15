"""Values that workers on this machine read from shared memory; run as `test_executor` is."""

import errno
import os
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

import weft
from tests.test_executor import LIMIT, WORKER, Executors
from weft._near import _VALUE_BYTES_MAX, NearMemory, fill_room
from weft._session import settled

VALUE = b"value" * 20_000
SCRIPT = """
import sys
from weft._near import NearMemory
into = bytearray(int(sys.argv[2]))
print(NearMemory().read(sys.argv[1], into), bytes(into[:10]).decode())
"""


def read_elsewhere(file: str) -> str:
    words = [sys.executable, "-c", SCRIPT, file, str(len(VALUE))]
    return subprocess.check_output(words, text=True).strip()


def offered(memory: NearMemory, data: bytes = VALUE):
    found = memory.offer(data)
    assert found is not None
    return found


def _full(*_):
    raise OSError(errno.ENOSPC, "full")


class Memory(unittest.TestCase):
    def test_another_process_of_the_same_user_reads_a_value_until_it_is_closed(self):
        memory = NearMemory()
        self.assertEqual(memory.headers, NearMemory().headers)
        self.assertRegex(memory.headers["weft-host"], "^[0-9a-f]{64}$")
        file, close = offered(memory)
        self.assertEqual(read_elsewhere(file), "True valuevalue")
        close()
        self.assertRegex(read_elsewhere(file), "^False")
        self.assertFalse(memory.read(file, bytearray(len(VALUE))))
        self.assertEqual(memory.headers, {}, "from now on values go over the line")

    def test_what_is_offered_is_bounded_and_free_again_when_it_is_closed(self):
        memory = NearMemory()
        large = bytes(_VALUE_BYTES_MAX)
        self.assertIsNone(memory.offer(large + b"\0"))
        ends = [offered(memory, large)[1] for _ in range(2)]
        self.assertIsNone(memory.offer(VALUE))
        for end in ends:
            end()
        offered(memory)[1]()

    def test_no_other_file_of_a_process_is_read(self):
        secret = pathlib.Path("secret")
        secret.write_bytes(VALUE)
        with secret.open("rb") as file:
            place = f"{os.getpid()}.{file.fileno()}.{os.fstat(file.fileno()).st_ino}"
            self.assertFalse(NearMemory().read(place, bytearray(len(VALUE))))
        for odd in ("", "1.2", "1.2.3.4", f"{os.getpid()}.0.0", "../1.2.3", "\u0661.1.1", f"{2**70}.1.1"):
            self.assertFalse(NearMemory().read(odd, bytearray(5)), odd)
        memory = NearMemory()
        name, close = offered(memory)
        self.assertFalse(NearMemory().read(name, bytearray(len(VALUE) - 1)))
        close()

    def test_a_room_takes_one_value(self):
        memory = NearMemory()
        room, close = offered(memory, b"")
        self.assertFalse(fill_room(room, [], _VALUE_BYTES_MAX + 1))
        self.assertTrue(fill_room(room, [VALUE[:3], VALUE[3:]], len(VALUE)))
        self.assertFalse(fill_room(room, [VALUE], len(VALUE)), "it has one")
        self.assertEqual(read_elsewhere(room), "True valuevalue")
        close()
        self.assertFalse(fill_room(room, [VALUE], len(VALUE)))
        self.assertFalse(fill_room("../1.2.3", [VALUE], len(VALUE)))

    def test_a_value_that_does_not_fit_leaves_nothing_in_its_room(self):
        memory = NearMemory()
        room, close = offered(memory, b"")
        writes = iter([lambda fd, parts: os.write(fd, parts[0][:1000]), _full])
        with mock.patch("os.writev", side_effect=lambda *given: next(writes)(*given)):
            self.assertFalse(fill_room(room, [VALUE], len(VALUE)))
        self.assertTrue(fill_room(room, [VALUE], len(VALUE)))
        close()


class Calls(Executors):
    def test_large_values_lie_in_memory_and_are_let_go_of(self):
        near = self.executor._pool._near
        data = os.urandom(1_048_576)
        with mock.patch.object(near, "offer", wraps=near.offer) as offer:
            with mock.patch.object(near, "read", wraps=near.read) as read:
                for future in [self.executor.submit(bytes, data) for _ in range(40)]:
                    self.assertEqual(future.result(LIMIT), data)
        self.assertEqual(read.call_count, 40)
        self.assertTrue(self.executor._pool._session.has_near)
        self.assertLessEqual(offer.call_count, 40, "others lay there from the beginning")
        # The last word of a worker that has read its value may come after the result.
        self.until("all are let go of", lambda: near._count == 0 and near._bytes == 0)


    def test_arguments_are_those_of_the_moment_of_the_call(self):
        self.assertEqual(self.executor.submit(len, bytes(100_000)).result(LIMIT), 100_000)
        buffer = bytearray(b"a" * 200_000)
        futures = []
        for letter in b"abcdefgh":
            buffer[:] = bytes([letter]) * len(buffer)
            futures.append(self.executor.submit(bytes, buffer))
        for letter, future in zip(b"abcdefgh", futures):
            self.assertEqual(set(future.result(LIMIT)), {letter})

    def test_a_result_is_not_lost_with_a_later_call(self):
        def die(_):
            os._exit(1)

        for _ in range(5):
            large = [self.executor.submit(bytes, 300_000) for _ in range(3)]
            gone = self.executor.submit(die, bytes(300_000))
            behind = self.executor.submit(bytes, 300_001)
            for future in large:
                self.assertEqual(future.result(LIMIT), bytes(300_000))
            with self.assertRaises(weft.WorkerLost):
                gone.result(LIMIT)
            self.assertEqual(behind.result(LIMIT), bytes(300_001))


class Passed(unittest.TestCase):
    def test_the_process_of_a_worker_reads_and_writes_them_itself(self):
        def watch():
            from weft import _near

            counts = _near.counts = {"read": 0, "filled": 0}
            read, fill = _near.read, _near.fill_room

            def counted_read(*given):
                counts["read"] += 1
                return read(*given)

            def counted_fill(*given):
                counts["filled"] += 1
                return fill(*given)

            _near.read, _near.fill_room = counted_read, counted_fill

        def counted(data):
            from weft import _near

            return data, dict(_near.counts)

        data = os.urandom(1_048_576)
        with weft.Executor(1, **WORKER) as executor:
            executor.submit(watch).result(LIMIT)
            for calls in (1, 2, 3):
                back, counts = executor.submit(counted, data).result(LIMIT)
                self.assertEqual(back, data)
                self.assertEqual(counts, {"read": calls, "filled": calls - 1})


class Kept(unittest.TestCase):
    def test_it_is_there_until_its_last_holder_lets_go(self):
        memory = NearMemory()
        kept = memory.keep([b"val", VALUE[3:]], len(VALUE))
        self.assertEqual((len(kept), kept.data()), (len(VALUE), VALUE))
        file, close = kept.lend()
        kept.close()
        self.assertEqual(read_elsewhere(file), "True valuevalue")
        close()
        self.assertEqual((memory._bytes, memory._count), (0, 0))
        kept = memory.keep([VALUE], len(VALUE))
        # Swept by whoever has the lock, as it may be in the middle of anything.
        with memory._lock:
            del kept
        memory.offer(b"")[1]()
        self.assertEqual((memory._bytes, memory._count), (0, 0))

    def test_it_leaves_room_for_others(self):
        memory = NearMemory()
        many = [memory.keep([VALUE], len(VALUE)) for _ in range(20)]
        self.assertEqual(sum(one is not None for one in many), 16)
        offered(memory)[1]()


class Closed(unittest.TestCase):
    def test_what_nobody_has_read_is_let_go_of_with_the_pool(self):
        for end in ("shutdown", "closed", "given up", "failed"):
            with self.subTest(end):
                self.lets_go(end)

    def lets_go(self, end):
        executor = weft.Executor(1, **WORKER)
        try:
            self.assertEqual(executor.submit(len, b"value").result(LIMIT), 5)
            pool = executor._pool
            with pool._lock:
                # As of a worker that has not said yet that it has read it.
                file, pool._session._offered[1_000_000] = offered(pool._near)
            self.assertEqual(read_elsewhere(file), "True valuevalue")
            if end == "closed":
                pool.close()
            elif end == "given up":
                pool.close(settled("gone", "the test gives it up"))
            elif end == "failed":
                with mock.patch.object(pool, "_push", side_effect=ValueError("a bug")):
                    with mock.patch("threading.excepthook"):
                        pool._wake()
                        pool._thread.join(LIMIT)
        finally:
            executor.shutdown()
        pool._thread.join(LIMIT)
        self.assertEqual((pool._near._count, pool._near._bytes), (0, 0))
        self.assertRegex(read_elsewhere(file), "^False")


class Far(Executors):
    def test_a_value_that_cannot_be_read_comes_over_the_line(self):
        with mock.patch("weft._near.read", return_value=False):
            self.assertEqual(self.executor.submit(len, bytes(900_000)).result(LIMIT), 900_000)
            self.assertEqual(self.executor.submit(bytes, 900_000).result(LIMIT), bytes(900_000))
        self.assertEqual(self.executor._pool._near.headers, {})
        self.assertEqual(self.executor.submit(bytes, 900_001).result(LIMIT), bytes(900_001))


if __name__ == "__main__":
    unittest.main()
