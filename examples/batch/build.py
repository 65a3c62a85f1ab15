"""Runs once per node: what it leaves here is where every job begins."""

import subprocess

subprocess.run(["cc", "-O2", "-o", "heat", "input/heat.c"], check=True)
