"""Fits y = 3x + 1 on all processes of a job together, and goes on from its checkpoint after a restart.

Each process has its own part of the points; the gradients are averaged over all of them at each step.
With PyTorch that is torch.distributed (nccl on gpus, gloo without); without it the few lines of Pair
below do the same over TCP, so that the example runs anywhere.
"""

import json
import os
import socket
import struct
import sys
import time

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
PAUSE_S = float(os.environ.get("TRAIN_PAUSE_S", "0"))
CHECKPOINT = "checkpoint.json"


class Torch:
    """Means over all processes, by torch.distributed."""

    def __init__(self):
        import torch
        import torch.distributed as dist

        self.torch, self.dist = torch, dist
        self.on_gpu = torch.cuda.is_available()
        if self.on_gpu:
            torch.cuda.set_device(LOCAL)
        dist.init_process_group("nccl" if self.on_gpu else "gloo")

    def mean(self, values):
        device = "cuda" if self.on_gpu else "cpu"
        tensor = self.torch.tensor(values, dtype=self.torch.float64, device=device)
        self.dist.all_reduce(tensor)
        return (tensor / WORLD).tolist()

    def close(self):
        self.dist.destroy_process_group()


class Pair:
    """The same over TCP: the first process adds up and tells the others."""

    def __init__(self):
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        self.peers = []
        if RANK == 0:
            with socket.create_server(("", address[1]), backlog=WORLD) as server:
                server.settimeout(120)
                self.peers = [server.accept()[0] for _ in range(WORLD - 1)]
        else:
            self.peers = [connected(address)]
        for peer in self.peers:
            peer.settimeout(120)

    def mean(self, values):
        form = f"!{len(values)}d"
        if RANK > 0:
            self.peers[0].sendall(struct.pack(form, *values))
            return list(struct.unpack(form, received(self.peers[0], struct.calcsize(form))))
        sums = list(values)
        for peer in self.peers:
            theirs = struct.unpack(form, received(peer, struct.calcsize(form)))
            sums = [mine + other for mine, other in zip(sums, theirs)]
        means = [one / WORLD for one in sums]
        for peer in self.peers:
            peer.sendall(struct.pack(form, *means))
        return means

    def close(self):
        for peer in self.peers:
            peer.close()


def connected(address):
    """The first process may be the last to start."""
    until = time.monotonic() + 120
    while True:
        try:
            return socket.create_connection(address, timeout=10)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def received(peer, size):
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            sys.exit("another process is gone")
        data += part
    return data


def group():
    try:
        return Torch()
    except ImportError:
        return Pair()


def load():
    try:
        with open(CHECKPOINT, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"step": 0, "slope": 0.0, "offset": 0.0}


def save(state):
    """A file under its own name is whole, whenever somebody ends the process."""
    with open(CHECKPOINT + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(CHECKPOINT + ".new", CHECKPOINT)


def gradient(slope, offset):
    points = [i / 50 for i in range(RANK, 100, WORLD)]
    errors = [(slope * x + offset) - (3 * x + 1) for x in points]
    count = len(points)
    return [
        2 * sum(e * x for e, x in zip(errors, points)) / count,
        2 * sum(errors) / count,
    ]


def main():
    all_of_us = group()
    # What the first one read counts: another node may still see an older file.
    state = load()
    own = [state["step"], state["slope"], state["offset"]] if RANK == 0 else [0.0, 0.0, 0.0]
    step, slope, offset = (value * WORLD for value in all_of_us.mean(own))
    begun = round(step)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    card = visible[LOCAL] if LOCAL < len(visible) else ""
    print(f"rank {RANK} of {WORLD} on {card or 'no gpu'} begins at step {begun}", flush=True)
    for at in range(begun, STEPS):
        of_slope, of_offset = all_of_us.mean(gradient(slope, offset))
        slope -= 0.2 * of_slope
        offset -= 0.2 * of_offset
        if RANK == 0:
            save({"step": at + 1, "slope": slope, "offset": offset})
        time.sleep(PAUSE_S)
    if RANK == 0:
        print(f"slope {slope:.3f} offset {offset:.3f} after {STEPS} steps", flush=True)
    all_of_us.close()


main()
