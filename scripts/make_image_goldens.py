#!/usr/bin/env python3
"""Writes tests/data/images/: small JPEG, WebP and GIF files, what Pillow decodes them to, and Pillow's resized forms,
as PNG.

Needs Pillow 9 to 12, which give the same pixels. What Pillow gives is what tests/data/jpeg_test.cpp,
tests/data/image_formats_test.cpp and tests/data/image_resize_test.cpp expect, bit for bit. Pillow 13 rounds those of tall images otherwise, which noise_17x13.png
shows.
"""

import pathlib
import struct
import sys

import PIL
from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/data/images"


def drawn(width, height):
    """Gradients, an edge and a fine pattern, so that every error of a pixel shows."""
    image = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            edge = 90 if (x - width // 3) ** 2 + (y - height // 2) ** 2 < (height // 3) ** 2 else 0
            image.putpixel((x, y), ((4 * x + edge) % 256, (5 * y + 7 * (x % 2)) % 256, (3 * (x + y) + edge) % 256))
    return image


def save_decoded(path):
    """What Pillow decodes a file to, its first image."""
    decoded = Image.open(path)
    decoded.convert("L" if decoded.mode == "L" else "RGB").save(path.with_suffix(".png"), optimize=True)


def save(image, name, **options):
    path = FOLDER / f"{name}.jpg"
    image.save(path, quality=85, **options)
    save_decoded(path)


def save_webp():
    image = drawn(37, 23)
    clear = image.copy()
    clear.putalpha(Image.frombytes("L", image.size, bytes(7 * i % 256 for i in range(37 * 23))))
    more = [image.rotate(180), image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    image.save(FOLDER / "webp_lossy.webp", quality=80)
    image.save(FOLDER / "webp_lossless.webp", lossless=True)
    clear.save(FOLDER / "webp_alpha.webp", quality=70)
    clear.save(FOLDER / "webp_alpha_lossless.webp", lossless=True, exact=True)
    image.save(FOLDER / "webp_animated.webp", save_all=True, append_images=more, quality=60)
    for path in FOLDER.glob("webp_*.webp"):
        save_decoded(path)


def placed(gif, left, top, width, height, control):
    """The GIF with its image at (left, top) of a larger one; `control` is a block before it."""
    at = 13 + 3 * (2 << (gif[10] & 7))
    return gif[:6] + struct.pack("<HH", width, height) + gif[10:at] + control + b"," + struct.pack("<HH", left, top) + gif[at + 5 :]


def save_gif():
    image = drawn(37, 23).quantize(32)
    image.save(FOLDER / "gif_plain.gif", interlace=0)
    image.save(FOLDER / "gif_interlaced.gif", interlace=1)
    image.save(FOLDER / "gif_transparent.gif", transparency=5)
    image.save(FOLDER / "gif_animated.gif", save_all=True, append_images=[image.rotate(180)])
    plain = (FOLDER / "gif_plain.gif").read_bytes()
    (FOLDER / "gif_placed.gif").write_bytes(placed(plain, 3, 4, 50, 40, b""))
    (FOLDER / "gif_placed_transparent.gif").write_bytes(placed(plain, 3, 4, 50, 40, b"!\xf9\4\1\0\0\7\0"))
    for path in FOLDER.glob("gif_*.gif"):
        save_decoded(path)


def noise(width, height):
    """Of a linear congruential generator."""
    values = []
    state = 1
    for _ in range(3 * width * height):
        state = (1664525 * state + 1013904223) % 2**32
        values.append(state >> 24)
    return Image.frombytes("RGB", (width, height), bytes(values))


def save_resized():
    """Resized with each filter, smaller and larger; and after a decoding at a part of the size."""
    image = Image.open(FOLDER / "chroma_420.jpg").convert("RGB")
    filters = {
        "box": Image.Resampling.BOX,
        "bilinear": Image.Resampling.BILINEAR,
        "bicubic": Image.Resampling.BICUBIC,
        "lanczos": Image.Resampling.LANCZOS,
    }
    for name, number in filters.items():
        for width, height in ((29, 20), (71, 52)):
            resized = image.resize((width, height), number)
            resized.save(FOLDER / f"{name}_{width}x{height}.png", optimize=True)
    image = noise(31, 60)
    image.save(FOLDER / "noise.png", optimize=True)
    image.resize((17, 13), Image.Resampling.BILINEAR).save(FOLDER / "noise_17x13.png", optimize=True)
    large = Image.open(FOLDER / "large.jpg")
    large.draft("RGB", (2 * 40, 2 * 25))
    large.convert("RGB").resize((40, 25), Image.Resampling.BILINEAR).save(FOLDER / "large_40x25.png", optimize=True)


def main():
    if not 9 <= int(PIL.__version__.split(".")[0]) <= 12:
        sys.exit(f"make_image_goldens.py: needs Pillow 9 to 12, found {PIL.__version__}")
    FOLDER.mkdir(exist_ok=True)
    image = drawn(67, 45)
    save(image, "chroma_420", subsampling="4:2:0")
    save(image, "chroma_422", subsampling="4:2:2")
    save(image, "chroma_444", subsampling="4:4:4")
    save(image, "progressive", subsampling="4:2:0", progressive=True)
    save(image.convert("L"), "grey")
    save(image.convert("CMYK"), "cmyk")
    drawn(330, 210).save(FOLDER / "large.jpg", quality=60, subsampling="4:2:0")
    save_webp()
    save_gif()
    save_resized()


if __name__ == "__main__":
    main()
