#!/usr/bin/env python3
"""Compares ONNX models with what their networks gave: for each NAME.onnx of a folder, NAME.safetensors has an input and
the logits. onnx checks the model, onnxruntime computes it at the stored batch and at a batch of one, OpenCV's dnn module
too where the metadata say so. Prints the largest difference of each, relative to the largest logit. Exit code 1: one is
above the tolerance, or an output is not what its closing activation makes of the logits.

    onnx_judge.py FOLDER
"""
import json
import pathlib
import struct
import sys

import cv2
import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-4
TYPES = {"F32": np.float32, "I64": np.int64}


def read_safetensors(path):
    """Tensors by name, and the metadata."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata


def closed(logits, closing):
    """What the closing activation makes of logits."""
    x = logits.astype(np.float64)
    if closing == "softmax":
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    return 1 / (1 + np.exp(-x)) if closing == "sigmoid" else x


class Comparison:
    """The differences of one model, as words; `good` if all are below the tolerance."""

    def __init__(self):
        self.words = []
        self.good = True

    def add(self, who, found, expected):
        if found.shape != expected.shape:
            self.good = False
            self.words.append(f"{who} has the shape {found.shape}, expected {expected.shape}")
            return
        scale = np.abs(expected).max()
        difference = np.abs(found.astype(np.float64) - expected).max() / scale
        self.good = self.good and bool(difference <= TOLERANCE) and scale > 0
        self.words.append(f"{who} {difference:.1e}")


def judge(path):
    tensors, metadata = read_safetensors(path.with_suffix(".safetensors"))
    logits = tensors["logits"]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    name = model.graph.input[0].name
    outputs = [output.name for output in model.graph.output]
    wanted = "logits" if "logits" in outputs else "output"
    comparison = Comparison()

    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    found = dict(zip(outputs, session.run(None, {name: tensors["input"]})))
    comparison.add("onnxruntime", found[wanted], logits)
    comparison.add("its output", found["output"], closed(logits, metadata["closing"]))
    alone = session.run([wanted], {name: tensors["input"][:1]})[0]
    comparison.add("one sample", alone, logits[:1])
    if metadata["opencv"] == "yes":
        network = cv2.dnn.readNetFromONNX(str(path))
        network.setInput(tensors["input"], name)
        comparison.add("OpenCV", network.forward(wanted), logits)
    largest = np.abs(logits).max()
    print(f"{path.stem}: {', '.join(comparison.words)}; largest logit {largest:.3g}", flush=True)
    return comparison.good


def main():
    models = sorted(pathlib.Path(sys.argv[1]).glob("*.onnx"))
    print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}, OpenCV {cv2.__version__}")
    bad = []
    for path in models:
        try:
            good = judge(path)
        except Exception as error:  # any judge's: its words are the finding
            print(f"{path.stem}: {type(error).__name__}: {error}", flush=True)
            good = False
        if not good:
            bad.append(path.stem)
    print(f"{len(models)} models, {len(bad)} refused" + (": " + ", ".join(bad) if bad else ""))
    return 1 if bad or not models else 0


if __name__ == "__main__":
    sys.exit(main())
