#!/usr/bin/env python3
"""torchvision's RandomResizedCrop of images of 375 x 500 to 224 x 224 on one thread, as the peer of crop_speed
(tests/data/crop_speed.cpp): images per second of processor time, the best of five times 200. Needs torch and torchvision.
"""
import time

import numpy
import torch
import torchvision.transforms
import torchvision.transforms.v2
from PIL import Image

IMAGES, ROUNDS = 200, 5


def best_rate(crop, image):
    best = 0
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(IMAGES):
            crop(image)
        best = max(best, IMAGES / (time.process_time() - begin))
    return best


def main():
    torch.set_num_threads(1)
    pixels = ((numpy.arange(375 * 500 * 3) * 2654435761 >> 7) % 256).astype(numpy.uint8).reshape(375, 500, 3)
    forms = {"a PIL image": (torchvision.transforms, Image.fromarray(pixels)),
             "a uint8 tensor": (torchvision.transforms.v2, torch.from_numpy(pixels.transpose(2, 0, 1).copy()))}
    for form, (module, image) in forms.items():
        for mode in (torchvision.transforms.InterpolationMode.BILINEAR, torchvision.transforms.InterpolationMode.BICUBIC):
            rate = best_rate(module.RandomResizedCrop(224, interpolation=mode, antialias=True), image)
            print(f"{mode.value}, {form}: {rate:.0f} images/s")


if __name__ == "__main__":
    main()
