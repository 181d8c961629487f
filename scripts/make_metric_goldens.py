#!/usr/bin/env python3
# Writes tests/report/goldens/metrics.yaml: scikit-learn's values of metrics on small cases.
#
#   python3 -m venv /tmp/sk && /tmp/sk/bin/pip install scikit-learn
#   /tmp/sk/bin/python scripts/make_metric_goldens.py > tests/report/goldens/metrics.yaml
import warnings

import numpy as np
import sklearn
from sklearn import metrics

warnings.simplefilter("ignore")
rng = np.random.default_rng(7)


def numbers(values):
    return "[" + ", ".join(format(float(v), ".9g") for v in np.asarray(values).ravel()) + "]"


def write(name, outputs, targets, values):
    """A case: outputs and targets, float32, row by row, and the metrics' values."""
    print(f"- name: {name}\n  samples: {len(targets)}\n  outputs: {numbers(outputs)}")
    print(f"  targets: {numbers(targets)}\n  values:")
    for key, value in values.items():
        print(f"    {key}: {float(value):.17g}")


def classes(name, outputs, labels):
    outputs = np.asarray(outputs, np.float32)
    guess = outputs.argmax(1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(int)
    values = {}
    for average in "macro", "micro", "weighted":
        known = dict(average=average, zero_division=0)
        values[average + "_f1"] = metrics.f1_score(labels, guess, **known)
    values["macro_precision"] = metrics.precision_score(labels, guess, average="macro", zero_division=0)
    values["macro_recall"] = metrics.recall_score(labels, guess, average="macro", zero_division=0)
    values["balanced_accuracy"] = metrics.balanced_accuracy_score(labels, guess)
    if outputs.shape[1] > 2:
        # The outputs are logits: a class's score is its probability.
        e = np.exp(outputs.astype(float) - outputs.max(1, keepdims=True))
        scores = e / e.sum(1, keepdims=True)
        known = sorted(set(labels))
        each = [metrics.average_precision_score(np.equal(labels, c), scores[:, c]) for c in known]
        values["mean_average_precision"] = np.mean(each)
    elif outputs.shape[1] == 1:
        values["mean_average_precision"] = metrics.average_precision_score(labels, outputs[:, 0])
    write("classes " + name, outputs, labels, values)


def regression(name, outputs, targets):
    outputs, targets = np.asarray(outputs, np.float32), np.asarray(targets, np.float32)
    x, t = outputs.astype(float), targets.astype(float)
    write("regression " + name, outputs, targets,
          {"mae": metrics.mean_absolute_error(t, x), "rmse": metrics.root_mean_squared_error(t, x),
           "r2": metrics.r2_score(t, x)})


def labels(name, outputs, targets):
    outputs = np.asarray(outputs, np.float32)
    kept = targets.any(0)  # scikit-learn counts a class without samples as 0; here it is left out
    value = metrics.average_precision_score(targets[:, kept], outputs[:, kept], average="macro")
    write("labels " + name, outputs, targets, {"mean_average_precision": value})


print(f"# Made by scripts/make_metric_goldens.py with scikit-learn {sklearn.__version__}.")
classes("of three", rng.normal(size=(20, 3)), rng.integers(0, 3, 20))
classes("uneven", rng.normal(size=(24, 4)) + [1, 0, 0, 0], np.repeat([0, 1, 2, 3], [17, 4, 2, 1]))
classes("without samples of the last class", rng.normal(size=(15, 4)), rng.integers(0, 3, 15))
classes("never predicted", rng.normal(size=(12, 3)) - [0, 0, 9], rng.integers(0, 3, 12))
classes("with equal rows", np.repeat(rng.normal(size=(6, 3)), 3, axis=0), rng.integers(0, 3, 18))
classes("of a single output", rng.normal(size=(16, 1)), rng.integers(0, 2, 16))
t = rng.normal(size=(15, 1))
regression("of one output", t + 0.3 * rng.normal(size=t.shape), t)
t = rng.normal(size=(11, 3)) * [1, 10, 100]
regression("of three outputs", t + rng.normal(size=t.shape), t)
t = 2000 + rng.integers(-10, 10, (14, 1))
regression("far from 0", t + rng.normal(size=t.shape), t)
regression("of a constant", rng.normal(size=(6, 1)), np.full((6, 1), 0.1))
regression("of a constant that is met", np.full((6, 1), 0.1), np.full((6, 1), 0.1))
regression("of a constant beside another", rng.normal(size=(8, 2)), np.c_[np.full(8, 3), np.arange(8)])
regression("worse than the mean", rng.normal(size=(9, 1)) + 5, rng.normal(size=(9, 1)))
labels("of four", rng.normal(size=(20, 4)), rng.integers(0, 2, (20, 4)))
labels("with equal outputs", np.round(rng.normal(size=(16, 3))), rng.integers(0, 2, (16, 3)))
labels("of which one never occurs", rng.normal(size=(10, 3)), rng.integers(0, 2, (10, 3)) * [1, 0, 1])
