#!/usr/bin/env python3
"""Training throughput of PyTorch on the network of scripts/bench/imdb_lstm.yaml: the peer of

    PEER=scripts/peer_lstm.py BATCH=32 MODES=batch_first,steps_first,foreach scripts/speed_table.sh imdb_lstm

Prints a JSON line per batch and mode: sequences/s (key images_per_s, as for images) as the median over windows, and the
number of trained parameters. Each step takes one prepared batch: random tokens, no reading of data. The second bias of
PyTorch's LSTM stays zero and is not trained, so that both nets have the same parameters.

Modes: batch_first (input [n, t, c]), steps_first (input [t, n, c]), foreach (as batch_first, Adam over all parameters at
once).
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch
from torch import nn

TOKENS, VOCABULARY, WIDTH = 80, 20000, 128


class Net(nn.Module):
    def __init__(self, steps_first):
        super().__init__()
        self.steps_first = steps_first
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, batch_first=not steps_first)
        self.dense = nn.Linear(WIDTH, 1)
        nn.init.zeros_(self.lstm.bias_hh_l0)
        self.lstm.bias_hh_l0.requires_grad_(False)

    def forward(self, tokens):
        if self.steps_first:
            return self.dense(self.lstm(self.embedding(tokens.t()))[0][-1])[:, 0]
        return self.dense(self.lstm(self.embedding(tokens))[0][:, -1])[:, 0]


def measure(batch, mode, windows, seconds):
    torch.manual_seed(1)
    net = Net(mode == "steps_first").train()
    trained = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=1e-3, **({"foreach": True} if mode == "foreach" else {}))
    tokens = torch.randint(0, VOCABULARY, (batch, TOKENS))
    labels = torch.randint(0, 2, (batch,)).float()
    loss_of = nn.BCEWithLogitsLoss()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(net(tokens), labels)
        loss.backward()
        optimizer.step()

    for _ in range(3):
        step()
    rates = []
    for _ in range(windows):
        begin, steps = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            step()
            steps += 1
        rates.append(steps * batch / (time.perf_counter() - begin))
    return {"peer": "torch " + torch.__version__, "net": "imdb_lstm", "batch": batch, "mode": mode,
            "images_per_s": round(statistics.median(rates), 1), "low": round(min(rates), 1),
            "high": round(max(rates), 1), "parameters": sum(p.numel() for p in trained)}


def at_its_best():
    """Restarts once with glibc's allocator told to keep freed memory and OpenBLAS told of AVX-512."""
    settings = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 34), "MALLOC_TOP_PAD_": str(64 << 20)}
    with open("/proc/cpuinfo") as processor:
        if " avx512f" in processor.read():
            settings["OPENBLAS_CORETYPE"] = "SkylakeX"  # OpenBLAS 0.3.21 takes newer processors for Haswell
    if any(os.environ.get(key) != value for key, value in settings.items()):
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **settings})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu"], default="cpu")
    parser.add_argument("--nets", choices=["imdb_lstm"], default="imdb_lstm")
    parser.add_argument("--batches", default="32,128")
    parser.add_argument("--modes", default="batch_first,steps_first,foreach")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    flags = parser.parse_args()
    at_its_best()
    torch.set_num_threads(flags.threads)
    for batch in map(int, flags.batches.split(",")):
        for mode in flags.modes.split(","):
            print(json.dumps(measure(batch, mode, flags.windows, flags.seconds)), flush=True)


if __name__ == "__main__":
    main()
