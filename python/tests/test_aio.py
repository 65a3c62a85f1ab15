"""The client for asyncio, and awaited futures. Run with WEFT_DIR naming the cluster."""

import asyncio
import threading
import unittest
import unittest.mock

import weft
import weft.aio


def square(x):
    return x * x


class Awaited(unittest.IsolatedAsyncioTestCase):
    async def test_jobs_run_beside_each_other(self):
        async with weft.aio.AsyncClient() as client:
            results = await asyncio.gather(*(client.run(f"echo {n}") for n in range(3)))
            outputs = [await weft.aio.AsyncJob(one.job).output() for one in results]
            self.assertEqual(outputs, ["0\n", "1\n", "2\n"])
            with self.assertRaises(weft.JobFailed):
                await client.run("exit 3")
            job = await client.map("echo {a}", [{"a": 1}, {"a": 2}])
            await job.result("1m")
            self.assertEqual([task.index async for task in job.tasks()], [0, 1])
            self.assertEqual(b"".join([piece async for piece in job[1].logs(follow=True)]), b"2\n")
            self.assertGreaterEqual(len([one async for one in client.jobs("all", limit=5)]), 5)

    async def test_output_is_there_when_the_client_is_closed(self):
        async with weft.aio.AsyncClient() as client:
            done = await client.run("echo kept")
            job = await client.submit("echo more")
            more = await job.result()
        self.assertEqual((done.output, more.output), ("kept\n", "more\n"))
        with self.assertRaises(TypeError):
            list(job)

    async def test_what_is_given_up_is_cancelled(self):
        async with weft.aio.AsyncClient() as client:
            running = asyncio.ensure_future(client.run("sleep 300", name="given up"))
            found = []
            while not found:
                found = [one async for one in client.jobs(name="given up")]
            running.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await running
            job = await client.job(found[0].id)
            self.assertEqual((await job.wait("1m")).outcome.kind, "cancelled")

    async def test_what_is_given_up_while_it_is_submitted_is_cancelled(self):
        async with weft.aio.AsyncClient() as client:
            seen, go_on = threading.Event(), threading.Event()
            submit = client._sync().submit

            def slowly(*args, **options):
                job = submit(*args, **options)
                seen.set()
                go_on.wait()
                return job

            with unittest.mock.patch.object(client._sync(), "submit", slowly):
                running = asyncio.ensure_future(client.run("sleep 300", name="given up early"))
                while not seen.is_set():
                    await asyncio.sleep(0)
                running.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await running
                go_on.set()
            [found] = [one async for one in client.jobs("all", name="given up early")]
            job = await client.job(found.id)
            self.assertEqual((await job.wait("1m")).outcome.kind, "cancelled")

    async def test_events_end_when_they_are_left(self):
        async with weft.aio.AsyncClient() as client:
            job = await client.submit("true", hold=True)
            seq = (await client.info()).head.seq
            await job.release()
            async for event in client.events(jobs=job.sync, kinds=["job_done"], after=seq):
                self.assertEqual(event.kind, "job_done")
                break

    async def test_futures_of_an_executor_are_awaited(self):
        with weft.Executor(2, cpus=1, memory="150M") as executor:
            self.assertEqual(await executor.submit(square, 3), 9)
            self.assertEqual(
                await asyncio.gather(*(executor.submit(square, x) for x in range(20))),
                [x * x for x in range(20)],
            )


if __name__ == "__main__":
    unittest.main()
