#!/usr/bin/env python3
"""Judges the runs of docs/own_data.md, which `tests/e2e/own_data.sh` makes in a folder: for each NAME of own_data.py
there are NAME.csv, RUN = runs/NAME/0001 with eval/, NAME.onnx, and `train predict RUN` of all samples in
NAME_predictions.csv. pandas reads the files, scikit-learn computes the metrics of eval.json again and trains a model of
its own on the same rows, onnxruntime predicts from the files and what the ONNX model's metadata say. Exit code 1: one
of them finds something else.

    own_data_judge.py FOLDER
"""
import json
import pathlib
import sys

import cv2
import numpy as np
import onnxruntime
import pandas as pd
from sklearn import metrics
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

bad = []


def compare(what, found, expected, tolerance):
    difference = np.max(np.abs(np.asarray(found, np.float64) - expected) / np.maximum(1, np.abs(expected)))
    print(f"  {what}: {difference:.1e}")
    if not difference <= tolerance:
        bad.append(what)


def images_of(folder, frame):
    """[n, 3, 32, 32], red first, 0 to 255."""
    images = [cv2.imread(str(folder / name))[:, :, ::-1] for name in frame["image"]]
    return np.stack(images).transpose(0, 3, 1, 2).astype(np.float32)


def table_input(metadata, frame):
    features = []
    for column in json.loads(metadata["table"])["columns"]:
        cells = frame[column["name"]]
        if "categories" in column:
            features += [cells == category for category in column["categories"]]
        else:
            features.append((cells.fillna(column["mean"]) - column["mean"]) / column["deviation"])
    return {"input": np.stack(features, 1).astype(np.float32)}


def text_input(metadata, frame, length):
    vocabulary = json.loads(metadata["vocabulary"])
    token = {word: index for index, word in enumerate(vocabulary["words"])}
    rows = [[token.get(word, vocabulary["unknown"]) for word in text.split()][-length:] for text in frame["text"]]
    return {"tokens": np.array([[0] * (length - len(row)) + row for row in rows], np.int64)}


def image_input(metadata, images):
    for step in json.loads(metadata["preprocessing"]):
        values = np.array(step["values"], np.float32).reshape(-1, 1, 1)
        images = images - values if step["step"] == "subtract_channel" else images / values
    return {"input": images}


def marks(cells, words):
    return np.array([[word in str(cell).split(";") for word in words] for cell in cells], float)


def regression_scores(target, value):
    return {"mae": metrics.mean_absolute_error(target, value), "r2": metrics.r2_score(target, value),
            "rmse": metrics.root_mean_squared_error(target, value)}


def label_scores(target, value):
    return {"mean_average_precision": metrics.average_precision_score(target, value, average="macro")}


def class_scores(target, value):
    return {"accuracy": metrics.accuracy_score(target, value)}


class Case:
    """What one of the runs learned, its rows and its split."""

    def __init__(self, folder, name, key):
        self.folder, self.name = folder, name
        self.frame = pd.read_csv(folder / f"{name}.csv", keep_default_na=name == "houses")
        eval_folder = folder / "runs" / name / "0001" / "eval"
        self.eval = json.loads((eval_folder / "eval.json").read_text())
        self.split = pd.read_csv(eval_folder / "predictions.csv", keep_default_na=False)
        names = list(self.frame[key]) if key else list(range(len(self.frame)))
        self.rows = [names.index(row) for row in self.split["name"]]
        self.others = sorted(set(range(len(self.frame))) - set(self.rows))
        self.predicted = pd.read_csv(folder / f"{name}_predictions.csv", keep_default_na=False)

    def session(self):
        session = onnxruntime.InferenceSession(str(self.folder / f"{self.name}.onnx"))
        return session, session.get_modelmeta().custom_metadata_map

    def judge(self, scores, target, value, own):
        """`own`: scikit-learn's values for the split."""
        print(f"{self.name}: {len(self.others)} rows of training, {len(self.rows)} of validation")
        for metric, found in scores(target, value).items():
            compare(f"{self.name} {metric}", self.eval[metric], found, 1e-5)
        ours, theirs = scores(target, value), scores(target, own)
        print("  " + ", ".join(f"{metric} {ours[metric]:.5g} (scikit-learn's model {theirs[metric]:.5g})" for metric in ours))

    def onnx(self, inputs, columns):
        session, _ = self.session()
        compare(f"{self.name} onnxruntime", session.run(None, inputs)[0], self.predicted[columns].to_numpy(), 1e-4)


def houses(folder):
    case = Case(folder, "houses", None)
    target = case.split["target_1"]
    compare("houses targets", target, case.frame["price"].iloc[case.rows].to_numpy(), 1e-5)
    numbers = ["rooms", "area", "age", "distance"]
    prepared = make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), numbers),
                                       (OneHotEncoder(handle_unknown="ignore"), ["quarter"]))
    scale = StandardScaler().fit(case.frame[["price"]].iloc[case.others])
    model = make_pipeline(prepared, MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=1000, early_stopping=True, random_state=1))
    model.fit(case.frame.iloc[case.others], scale.transform(case.frame[["price"]].iloc[case.others])[:, 0])
    own = scale.inverse_transform(model.predict(case.frame.iloc[case.rows])[:, None])[:, 0]
    case.judge(regression_scores, target, case.split["output_1"], own)
    case.onnx(table_input(case.session()[1], case.frame), ["price"])


def tickets(folder):
    case = Case(folder, "tickets", None)
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000))
    model.fit(case.frame["text"].iloc[case.others], case.frame["topic"].iloc[case.others])
    own = model.predict(case.frame["text"].iloc[case.rows])
    case.judge(class_scores, case.frame["topic"].iloc[case.rows], case.split["predicted"], own)
    session, metadata = case.session()
    length = session.get_inputs()[0].shape[1]
    names = json.loads(metadata["class_names"])
    output = session.run(None, text_input(metadata, case.frame, length))[0]
    picked = [names.index(name) for name in case.predicted["class"]]
    compare("tickets onnxruntime", output[range(len(output)), picked], case.predicted["probability"].to_numpy(), 1e-4)


def things(folder):
    case = Case(folder, "things", "image")
    images = images_of(folder, case.frame)
    words = ["circle", "cross", "square"]
    target = marks(case.frame["tags"].iloc[case.rows], words)
    compare("things targets", case.split[["target_1", "target_2", "target_3"]].to_numpy(), target, 0)
    model = RandomForestClassifier(300, random_state=1)
    flat = images.reshape(len(images), -1)
    model.fit(flat[case.others], marks(case.frame["tags"].iloc[case.others], words))
    own = np.stack([of[:, 1] for of in model.predict_proba(flat[case.rows])], 1)
    case.judge(label_scores, target, case.split[["output_1", "output_2", "output_3"]].to_numpy(), own)
    case.onnx(image_input(case.session()[1], images), words)


def dials(folder):
    case = Case(folder, "dials", "image")
    images = images_of(folder, case.frame)
    target = case.split["target_1"]
    compare("dials targets", target, case.frame["y"].iloc[case.rows].to_numpy(), 1e-5)
    flat = images.reshape(len(images), -1)
    model = RandomForestRegressor(100, random_state=1, max_features=0.1)
    model.fit(flat[case.others], case.frame["y"].iloc[case.others])
    case.judge(regression_scores, target, case.split["output_1"], model.predict(flat[case.rows]))
    case.onnx(image_input(case.session()[1], images), ["y"])


def main():
    folder = pathlib.Path(sys.argv[1])
    for judge in (houses, tickets, things, dials):
        judge(folder)
    print("all agree" if not bad else "differ: " + ", ".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
