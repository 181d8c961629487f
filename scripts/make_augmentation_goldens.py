#!/usr/bin/env python3
"""Writes tests/data/goldens/: augmented images by the formulas of Keras 2.1.6 and PyTorch.

Keras's are those of keras/preprocessing/image.py at 2.1.6, written out here over numpy and scipy, with the random numbers
replaced by fixed parameters. Needs numpy, scipy and torch. tests/data/augmentation_golden_test.cpp makes the same images.
"""
import pathlib

import numpy as np
import scipy.ndimage
import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/data/goldens"
CHANNELS, HEIGHT, WIDTH = 2, 7, 10

# Names of the fill rules, and the modes of scipy that extend the image by them and then sample it.
MODES = {"nearest": "nearest", "reflect": "reflect", "wrap": "grid-wrap", "constant": "grid-constant", "mirror": "mirror"}
CVAL = 7.0


def image(channels=CHANNELS, height=HEIGHT, width=WIDTH):
    """Bytes [c, h, w] without any symmetry; the test has the same formula."""
    c, y, x = np.meshgrid(np.arange(channels), np.arange(height), np.arange(width), indexing="ij")
    return ((17 * c + 5 * y + 11 * x + x * y * (c + 3)) ** 2 % 251).astype(np.float64)


def written(array):
    return "[" + ", ".join(np.format_float_positional(v, precision=6, trim="-") for v in np.asarray(array).ravel()) + "]"


def keras_matrix(rotate, shift, shear, zoom):
    theta, angle = np.deg2rad(rotate), np.deg2rad(shear)
    rotation = np.array([[np.cos(theta), -np.sin(theta), 0], [np.sin(theta), np.cos(theta), 0], [0, 0, 1]])
    moved = np.array([[1, 0, shift[0]], [0, 1, shift[1]], [0, 0, 1]])
    sheared = np.array([[1, -np.sin(angle), 0], [0, np.cos(angle), 0], [0, 0, 1]])
    zoomed = np.array([[zoom[0], 0, 0], [0, zoom[1], 0], [0, 0, 1]])
    return rotation @ moved @ sheared @ zoomed


def keras_warp(x, matrix, mode, order):
    """transform_matrix_offset_center and apply_transform; order was 0 before 2018-02-12 (keras #8849), then 1."""
    o_y, o_x = float(x.shape[1]) / 2 + 0.5, float(x.shape[2]) / 2 + 0.5
    offset = np.array([[1, 0, o_y], [0, 1, o_x], [0, 0, 1]])
    reset = np.array([[1, 0, -o_y], [0, 1, -o_x], [0, 0, 1]])
    matrix = offset @ matrix @ reset
    return np.stack([
        scipy.ndimage.affine_transform(channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=mode, cval=CVAL)
        for channel in x
    ])


def warps():
    cases = [
        ("rotation", 31.0, (0, 0), 0.0, (1, 1)),
        ("shear", 0.0, (0, 0), 17.0, (1, 1)),
        ("zoom", 0.0, (0, 0), 0.0, (0.7, 1.3)),
        ("all four", -23.0, (1.7, -2.4), 12.0, (1.15, 0.85)),
    ]
    for name, rotate, shift, shear, zoom in cases:
        for fill, mode in MODES.items():
            for order, interpolation in enumerate(("nearest", "bilinear")):
                out = keras_warp(image(), keras_matrix(rotate, shift, shear, zoom), mode, order)
                yield (f"- {{name: {name}, rotate: {rotate}, shift: [{shift[0]}, {shift[1]}], shear: {shear}, "
                       f"zoom: [{zoom[0]}, {zoom[1]}], fill: {fill}, interpolation: {interpolation},\n   out: {written(out)}}}")


def resizes():
    for height, width in ((5, 6), (7, 10), (16, 13), (3, 21)):
        out = torch.nn.functional.interpolate(
            torch.from_numpy(image())[None], size=(height, width), mode="bilinear", align_corners=False)[0]
        yield f"- {{size: [{height}, {width}], out: {written(out.numpy())}}}"


def write(name, rows):
    (FOLDER / name).write_text("# Made by scripts/make_augmentation_goldens.py.\n" + "\n".join(rows) + "\n")


def main():
    FOLDER.mkdir(exist_ok=True)
    write("warps.yaml", warps())
    write("resizes.yaml", resizes())


if __name__ == "__main__":
    main()
