"""The table of an Executor in a notebook while its head is away. Needs no cluster."""

import pathlib
import socket
import tempfile
import time
import types
import unittest

import weft
from weft._http import Line
from weft._where import Place

TOLD = {"workers": 3, "busy": 2, "waiting": 7, "why": None}
ROW = "<td>3</td><td>2</td><td>7</td><td>0</td>"
PATIENCE_S = 120
AT_ONCE_S = 20


def executor_at(path):
    """As one that was told numbers, and whose head is away since."""
    executor = weft.Executor.__new__(weft.Executor)
    line = Line(Place(socket=str(path)), PATIENCE_S)
    line._has_met = True
    executor._client = types.SimpleNamespace(_line=line)
    executor._pool = types.SimpleNamespace(numbers=TOLD)
    executor._futures = {}
    executor.pool = "p"
    return executor, line


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "socket"
        self.server = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.server.close)
        self.server.bind(str(self.path))

    def shows_what_was_told(self):
        executor, line = executor_at(self.path)
        begun = time.monotonic()
        self.assertIn(ROW, executor._repr_html_())
        self.assertLess(time.monotonic() - begun, AT_ONCE_S)
        line.close()

    def test_of_a_head_that_is_away_it_shows_what_was_told_last(self):
        self.shows_what_was_told()

    def test_a_head_that_does_not_answer_is_not_waited_for(self):
        self.server.listen()
        self.shows_what_was_told()


if __name__ == "__main__":
    unittest.main()
