"""The blocks of docs/python.md are run as they stand, and print what the page says."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Page(unittest.TestCase):
    def test_every_block_prints_what_it_says(self) -> None:
        blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(blocks), 4)
        for number, block in enumerate(blocks, 1):
            with self.subTest(block=number), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "block.py").write_text(block, encoding="utf-8")
                done = subprocess.run(
                    [sys.executable, "block.py"], cwd=folder, capture_output=True, text=True, timeout=120
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                said = re.findall(r"^# → ?(.*)$", block, re.MULTILINE)
                self.assertEqual(done.stdout.splitlines(), said)


if __name__ == "__main__":
    unittest.main()
