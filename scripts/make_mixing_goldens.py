#!/usr/bin/env python3
"""Writes tests/data/goldens/mixing.yaml: pairs of samples mixed by the formulas of mixup and cutmix.

The draws are those that src/data/augment/mixing.h describes, written out here over Philox; boxes are those of timm's rand_bbox;
images and targets are dense arrays of numpy. tests/data/mixing_test.cpp makes the same.
"""
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).resolve().parent.parent / "tests/data/goldens/mixing.yaml"
SEED, EPOCH, STREAM = 5, 3, 7
CHANNELS, HEIGHT, WIDTH = 2, 7, 10


def philox(key, counter):
    """Philox4x32-10: the words that src/base/philox.h gives for the same key and counter."""
    low, high, c = 0xFFFFFFFF, list(key), list(counter)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ high[0], b & low, a >> 32 ^ c[3] ^ high[1], a & low]
        high = [high[0] + 0x9E3779B9 & low, high[1] + 0xBB67AE85 & low]
    return c


def words(pair, call):
    return philox((SEED, STREAM << 24), (pair, 0, EPOCH, call))


def unit(word):
    return (word >> 8) / 2**24


def beta(a, u, v):
    """Beta(a, a) of Student's t with 2a degrees of freedom, by Bailey's polar method."""
    t = np.sqrt(2 * a * (u ** (-1 / a) - 1)) * np.cos(2 * np.pi * v)
    return 0.5 + t / (2 * np.sqrt(2 * a + t * t))


def box_of(share, pair):
    centre = [side * word >> 32 for side, word in zip((HEIGHT, WIDTH), words(pair, 1))]
    cut = [int(side * np.sqrt(1 - share)) for side in (HEIGHT, WIDTH)]
    return [int(edge) for side, c, size in zip((HEIGHT, WIDTH), centre, cut)
            for edge in np.clip([c - size // 2, c + size // 2], 0, side)]


def image(sample):
    c, y, x = np.meshgrid(np.arange(CHANNELS), np.arange(HEIGHT), np.arange(WIDTH), indexing="ij")
    return ((17 * c + 5 * y + 11 * x + x * y * (c + 3) + 7 * sample) ** 2 % 251).astype(np.float64)


def written(array):
    return "[" + ", ".join(np.format_float_positional(v, precision=8, trim="-") for v in np.asarray(array).ravel()) + "]"


def pairs():
    for mixup, cutmix, switch, probability in ((0.2, 0, 0.5, 1), (1, 0, 0.5, 0.5), (0, 1, 0.5, 1), (0.8, 1, 0.5, 1), (4, 0.3, 0.9, 1)):
        for pair in range(5):
            applied, chosen, u, v = words(pair, 0)
            first, second = image(2 * pair), image(2 * pair + 1)
            kind, share, box = "none", 1.0, [0, 0, 0, 0]
            if unit(applied) < probability:
                cuts = unit(chosen) < switch if mixup and cutmix else cutmix > 0
                share = beta(cutmix if cuts else mixup, (u + 0.5) / 2**32, (v + 0.5) / 2**32)
                kind = "paste" if cuts else "blend"
            out = first, second
            if kind == "blend":
                out = share * first + (1 - share) * second, share * second + (1 - share) * first
            if kind == "paste":
                box = box_of(share, pair)
                share = 1 - (box[1] - box[0]) * (box[3] - box[2]) / (HEIGHT * WIDTH)
                inside = (slice(None), slice(box[0], box[1]), slice(box[2], box[3]))
                out = first.copy(), second.copy()
                out[0][inside], out[1][inside] = second[inside], first[inside]
            yield (f"  - {{mixup: {mixup}, cutmix: {cutmix}, switch: {switch}, probability: {probability}, pair: {pair},\n"
                   f"     kind: {kind}, share: {share:.9g}, box: {box},\n     first: {written(out[0])},\n     second: {written(out[1])}}}")


def targets():
    """Weights and dense targets, before smoothing, of both samples of pairs."""
    cases = [((2, 0), (1, 1), 0.75), ((2, 0), (1, 1), 0.25), ((1, 1), (1, 1), 0.375), ((3, 1), (0.5, 4), 0.75), ((0, 2), (0, 2), 0.625),
             ((0, 2), (2, 0), 0.625), ((2, 1), (1, 1), 1.0), ((2, 1), (1, 1), 0.0)]
    for labels, weights, share in cases:
        rows = []
        for own, other in ((0, 1), (1, 0)):
            parts = share * weights[own], (1 - share) * weights[other]
            target = (parts[0] * np.eye(4)[labels[own]] + parts[1] * np.eye(4)[labels[other]]) / sum(parts)
            rows.append(f"{{weight: {sum(parts)}, target: {written(target)}}}")
        yield f"  - {{labels: {list(labels)}, weights: {list(weights)}, share: {share}, samples: [{', '.join(rows)}]}}"


def main():
    rows = ["# Made by scripts/make_mixing_goldens.py.", "pairs:", *pairs(), "targets:", *targets()]
    FILE.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
