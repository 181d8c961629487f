#!/usr/bin/env python3
"""Writes tests/data/goldens/: arrays as numpy stores them, its shuffle, and Keras's IMDB sequences.

Needs numpy. With the argument IMDB, a folder with train.tsv, test.tsv and imdb_word_index.json, it also writes
imdb.yaml: what keras.datasets.imdb.load_data(num_words=20000) and pad_sequences(maxlen=80) of Keras 2.1.6, written out
here, make of the reviews. tests/data/sequence_golden_test.cpp and real_data_test.cpp read the files.
"""
import json
import pathlib
import re
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/data/goldens"
FILTERS = str.maketrans({c: " " for c in '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'})


def write_arrays():
    numbers = (np.arange(4 * 3 * 2).reshape(4, 3, 2) - 7) / 4
    classes = np.array([0, 2, 1, 2])
    tokens = np.arange(12).reshape(4, 3) % 5
    np.savez(FOLDER / "numbers.npz", x=numbers.astype("<f4"), y=classes.astype("<i8"))
    np.savez_compressed(FOLDER / "tokens.npz", x=np.asfortranarray(tokens.astype("<u2")), y=(tokens + 1) % 5)
    for name, values in {
        "f2": numbers.astype("<f2"), "f8_big": numbers.astype(">f8"), "fortran": np.asfortranarray(numbers.astype("<f4")),
        "bool": numbers > 0, "i1": (numbers * 4).astype("i1"), "u4_big": (numbers * 4 + 7).astype(">u4"),
        "classes": classes.astype(">i2"),
        "objects": np.array([[1, 2], [3]], dtype=object),
    }.items():
        np.save(FOLDER / f"{name}.npy", values, allow_pickle=True)


def write_shuffles():
    np.random.seed(113)
    orders = []
    for size in (10, 33, 1):
        order = np.arange(size)
        np.random.shuffle(order)
        orders.append(order.tolist())
    (FOLDER / "shuffles.yaml").write_text(
        "# numpy.random.seed(113), then shuffle() of numpy.arange() of three sizes\n"
        + "".join(f"- {order}\n" for order in orders))


def words(text):
    lowered = "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)
    return [word for word in lowered.translate(FILTERS).split(" ") if word]


def reviews(folder, split):
    texts, labels = [], []
    with open(folder / f"{split}.tsv", encoding="utf-8", newline="\n") as table:
        next(table)
        for line in table:
            label, _, _, text = line.rstrip("\n").split("\t")
            labels.append(int(label))
            texts.append(re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[m[1]], text))
    return texts, labels


def hash_of(numbers):
    """FNV-1a of the numbers as 32 bits each, as one word."""
    value = 0xCBF29CE484222325
    for number in numbers:
        value = ((value ^ number) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def write_imdb(folder):
    index = json.loads((folder / "imdb_word_index.json").read_text())
    np.random.seed(113)
    out = "# Keras 2.1.6's IMDB: 20,000 words, 80 tokens; FNV-1a of all tokens, then of all labels, in words of 64 bits\n"
    for split in ("train", "test"):
        texts, labels = reviews(folder, split)
        order = np.arange(len(texts))
        np.random.shuffle(order)
        rows = []
        for i in order:
            ranks = [index[word] for word in words(texts[i]) if word in index]
            tokens = [1] + [rank + 3 for rank in ranks]
            tokens = [token if token < 20000 else 2 for token in tokens][-80:]
            rows.append([0] * (80 - len(tokens)) + tokens)
        shuffled = [labels[i] for i in order]
        out += f"{split}:\n  tokens: \"{hash_of(t for row in rows for t in row):016x}\"\n"
        out += f"  labels: \"{hash_of(shuffled):016x}\"\n  first: {rows[0]}\n  last: {rows[-1]}\n"
        out += f"  first_labels: {shuffled[:10]}\n"
    (FOLDER / "imdb.yaml").write_text(out)


if __name__ == "__main__":
    write_arrays()
    write_shuffles()
    if len(sys.argv) > 1:
        write_imdb(pathlib.Path(sys.argv[1]))
