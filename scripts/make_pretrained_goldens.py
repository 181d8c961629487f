#!/usr/bin/env python3
"""Logits of torchvision's ResNets in float64, for tests/export/torchvision_resnets.yaml, and the same of timm's.

Weights and images come from Philox4x32-10 keyed by FNV-1a of their names (noise() of make_training_goldens.py), so
that none are stored; tests/export/pretrained_test.cpp makes the same ones, with the names of state_dict(). Exits with
an error if timm's network has other names or shapes, or other logits.

    make_pretrained_goldens.py > tests/export/torchvision_resnets.yaml
"""
import math
import sys

import numpy as np
import timm
import torch
import torchvision

from make_training_goldens import noise

CLASSES, IMAGES, SIZE = 5, 2, 224


def value_of(name, shape):
    """Bounds that keep activations near 1 through all units."""
    if name.endswith("running_var") or (len(shape) == 1 and name.endswith("weight")):
        return noise(name, shape) * 0.25 + 0.75
    bound = math.sqrt(3.0 / math.prod(shape[1:])) if len(shape) > 1 else 0.1
    return noise(name, shape) * bound


def weights_of(network):
    weights = network.state_dict()
    for name, tensor in weights.items():
        if tensor.is_floating_point():
            weights[name] = torch.tensor(value_of(name, tuple(tensor.shape)).astype(np.float32))
    return weights


def logits_of(network, weights, images):
    network.load_state_dict(weights)
    with torch.no_grad():
        return network.double().eval()(images)


def main():
    images = torch.tensor(noise("images", (IMAGES, 3, SIZE, SIZE)))
    images[1] *= 4
    print("# Made by scripts/make_pretrained_goldens.py")
    print(f"# torch {torch.__version__}, torchvision {torchvision.__version__}, timm {timm.__version__}")
    for depth in (18, 34, 50):
        network = getattr(torchvision.models, f"resnet{depth}")(num_classes=CLASSES)
        weights = weights_of(network)
        logits = logits_of(network, weights, images)
        other = timm.create_model(f"resnet{depth}", num_classes=CLASSES)
        if not torch.equal(logits, logits_of(other, weights, images)):
            sys.exit(f"timm's resnet{depth} gives other logits")
        print(f"ResNet-{depth}:")
        for row in logits.tolist():
            print("  - [" + ", ".join(repr(value) for value in row) + "]")


if __name__ == "__main__":
    main()
