"""The package is for Python 3.9 and newer: nothing in it is of a later grammar. Needs no cluster."""

import ast
import pathlib
import unittest

SOURCES = pathlib.Path(__file__).parents[1] / "src"


class Sources(unittest.TestCase):
    def test_all_of_it_is_of_the_oldest_grammar(self) -> None:
        files = sorted(SOURCES.rglob("*.py"))
        self.assertGreater(len(files), 5)
        for file in files:
            ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=(3, 9))

    def test_the_types_of_options_are_those_that_there_are(self) -> None:
        from weft import _options

        for typed, known in (
            (_options.JobOptions, _options.JOB_OPTIONS),
            (_options.WorkerOptions, _options.WORKER_OPTIONS),
        ):
            names = {
                name
                for one in typed.__mro__ + typed.__bases__
                for name in getattr(one, "__annotations__", ())
            }
            self.assertEqual(names, set(known))


if __name__ == "__main__":
    unittest.main()
