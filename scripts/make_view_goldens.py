#!/usr/bin/env python3
"""Means over views in PyTorch float64, for tests/inference/views.yaml: of a product with random weights, over an image
and its mirror image and over airbench's six views (infer_mirror_translate of airbench94.py, Jordan 2024).

Images and weights are noise() of make_training_goldens.py; tests/inference/views_test.cpp makes the same ones.

    make_view_goldens.py > tests/inference/views.yaml
"""
import torch
import torch.nn.functional as F

from make_training_goldens import noise

SHAPE, OUTPUTS = (2, 3, 5, 4), 3


def flip(x, net):
    return 0.5 * net(x) + 0.5 * net(x.flip(-1))


def shifts(x, net):
    padded = F.pad(x, (1, 1, 1, 1), "reflect")
    shifted = [padded[:, :, at:at + SHAPE[2], at:at + SHAPE[3]] for at in (0, 2)]
    return 0.5 * flip(x, net) + 0.5 * torch.stack([flip(view, net) for view in shifted]).mean(0)


def main():
    images = torch.tensor(noise("views.images", SHAPE))
    weights = torch.tensor(noise("views.weights", (OUTPUTS, SHAPE[1] * SHAPE[2] * SHAPE[3])))
    print("# Made by scripts/make_view_goldens.py")
    for name, mean in (("flip", flip), ("shifts", shifts)):
        values = mean(images, lambda x: x.flatten(1) @ weights.t())
        print(f"{name}: [{', '.join(repr(value) for value in values.flatten().tolist())}]")


if __name__ == "__main__":
    main()
