#!/usr/bin/env python3
"""Images per second and core that train, Pillow and torchvision read from one folder, in alternating turns.

    peer_reading.py TRAIN FOLDER PACK [--seconds 5] [--rounds 3] [--size 224]

All decode the same JPEG files in a random order and resize them to SIZE x SIZE with Pillow's bilinear filter, to float
planes [3, SIZE, SIZE]. Each turn is one process on one thread; rates are images per second of processor time, so that
other work on the machine matters little. PACK is what `train data pack FOLDER size=SIZE PACK` wrote. Needs Pillow,
torch and torchvision.
"""

import argparse
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time


def files_of(folder):
    files = sorted(str(path) for path in pathlib.Path(folder).rglob("*.jpg"))
    random.Random(0).shuffle(files)
    return files


def pillow_reader(size):
    import numpy
    from PIL import Image

    def read(path):
        with Image.open(path) as image:
            image = image.convert("RGB").resize((size, size), Image.BILINEAR)
        return numpy.ascontiguousarray(numpy.asarray(image).transpose(2, 0, 1)).astype(numpy.float32)

    return read


def torchvision_reader(size):
    import torch
    from torchvision import transforms
    from torchvision.datasets.folder import default_loader

    torch.set_num_threads(1)
    transform = transforms.Compose([transforms.Resize((size, size)), transforms.ToTensor()])
    return lambda path: transform(default_loader(path))


READERS = {"Pillow": pillow_reader, "torchvision": torchvision_reader}


def peer_rate(name, folder, size, seconds):
    """Run in a process of its own, as its main function."""
    read, files = READERS[name](size), files_of(folder)
    for path in files[:5]:
        read(path)
    count, begin, processor = 0, time.monotonic(), time.process_time()
    while time.monotonic() - begin < seconds:
        read(files[count % len(files)])
        count += 1
    return count / (time.process_time() - processor)


def turn(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measured(arguments):
    """One turn of each, {name: images per second}."""
    rates = {}
    for name in READERS:
        own = [sys.executable, __file__, arguments.train, arguments.folder, arguments.pack, "--peer", name]
        rates[name] = float(turn(own + ["--seconds", str(arguments.seconds), "--size", str(arguments.size)]))
    reading = [arguments.train, "data", "read", "--seconds", str(arguments.seconds)]
    # memory_mib=0: every sample is decoded when it is read.
    folder = ["source=image_folder", f"root={arguments.folder}", f"size={arguments.size}", "memory_mib=0"]
    for name, words in (("train, folder", folder), ("train, pack", ["source=pack", f"file={arguments.pack}"])):
        rates[name] = float(re.search(r"([\d.]+) per second of processor", turn(reading + words)).group(1))
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("folder")
    parser.add_argument("pack")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--peer", choices=READERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        print(peer_rate(arguments.peer, arguments.folder, arguments.size, arguments.seconds))
        return
    rounds = [measured(arguments) for _ in range(arguments.rounds)]
    for name in rounds[0]:
        rates = sorted(rates[name] for rates in rounds)
        ratios = [rates[name] / max(rates[peer] for peer in READERS) for rates in rounds]
        print(f"{name:15} {statistics.median(rates):8.1f} images/s ({rates[0]:.1f} to {rates[-1]:.1f}), "
              f"{statistics.median(ratios):.2f} times the faster peer")


if __name__ == "__main__":
    main()
