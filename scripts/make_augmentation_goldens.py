#!/usr/bin/env python3
"""Writes tests/data/goldens/: augmented images by the formulas of Keras 2.1.6 and by PyTorch.

Keras's are those of keras/preprocessing/image.py at 2.1.6, written out here over numpy and scipy, with the random numbers
replaced by fixed parameters; MXNet's HLS jitter is OpenCV's scalar code, written out in float32. Needs numpy, scipy,
Pillow, torch and torchvision. tests/data/augmentation_golden_test.cpp makes the same images.
"""
import itertools
import pathlib
import unittest.mock

import numpy as np
import scipy.ndimage
import torch
import torchvision.transforms
from PIL import Image, ImageEnhance

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
    return "[" + ", ".join(np.format_float_positional(v, precision=8, trim="-") for v in np.asarray(array).ravel()) + "]"


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


def philox(key, counter):
    """Philox4x32-10: the words that src/base/philox.h gives for the same key and counter."""
    low, high, c = 0xFFFFFFFF, list(key), list(counter)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ high[0], b & low, a >> 32 ^ c[3] ^ high[1], a & low]
        high = [high[0] + 0x9E3779B9 & low, high[1] + 0xBB67AE85 & low]
    return c


def augment_words(index, call):
    """augment_words() of src/data/augment/draws.h for seed 5, epoch 1, this sample and place 2 of the list."""
    return philox((5, 3 << 24), (index, 0, 1, 2 + (call << 16)))


def with_words(index, draw):
    """draw() with torch's random numbers replaced: of each try an area, an aspect ratio and a place."""
    words = (word for call in range(11) for word in augment_words(index, call))
    drawn = []

    def unit():
        drawn.append(next(words))
        return drawn[-1]

    def uniform_(self, low, high):
        while len(drawn) % 4 >= 2:  # a try that did not fit drew no place
            unit()
        return self.fill_(low + (high - low) * (unit() >> 8) / 2**24)

    def randint(low, high, size):
        return torch.tensor([low + ((high - low) * unit() >> 32)])

    with unittest.mock.patch.object(torch.Tensor, "uniform_", uniform_), unittest.mock.patch.object(torch, "randint", randint):
        return draw()


def crops():
    """torchvision's windows, stretched by scipy; inside of a window torchvision's resize gives the same."""
    cases = [
        (7, 10, (5, 6), (0.08, 1), (3 / 4, 4 / 3)),
        (7, 10, (9, 4), (0.2, 0.5), (0.5, 2)),
        (12, 5, (6, 6), (0.9, 1), (3 / 4, 4 / 3)),  # no try fits
        (4, 13, (3, 3), (0.9, 1), (3 / 4, 4 / 3)),
    ]
    for height, width, size, scale, ratio in cases:
        x = image(height=height, width=width)
        for index in range(4):
            y0, x0, h, w = with_words(
                index, lambda: torchvision.transforms.RandomResizedCrop.get_params(torch.from_numpy(x), scale, ratio))
            by = np.array([h / size[0], w / size[1]])
            offset = np.array([y0, x0]) + 0.5 * by - 0.5
            out = np.stack([
                scipy.ndimage.affine_transform(c, np.diag(by), offset, output_shape=size, order=1, mode="nearest") for c in x
            ])
            vision = torch.nn.functional.interpolate(
                torch.from_numpy(x[None, :, y0:y0 + h, x0:x0 + w]), size=size, mode="bilinear", align_corners=False)[0].numpy()
            places = [np.arange(n) * b + 0.5 * b - 0.5 for n, b in zip(size, by)]
            inside = np.outer(*[(p >= 0) & (p <= s - 1) for p, s in zip(places, (h, w))])
            assert np.abs(out - vision)[:, inside].max(initial=0) < 1e-9
            yield (f"- {{image: [{height}, {width}], size: {list(size)}, scale: {list(scale)}, ratio: {list(ratio)}, index: {index},\n"
                   f"   window: [{y0}, {x0}, {h}, {w}], out: {written(out)}}}")


def filtered_crops():
    """torchvision's RandomResizedCrop of PIL images, byte by byte; no filter reads outside the window."""
    modes = {name: getattr(torchvision.transforms.InterpolationMode, name.upper()) for name in ("box", "bilinear", "bicubic")}
    cases = [(3, 19, 23, (7, 6), (0.3, 1)), (1, 12, 9, (15, 11), (0.08, 0.6)), (3, 4, 31, (3, 3), (0.9, 1))]
    for (name, mode), (channels, height, width, size, scale), index in itertools.product(modes.items(), cases, range(2)):
        x = image(channels, height, width).astype(np.uint8)
        y0, x0, h, w = with_words(index, lambda: torchvision.transforms.RandomResizedCrop.get_params(
            torch.from_numpy(x), scale, (3 / 4, 4 / 3)))
        picture = Image.fromarray(x[0] if channels == 1 else x.transpose(1, 2, 0))
        cut = torchvision.transforms.functional.resized_crop(picture, y0, x0, h, w, size, mode)
        out = np.atleast_3d(np.asarray(cut)).transpose(2, 0, 1)
        yield (f"- {{augment: {{random_resized_crop: {{size: {list(size)}, scale: {list(scale)}, filter: {name}}}}},\n"
               f"   image: [{channels}, {height}, {width}], index: {index}, out: \"{out.tobytes().hex()}\"}}")


def erasings():
    cases = [
        ((0.02, 0.33), (0.3, 3.3), [7.0]),
        ((0.3, 0.6), (0.5, 2), [1.5, 0.0, 250.0]),
        ((0.9, 1), (0.9, 1.1), [7.0]),  # no try fits
    ]
    for scale, ratio, value in cases:
        x = torch.from_numpy(image(3))
        for index in range(4):
            y0, x0, h, w, v = with_words(
                index, lambda: torchvision.transforms.RandomErasing.get_params(x, scale, ratio, value))
            out = torchvision.transforms.functional.erase(x, y0, x0, h, w, v)
            yield (f"- {{scale: {list(scale)}, ratio: {list(ratio)}, value: {value}, index: {index}, out: {written(out.numpy())}}}")


def keras_channel_shift(x, amounts):
    return np.stack([np.clip(channel + np.float32(a), x.min(), x.max()) for channel, a in zip(x, amounts)])


def keras_brightness(x, factor):
    """array_to_img with its scaling, ImageEnhance.Brightness, img_to_array."""
    x = x + max(-x.min(), np.float32(0))
    x /= x.max()
    x *= np.float32(255)
    image = Image.fromarray(x.transpose(1, 2, 0).astype("uint8"))
    return np.asarray(ImageEnhance.Brightness(image).enhance(factor)).transpose(2, 0, 1)


def to_hls(r, g, b):
    """OpenCV's RGB2HLS_b of one pixel: the hue in 0..180, all rounded."""
    f = np.float32
    r, g, b = (f(v) * (f(1) / f(255)) for v in (r, g, b))
    vmax, vmin = max(r, g, b), min(r, g, b)
    diff, lightness, h, s = vmax - vmin, (vmax + vmin) * f(0.5), f(0), f(0)
    if diff > np.finfo(np.float32).eps:
        s = diff / (vmax + vmin) if lightness < f(0.5) else diff / (f(2) - vmax - vmin)
        diff = f(60) / diff
        h = (g - b) * diff if vmax == r else (b - r) * diff + f(120) if vmax == g else (r - g) * diff + f(240)
        if h < 0:
            h += f(360)
    return [int(np.clip(np.rint(v), 0, 255)) for v in (h * f(0.5), lightness * f(255), s * f(255))]


def from_hls(h, lightness, s):
    """OpenCV's HLS2RGB_b of one pixel."""
    f = np.float32
    h, lightness, s = f(h), f(lightness) * (f(1) / f(255)), f(s) * (f(1) / f(255))
    if s == 0:
        r = g = b = lightness
    else:
        p2 = lightness * (f(1) + s) if lightness <= f(0.5) else lightness + s - lightness * s
        p1 = f(2) * lightness - p2
        h *= f(6) / f(180)
        if h >= 6:
            h -= f(6)
        sector = int(np.floor(h))
        h -= f(sector)
        tab = [p2, p1, p1 + (p2 - p1) * (f(1) - h), p1 + (p2 - p1) * h]
        b, g, r = (tab[i] for i in [(1, 3, 0), (1, 0, 2), (3, 0, 1), (0, 2, 1), (0, 1, 3), (2, 1, 0)][sector])
    return [int(np.clip(np.rint(v * f(255)), 0, 255)) for v in (r, g, b)]


def mxnet_hls(x, offsets):
    out = np.empty_like(x)
    for y in range(x.shape[1]):
        for i in range(x.shape[2]):
            hls = [max(0, min(most, v + o)) for v, o, most in zip(to_hls(*x[:, y, i]), offsets, (180, 255, 255))]
            out[:, y, i] = from_hls(*hls)
    return out


def colours():
    x = image(3).astype(np.float32)
    unit = torch.from_numpy(x / 255)
    vision = torchvision.transforms.functional
    for amounts in ((30.5, -20.25, 7.0), (-90.0, 90.0, 0.0)):
        yield f"- {{kind: shift_channels, amount: {list(amounts)}, out: {written(keras_channel_shift(x, amounts))}}}"
    for factor in (0.5, 1.0, 1.3):
        yield f"- {{kind: stretch, amount: [{factor}], out: {written(keras_brightness(x, factor))}}}"
    for offsets in ((0, 0, 0), (30, -20, 40), (-36, 50, -50), (17, 0, -255)):
        yield f"- {{kind: shift_hls, amount: {list(offsets)}, out: {written(mxnet_hls(x, offsets))}}}"
    for factor in (0.6, 1.4):
        for kind in ("brightness", "contrast", "saturation"):
            out = getattr(vision, f"adjust_{kind}")(unit, factor) * 255
            yield f"- {{kind: {kind}, amount: [{factor}], out: {written(out.numpy())}}}"
    for factor in (-0.4, 0.1, 0.5):
        yield f"- {{kind: hue, amount: [{factor}], out: {written((vision.adjust_hue(unit, factor) * 255).numpy())}}}"


def uniform01(word):
    return (word >> 8) / 2**24


def cutout(x, words, size, value):
    """The square of DeVries and Taylor's Cutout; its centre is a pixel drawn by words 0 (y) and 1 (x)."""
    (y0, y1), (x0, x1) = [(max(first, 0), min(first + size, side)) for side, first in
                          ((side, (side * word >> 32) - size // 2) for side, word in zip(x.shape[1:], words))]
    out = x.copy()
    out[:, y0:y1, x0:x1] = value
    return out


def solarize(x, words, threshold, probability):
    """torchvision's functional_tensor.solarize."""
    return np.where((x >= threshold) & (uniform01(words[0]) < probability), 255 - x, x)


def posterize(x, words, bits, probability):
    """torchvision's functional_tensor.posterize."""
    kept = x.astype(np.uint8) & np.uint8(256 - 2 ** (8 - bits))
    return kept if uniform01(words[0]) < probability else x


def blended(first, second, factor):
    """Pillow's Image.blend, in float32 and rounded down."""
    first, second = first.astype(np.float32), second.astype(np.float32)
    return np.floor(np.clip(first + np.float32(factor) * (second - first), 0, 255)).astype(np.int64)


def grey(x):
    """Pillow's convert("L"), in every channel."""
    r, g, b = x[0], x[len(x) // 2], x[-1]
    return np.broadcast_to(19595 * r + 38470 * g + 7471 * b + 32768 >> 16, x.shape)


def sharpness(x, factor):
    """ImageEnhance.Sharpness over ImageFilter.SMOOTH."""
    smooth = x.copy()
    height, width = x.shape[1:]
    windows = [x[:, y:height - 2 + y, i:width - 2 + i] for y in range(3) for i in range(3)]
    smooth[:, 1:-1, 1:-1] = (2 * (sum(windows) + 4 * windows[4]) + 13) // 26
    return blended(smooth, x, factor)


def autocontrast(x):
    """ImageOps.autocontrast."""
    out = x.copy()
    for channel in out:
        low, high = channel.min(), channel.max()
        if high > low:
            scale = 255.0 / (high - low)
            channel[:] = np.clip((channel * scale + -low * scale).astype(np.int64), 0, 255)
    return out


def equalize(x):
    """ImageOps.equalize."""
    out = x.copy()
    for channel in out:
        counts = np.bincount(channel.ravel(), minlength=256)
        step = (counts.sum() - counts[channel.max()]) // 255
        if step > 0:
            below = np.concatenate([[0], np.cumsum(counts)[:-1]])
            channel[:] = np.minimum((step // 2 + below) // step, 255)[channel]
    return out


def moved(x, matrix):
    """Image.transform by an affine map, nearest, with 0 outside: places in 2^-16 pixels."""
    a, b, c, d, e, f = matrix
    fixed = lambda v: int(np.floor(v * 65536 + 0.5))
    height, width = x.shape[1:]
    row, column = np.mgrid[0:height, 0:width]
    at_x = column * fixed(a) + row * fixed(b) + fixed(c + a * 0.5 + b * 0.5) >> 16
    at_y = column * fixed(d) + row * fixed(e) + fixed(f + d * 0.5 + e * 0.5) >> 16
    inside = (at_x >= 0) & (at_x < width) & (at_y >= 0) & (at_y < height)
    return np.where(inside, x[:, np.clip(at_y, 0, height - 1), np.clip(at_x, 0, width - 1)], 0)


def rotated(x, degrees):
    """Image.rotate about the centre."""
    cosine, sine = (round(float(f(-np.deg2rad(degrees))), 15) for f in (np.cos, np.sin))
    y, i = x.shape[1] / 2, x.shape[2] / 2
    return moved(x, (cosine, sine, -cosine * i - sine * y + i, -sine, cosine, sine * i - cosine * y + y))


def operations(x):
    """By torchvision's names and in its order: the change by a magnitude, the magnitudes of the first and the last bin of
    TrivialAugmentWide and of RandAugment, and whether they are signed."""
    height, width = x.shape[1:]
    mean = lambda: np.broadcast_to(int(grey(x)[0].mean() + 0.5), x.shape)
    return {
        "Identity": (lambda m: x, (0, 0), (0, 0), False),
        "ShearX": (lambda m: moved(x, (1, m, 0, 0, 1, 0)), (0, 0.99), (0, 0.3), True),
        "ShearY": (lambda m: moved(x, (1, 0, 0, m, 1, 0)), (0, 0.99), (0, 0.3), True),
        "TranslateX": (lambda m: moved(x, (1, 0, -int(m), 0, 1, 0)), (0, 32), (0, 150 / 331 * width), True),
        "TranslateY": (lambda m: moved(x, (1, 0, 0, 0, 1, -int(m))), (0, 32), (0, 150 / 331 * height), True),
        "Rotate": (lambda m: rotated(x, m), (0, 135), (0, 30), True),
        "Brightness": (lambda m: blended(0 * x, x, 1 + m), (0, 0.99), (0, 0.9), True),
        "Color": (lambda m: blended(grey(x), x, 1 + m), (0, 0.99), (0, 0.9), True),
        "Contrast": (lambda m: blended(mean(), x, 1 + m), (0, 0.99), (0, 0.9), True),
        "Sharpness": (lambda m: sharpness(x, 1 + m), (0, 0.99), (0, 0.9), True),
        "Posterize": (lambda m: x & 256 - 2 ** (8 - round(m)), (8, 2), (8, 4), False),
        "Solarize": (lambda m: np.where(x >= m, 255 - x, x), (255, 0), (255, 0), False),
        "AutoContrast": (lambda m: autocontrast(x), (0, 0), (0, 0), False),
        "Equalize": (lambda m: equalize(x), (0, 0), (0, 0), False),
    }


def operated(x, words, policy, bin_):
    """One operation of a policy: 1 TrivialAugmentWide, 2 RandAugment."""
    operation = list(operations(x).values())[14 * words[0] >> 32]
    first, last = (np.float32(end) for end in operation[policy])
    step = (last - first) / np.float32(30)
    # torch.linspace with fused multiply-adds: exact in double, then rounded.
    double = np.float64
    exact = double(step) * bin_ + double(first) if bin_ < 15 else double(last) - double(step) * (30 - bin_)
    magnitude = double(np.float32(exact))
    return operation[0](-magnitude if operation[3] and words[2] >> 31 else magnitude)


def trivial_augment(x, words):
    return operated(x, words(0), 1, 31 * words(0)[1] >> 32)


def rand_augment(x, words, n, magnitude):
    for call in range(n):
        x = operated(x, words(call), 2, magnitude)
    return x


def cifar10_policy(change, index):
    """torchvision's AutoAugment for CIFAR-10 with the words of draws 0 and 1: the pair, both probabilities; both signs."""
    words = [augment_words(index, call) for call in (0, 1)]
    randint = lambda high, size, dtype=None: torch.tensor([high * word >> 32 for word in (words[0][:1] if high == 25 else words[1][:2])])
    rand = lambda size: torch.tensor([uniform01(word) for word in words[0][1:3]])
    with unittest.mock.patch.object(torch, "randint", randint), unittest.mock.patch.object(torch, "rand", rand):
        return change()


def auto_augment(index):
    vision = torchvision.transforms
    policy = vision.AutoAugment(vision.AutoAugmentPolicy.CIFAR10)
    return lambda x, words: cifar10_policy(
        lambda: np.asarray(policy(Image.fromarray(x.astype(np.uint8).transpose(1, 2, 0)))).transpose(2, 0, 1), index)


def gaussian_blur(x, words, size, low, high):
    """torchvision's GaussianBlur in double."""
    sigma = np.float32(low + (high - low) * uniform01(words[1]))
    weights = np.exp(-0.5 * ((np.arange(size) - size // 2) / np.float64(sigma)) ** 2)
    mean = x.astype(np.float64)
    for axis in (1, 2):
        mean = scipy.ndimage.correlate1d(mean, weights / weights.sum(), axis, mode="mirror")
    assert np.abs(mean % 1 - 0.5).min() > 1e-4
    return np.rint(mean)


def with_probability(change, p=0.5):
    return lambda x, words: change(x) if uniform01(words(0)[0]) < p else x


def require_torchvision():
    """The formulas of bytes are those of torchvision's PIL form, on images of noise of several ranges."""
    vision = torchvision.transforms
    random = np.random.default_rng(0)

    def pil(change, x):
        out = np.asarray(change(Image.fromarray(x.astype(np.uint8).transpose(1, 2, 0))))
        return out.transpose(2, 0, 1)

    def by_words(policy, x, index):
        calls = iter(range(99))
        call = 0

        def randint(high, size, dtype=None):
            nonlocal call
            call = next(calls) if high == 14 else call
            return torch.tensor([high * augment_words(index, call)[{14: 0, 31: 1, 2: 2}[high]] >> 32])

        with unittest.mock.patch.object(torch, "randint", randint):
            return pil(policy, x)

    for index in range(200):
        height, width = random.integers(16, 48, 2)
        x = random.integers(0, 40) + random.integers(0, random.integers(2, 216), (3, height, width))
        words = lambda call: augment_words(index, call)
        same = [(trivial_augment(x, words), by_words(vision.TrivialAugmentWide(), x, index)),
                (rand_augment(x, words, 2, 9), by_words(vision.RandAugment(2, 9), x, index)),
                (rand_augment(x, words, 3, 27), by_words(vision.RandAugment(3, 27), x, index)),
                (sharpness(x, 1.7), pil(lambda p: vision.functional.adjust_sharpness(p, 1.7), x)),
                (equalize(x), pil(vision.functional.equalize, x)),
                (autocontrast(x), pil(vision.functional.autocontrast, x)),
                (grey(x), pil(vision.Grayscale(3), x)),
                (255 - x, pil(vision.functional.invert, x))]
        assert all(np.array_equal(*pair) for pair in same), index


def augmentations():
    """Entries of a run file's `augment` applied to samples of image(3): bytes, in hexadecimal digits."""
    small, large = (7, 10), (15, 18)  # no channel of fewer than 255 pixels is equalized
    cases = [
        ("cutout: {size: 4, value: 9}", small, 4, lambda x, words: cutout(x, words(0), 4, 9)),
        ("solarize: {threshold: 100}", small, 4, lambda x, words: solarize(x, words(0), 100, 0.5)),
        ("posterize: {bits: 3}", small, 4, lambda x, words: posterize(x, words(0), 3, 0.5)),
        ("sharpness: 1.7", small, 4, with_probability(lambda x: sharpness(x, 1.7))),
        ("equalize: {}", large, 4, with_probability(equalize)),
        ("autocontrast: {}", small, 4, with_probability(autocontrast)),
        ("invert: {}", small, 4, with_probability(lambda x: 255 - x)),
        ("grayscale: {probability: 0.5}", small, 4, with_probability(grey)),
        ("gaussian_blur: {size: 5, sigma: [0.3, 1.5]}", small, 4, lambda x, words: gaussian_blur(x, words(0), 5, 0.3, 1.5)),
        ("trivial_augment: {}", large, 14, trivial_augment),
        ("rand_augment: {n: 3, magnitude: 11}", large, 6, lambda x, words: rand_augment(x, words, 3, 11)),
    ]
    cases += [("auto_augment: {}", large, 40, auto_augment)]
    for entry, size, samples, change in cases:
        for index in range(samples):
            x = image(3, *size).astype(np.int64)
            out = (change(index) if change is auto_augment else change)(x, lambda call: augment_words(index, call))
            digits = out.astype(np.uint8).tobytes().hex()
            yield f"- {{augment: {{{entry}}}, image: {list(size)}, index: {index}, out: \"{digits}\"}}"


def zca():
    """fit() with featurewise_center and zca_whitening, and standardize() of the first sample."""
    samples = np.stack([(image(2, 2, 3) * (n * n + 3) + 31 * n) % 253 for n in range(40)])
    x = samples - samples.mean(axis=(0, 2, 3), keepdims=True)
    flat = x.reshape(len(x), -1)
    u, s, _ = np.linalg.svd(flat.T @ flat / len(flat))
    matrix = (u / np.sqrt(s + 0.1)) @ u.T
    return [f"samples: {written(samples)}", f"matrix: {written(matrix)}", f"whitened: {written(flat[0] @ matrix)}"]


def write(name, rows):
    (FOLDER / name).write_text("# Made by scripts/make_augmentation_goldens.py.\n" + "\n".join(rows) + "\n")


def main():
    require_torchvision()
    FOLDER.mkdir(exist_ok=True)
    write("warps.yaml", warps())
    write("resizes.yaml", resizes())
    write("crops.yaml", crops())
    write("filtered_crops.yaml", filtered_crops())
    write("erasings.yaml", erasings())
    write("colours.yaml", colours())
    write("augmentations.yaml", augmentations())
    write("zca.yaml", zca())


if __name__ == "__main__":
    main()
