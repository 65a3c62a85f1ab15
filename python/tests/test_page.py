"""The blocks of docs/python.md are run as they stand, and print what the page says."""

import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
NOTEBOOK = PAGE.parents[1] / "examples" / "python" / "sweep.ipynb"
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

    def test_the_cells_of_the_notebook_run(self) -> None:
        cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        names: dict = {"__name__": "__main__"}
        shown = []
        for text in texts:
            *lines, last = ast.parse(text).body
            exec(compile(ast.Module(lines, []), "cell", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
                shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else value)
            else:
                exec(compile(ast.Module([last], []), "cell", "exec"), names)
        self.assertEqual(shown[2], [[str(seed), "20000"] for seed in range(4)])
        self.assertAlmostEqual(shown[3], 3.14, 1)
        self.assertTrue(all("<table>" in shown[at] for at in (1, 4)))


if __name__ == "__main__":
    unittest.main()
