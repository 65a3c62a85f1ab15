"""The client against a head of `weft up`: jobs, arrays, files, output, events, and what goes wrong.

Run with WEFT_DIR naming the cluster, in a directory of its own.
"""

import os
import pathlib
import tempfile
import threading
import unittest
from unittest import mock

import weft
from weft._view import outcome_words


class Clients(unittest.TestCase):
    client: weft.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = weft.Client()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()


class Jobs(Clients):
    def test_run_gives_output_and_exit_code(self) -> None:
        done = self.client.run("echo hello; echo more >&2", time="1m", cpus=1)
        self.assertEqual((done.exit_code, done.output), (0, "hello\n"))
        self.assertEqual(done.job.output("stderr"), "more\n")
        self.assertEqual(done.info.task_count, done.info["taskCount"])

    def test_output_is_whole_or_an_error(self) -> None:
        many = self.client.run("head -c 17000000 /dev/zero")
        with self.assertRaisesRegex(weft.WeftError, r"more than 16777216 bytes.*job\.logs\(\)"):
            many.output
        self.assertEqual(len(many.job.output(bytes_max=1000)), 1000)
        self.assertEqual(sum(map(len, many.job.logs())), 17_000_000)

    def test_output_of_which_the_rest_has_not_come_is_an_error(self) -> None:
        for told in ({"weft-log-lacking": "true"}, {}):
            first, again = mock.Mock(headers=told), mock.Mock(headers={"weft-log-lacking": "true"})
            first.pieces.return_value = [b"some"]
            line = mock.Mock(open=mock.Mock(side_effect=[first, again]), patiently=lambda act: act())
            with self.assertRaises(weft.WeftError) as caught:
                weft.Job(mock.Mock(_line=line), "1").output()
            self.assertEqual(caught.exception.code, "log.lacking")

    def test_output_that_the_head_has_dropped_is_told(self) -> None:
        for told in ({"weft-log-lacking": "false", "weft-log-dropped": "7"}, {}):
            first = mock.Mock(headers=told)
            again = mock.Mock(headers={"weft-log-lacking": "false", "weft-log-dropped": "7"})
            first.pieces.return_value = [b"some"]
            line = mock.Mock(open=mock.Mock(side_effect=[first, again]), patiently=lambda act: act())
            with self.assertWarnsRegex(UserWarning, "7 bytes of the output of 1 are missing.*log_limit"):
                self.assertEqual(weft.Job(mock.Mock(_line=line), "1").output(), "some")

    def test_advice_is_in_words_of_python(self) -> None:
        detail = "exceeded its limit of 1M on n1; ask for more with --memory"
        words = outcome_words({"outcome": {"kind": "out_of_memory", "detail": detail}})
        self.assertRegex(words, "ask for more with memory=$")

    def test_output_is_there_when_the_client_is_closed(self) -> None:
        with weft.Client() as client:
            done = client.run("echo kept")
        self.assertEqual(done.output, "kept\n")

    def test_a_job_is_not_iterated(self) -> None:
        with self.assertRaisesRegex(TypeError, r"job\.tasks\(\)"):
            list(self.client.job(1))  # type: ignore[call-overload]

    def test_a_list_is_run_as_it_is(self) -> None:
        self.assertEqual(self.client.run(["echo", "$HOME", "a b"]).output, "$HOME a b\n")

    def test_a_script_goes_as_a_whole(self) -> None:
        self.assertEqual(self.client.run("#!/bin/sh\necho $0 | wc -l\n").output, "1\n")

    def test_a_failure_is_raised_with_the_job(self) -> None:
        with self.assertRaises(weft.JobFailed) as caught:
            self.client.run("exit 3")
        self.assertEqual(caught.exception.info.outcome.exit.code, 3)
        self.assertIn("exit code 3", str(caught.exception))
        self.assertEqual(self.client.run("exit 4", check=False).exit_code, 4)

    def test_map_has_a_task_for_each_item(self) -> None:
        items = [{"n_cells": 4, "kind": "a b"}, {"n_cells": 8, "kind": "$x"}]
        job = self.client.map("echo {n_cells} {kind}", items, directory="private")
        self.assertEqual(job.result("1m").info.task_count, 2)
        self.assertEqual([job[index].output() for index in (0, 1)], ["4 a b\n", "8 $x\n"])
        self.assertEqual([task.index for task in job.tasks()], [0, 1])
        words = self.client.map(["echo", "got"], ["x", "y"])
        words.result("1m")
        self.assertEqual(words[1].output(), "got y\n")

    def test_wait_for_many_and_cancel(self) -> None:
        jobs = [self.client.submit("sleep 300"), self.client.submit("true")]
        with self.assertRaises(TimeoutError):
            jobs[0].wait("200ms")
        self.assertEqual(jobs[0].wait(until="started").state, "running")
        self.assertEqual(jobs[0].cancel(), 1)
        kinds = [info.outcome.kind for info in self.client.wait(jobs, "1m")]
        self.assertEqual(kinds, ["cancelled", "completed"])
        self.assertTrue(all(job.done() for job in jobs))

    def test_what_failed_is_run_again(self) -> None:
        job = self.client.map("test {} = good || exit 5", ["good", "bad"])
        with self.assertRaises(weft.JobFailed):
            job.result("1m")
        again = job.retry()
        self.assertNotEqual(again, job)
        self.assertEqual([task.index for task in again.tasks()], [1])
        self.assertEqual(again.wait("1m").outcome.kind, "failed")

    def test_the_same_key_gives_the_same_job(self) -> None:
        first = self.client.submit("true", key="from python")
        self.assertEqual(self.client.submit("true", key="from python"), first)

    def test_why_and_html(self) -> None:
        job = self.client.submit("true", hold=True, name="<held>")
        self.assertEqual(job.why().reason.kind, "held")
        self.assertIn("&lt;held&gt;", job._repr_html_())
        self.assertIn(int(job.id), [one.id for one in self.client.jobs(name="<held>")])
        job.cancel()

    def test_nothing_of_the_environment_goes_that_is_not_named(self) -> None:
        os.environ["SECRET_OF_TEST"] = "x"
        self.addCleanup(os.environ.pop, "SECRET_OF_TEST")
        self.assertEqual(self.client.run('echo "[$SECRET_OF_TEST$A]"', env={"A": 1}).output, "[1]\n")
        allowed = self.client.run("env", env=os.environ).output
        self.assertIn("SECRET_OF_TEST=x", allowed)

    def test_events_follow_a_job(self) -> None:
        job = self.client.submit("true", hold=True)
        seen = []
        after = int(self.client.info()["head"]["seq"])
        threading.Thread(target=job.release).start()
        for event in self.client.events(jobs=job, kinds=["job_released", "job_done"], after=after):
            seen.append(event.kind)
            if event.kind == "job_done":
                break
        self.assertEqual(seen, ["job_released", "job_done"])


class Files(Clients):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_files_go_along_and_come_back(self) -> None:
        (self.folder / "mesh" / "inner").mkdir(parents=True)
        (self.folder / "mesh" / "inner" / "a").write_text("a")
        (self.folder / "mesh" / "link").symlink_to("inner/a")
        (self.folder / "numbers").write_text("3\n1\n2\n")
        done = self.client.run(
            "mkdir out; sort -n input.txt > out/sorted; cat mesh/link > out/linked; ln -s sorted out/l; echo x > y",
            files={self.folder / "numbers": "input.txt", self.folder / "mesh": "mesh"},
            keep="out/**",
        )
        paths = done.job.pull(str(self.folder / "back"))
        out = self.folder / "back" / "out"
        self.assertEqual(sorted(paths), [str(out / "linked"), str(out / "sorted")])
        self.assertEqual((out / "sorted").read_text(), "1\n2\n3\n")
        self.assertEqual((out / "l").read_text(), "1\n2\n3\n")
        self.assertEqual((out / "linked").read_text(), "a")
        (out / "linked").write_text("damaged")
        done.job.pull(str(self.folder / "back"))
        self.assertEqual((out / "linked").read_text(), "a")

    def test_a_large_file_is_sent_once(self) -> None:
        (self.folder / "big").write_bytes(bytes(5_000_000) + b"end")
        for _ in (1, 2):
            done = self.client.run("wc -c < big", files=[self.folder / "big"])
            self.assertEqual(done.output.strip(), "5000003")

    def test_tasks_have_folders_of_their_own(self) -> None:
        job = self.client.map("echo {} > result", ["x", "y"], keep="result")
        job.result("1m")
        job.pull(str(self.folder))
        self.assertEqual((self.folder / "1" / "result").read_text(), "y\n")

    def test_a_link_that_leads_outside_is_refused(self) -> None:
        (self.folder / "sub").mkdir()
        (self.folder / "sub" / "out").symlink_to("../../x")
        with self.assertRaisesRegex(weft.WeftError, "leads outside"):
            self.client.submit("true", files=self.folder / "sub")


class Mistakes(Clients):
    def test_each_is_told_before_anything_is_sent(self) -> None:
        cases = {
            "Did you mean 'memory'": {"memry": "1G"},
            "has no unit; write 12M": {"memory": "12"},
            "'1:30' is not a duration": {"time": "1:30"},
            "cpus: 1.5 is not a whole number": {"cpus": 1.5},
            "'x' is not an array": {"array": "x"},
            "there is no 'nowhere'": {"files": "nowhere"},
            "is shared; with files or keep": {"keep": "*", "directory": "/tmp"},
        }
        for words, options in cases.items():
            with self.subTest(words), self.assertRaisesRegex(weft.WeftError, words):
                self.client.submit("true", **options)
        with self.assertRaisesRegex(weft.WeftError, "write {a} where it belongs"):
            self.client.map("true", [{"a": 1}])
        with self.assertRaisesRegex(weft.WeftError, r"items\[1\]: it has no 'a'"):
            self.client.map("echo {a}", [{"a": 1}, {"b": 1}])

    def test_a_refusal_of_the_head_has_code_and_kind(self) -> None:
        with self.assertRaises(weft.WeftError) as caught:
            self.client.job(999_999).info()
        self.assertEqual((caught.exception.code, caught.exception.kind), ("job.not_found", "not_found"))

    def test_no_cluster_is_told_at_once(self) -> None:
        with self.assertRaises(weft.WeftError) as caught:
            weft.Client(directory="/nowhere/at/all")
        self.assertEqual(caught.exception.code, "head.unreachable")
        self.assertIn("there is no such socket", str(caught.exception))


class OverTls(unittest.TestCase):
    """With WEFT_TEST_HEAD, WEFT_TEST_FINGERPRINT and WEFT_TEST_TOKEN."""

    def setUp(self) -> None:
        if "WEFT_TEST_HEAD" not in os.environ:
            self.skipTest("no head over TLS")
        names = ("HEAD", "FINGERPRINT", "TOKEN")
        self.said = {name.lower(): os.environ[f"WEFT_TEST_{name}"] for name in names}

    def test_a_token_and_the_fingerprint_are_enough(self) -> None:
        with weft.Client(**self.said) as client:
            self.assertEqual(client.run("echo far").output, "far\n")

    def test_another_certificate_is_refused(self) -> None:
        with self.assertRaises(weft.WeftError) as caught:
            weft.Client(**{**self.said, "fingerprint": "00" * 32})
        self.assertEqual(caught.exception.code, "auth.fingerprint_mismatch")

    def test_a_wrong_token_is_refused(self) -> None:
        with self.assertRaises(weft.WeftError) as caught:
            weft.Client(**{**self.said, "token": "wt_1_wrong"})
        self.assertEqual(caught.exception.kind, "unauthenticated")


if __name__ == "__main__":
    unittest.main()
