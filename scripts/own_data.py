#!/usr/bin/env python3
"""Writes four small sets of a user's own data, for docs/own_data.md: the same bytes for the same Python.

    own_data.py FOLDER

houses.csv   900 houses: rooms, area, age, distance, quarter (one of four), some areas missing; price
tickets.csv  900 texts of 6 to 14 words; topic, one of three
things.csv   800 images of 32x32 in things/: tags, any of circle, cross and square
dials.csv    800 images of 32x32 in dials/: y, the share of a dial that its hand has gone
"""
import csv
import math
import pathlib
import random
import struct
import sys
import zlib

SIDE = 32


def write_table(path, columns, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def write_png(path, pixels):
    """pixels: rows of (red, green, blue)."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    lines = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in pixels)
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) +
                     chunk(b"IEND", b""))


def house(draw):
    rooms, age = draw.randint(1, 8), draw.randint(0, 90)
    area = round(25 * rooms * draw.uniform(0.7, 1.3) + 10, 1)
    distance = round(draw.uniform(0.2, 25), 1)
    quarter = draw.choice(["east", "north", "old town", "west"])
    worth = {"east": 0.9, "north": 1.0, "old town": 1.5, "west": 1.1}[quarter]
    price = (30 + 2.1 * area + 12 * rooms - 1.3 * age) * worth * (1 - 0.015 * distance) * draw.gauss(1, 0.05)
    return [rooms, "" if draw.random() < 0.04 else area, age, distance, quarter, round(1000 * price)]


COMMON = "the a my it is was again today since please could you we with after two days still order number".split()
TOPICS = {"delivery": "parcel courier late address arrived door shipped waiting tracking box".split(),
          "payment": "invoice card charged refund bank twice amount paid receipt price".split(),
          "returns": "broken exchange size return label wrong colour defect replacement torn".split()}


def ticket(draw):
    topic = draw.choice(sorted(TOPICS))
    other = draw.choice(sorted(TOPICS))
    words = draw.choices(COMMON, k=draw.randint(4, 10)) + draw.choices(TOPICS[topic], k=2)
    words += draw.choices(TOPICS[other], k=draw.randint(0, 2))
    draw.shuffle(words)
    return [" ".join(words), topic]


def empty_image(draw):
    ground = draw.randint(120, 255)
    return [[tuple(max(0, min(255, ground + draw.randint(-25, 25))) for _ in range(3)) for _ in range(SIDE)]
            for _ in range(SIDE)]


INSIDE = {"circle": lambda x, y, r: x * x + y * y <= r * r,
          "cross": lambda x, y, r: (abs(x) <= r / 3 or abs(y) <= r / 3) and max(abs(x), abs(y)) <= r,
          "square": lambda x, y, r: max(abs(x), abs(y)) <= 0.85 * r}


def things_image(draw, path):
    pixels = empty_image(draw)
    tags = [name for name in sorted(INSIDE) if draw.random() < 0.5]
    places = draw.sample([(8, 8), (24, 8), (8, 24), (24, 24)], len(tags))
    for name, (cx, cy) in zip(tags, places):
        radius, colour = draw.uniform(2.5, 5), tuple(draw.randint(60, 150) for _ in range(3))
        for y in range(SIDE):
            for x in range(SIDE):
                if INSIDE[name](x - cx, y - cy, radius):
                    pixels[y][x] = colour
    write_png(path, pixels)
    return ";".join(tags)


def dial_image(draw, path):
    pixels = empty_image(draw)
    share = draw.uniform(0.05, 0.95)
    colour = tuple(draw.randint(0, 110) for _ in range(3))
    for y in range(SIDE):
        for x in range(SIDE):
            dx, dy = x - 15.5, y - 15.5
            gone = math.atan2(dx, -dy) / (2 * math.pi) % 1
            if dx * dx + dy * dy < 200 and gone <= share:
                pixels[y][x] = colour
    write_png(path, pixels)
    return round(100 * share, 2)


def write_images(folder, name, count, column, make, draw):
    (folder / name).mkdir(parents=True)
    rows = []
    for i in range(count):
        file = f"{name}/{i:03d}.png"
        rows.append([file, make(draw, folder / file)])
    write_table(folder / f"{name}.csv", ["image", column], rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)
    write_table(folder / "houses.csv", ["rooms", "area", "age", "distance", "quarter", "price"],
                [house(draw) for _ in range(900)])
    write_table(folder / "tickets.csv", ["text", "topic"], [ticket(draw) for _ in range(900)])
    write_images(folder, "things", 800, "tags", things_image, draw)
    write_images(folder, "dials", 800, "y", dial_image, draw)


if __name__ == "__main__":
    main()
