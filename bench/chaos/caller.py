"""A Python program in a chaos run: calls on workers of a cluster that is being broken, and what it was told of each.

Usage: caller.py RECEIPTS REPORT, with WEFT_SOCKET naming the head. It goes on until its input ends, and
then waits for what is open.
"""

import json
import os
import sys
import threading
import time

import weft

EVERY_S = 0.3
OPEN_MAX = 12
BEATS_MAX = 25
# After everything was mended.
PATIENCE_S = 120


def work(folder, key, beats):
    """Receipts as `worker.c` writes them: at the begin, each tenth of a second, at the end."""
    import os
    import socket
    import time

    host = socket.gethostname()
    file = os.open(os.path.join(folder, host), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    task, epoch = os.environ["WEFT_TASK_ID"], os.environ["WEFT_EPOCH"]

    def receipt(what):
        now = int(time.time() * 1000)
        os.write(file, f"{task} {epoch} {host} 0 0 {os.getpid()} {now} {what} {key}\n".encode())

    receipt("start")
    for _ in range(beats):
        time.sleep(0.1)
        receipt("beat")
    receipt("end")
    os.close(file)
    return f"{key} after {beats}"


class Caller:
    def __init__(self, folder, report):
        self.folder = folder
        self.report = open(report, "w", encoding="utf-8")
        self.lock = threading.Lock()
        self.executor = None
        self.open = {}
        self.made = 0

    def go(self, over):
        while not over.wait(EVERY_S):
            if len(self.open) >= OPEN_MAX:
                continue
            try:
                self.call()
            except (weft.WeftError, RuntimeError, OSError) as error:
                self.say(refused=type(error).__name__, words=str(error)[:200])
                self.give_up()

    def call(self):
        if self.executor is None:
            self.executor = weft.Executor((0, 3), cpus=1, memory="100M", idle="3s")
        self.made += 1
        key, beats, retries = f"c{self.made}", 1 + self.made * 7 % BEATS_MAX, self.made % 2 * 2
        trial = {"key": key, "beats": beats, "retries": retries, "from": now_ms()}
        future = self.executor.submit_with(work, (self.folder, key, beats), retries=retries)
        self.open[key] = trial
        future.add_done_callback(lambda done: self.ended(trial, done))

    def ended(self, trial, future):
        error = future.exception()
        end = "value" if error is None else type(error).__name__
        words = future.result() if error is None else str(error)[:300]
        self.say(**trial, until=now_ms(), end=end, words=words)
        self.open.pop(trial["key"], None)
        if isinstance(error, (weft.PoolClosed, weft.ClusterGone)):
            self.give_up()

    def give_up(self):
        """The next call has a pool of its own."""
        executor, self.executor = self.executor, None
        if executor is not None:
            executor.shutdown(wait=False)

    def say(self, **what):
        with self.lock:
            self.report.write(json.dumps(what) + "\n")
            self.report.flush()

    def end(self):
        until = time.monotonic() + PATIENCE_S
        while self.open and time.monotonic() < until:
            time.sleep(0.1)
        for trial in list(self.open.values()):
            self.say(**trial, until=now_ms(), end=None, words="")
        if self.executor is not None:
            self.executor.stop()


def now_ms():
    return int(time.time() * 1000)


def main(folder, report):
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    caller = Caller(folder, report)
    caller.go(over)
    caller.end()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
