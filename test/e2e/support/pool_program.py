"""A Python program on a host of its own: a call for each name, and large values; it reports hosts and bytes.

Usage: pool_program.py DIRECTORY REPORT NAME...
"""

import json
import pathlib
import sys

import weft


def hold(directory, name):
    """Says that it runs, and ends when the test says so."""
    import pathlib
    import socket
    import time

    with open(pathlib.Path(directory) / name, "a") as file:
        file.write(f"{socket.gethostname()}\n")
    while not (pathlib.Path(directory) / f"go-{name}").exists():
        time.sleep(0.02)
    return socket.gethostname()


def main(directory, report, *names):
    with weft.Executor(len(names), cpus=3, memory="100M", directory="private") as executor:
        hosts = [executor.submit(hold, directory, name) for name in names]
        found = sorted(one.result() for one in hosts)
        large = executor.map(bytes.upper, [bytes(300_000)] * 20)
        total = sum(len(one) for one in large)
    pathlib.Path(report).write_text(f"{json.dumps(found)}\n{total}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
