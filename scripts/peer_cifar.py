#!/usr/bin/env python3
"""The shipped CIFAR-10 networks in PyTorch, as the peer of `train bench` and of short runs.

    python3 scripts/peer_cifar.py speed resnet18 convmixer ...      images/s at batch 64, a JSON line each
    python3 scripts/peer_cifar.py losses resnet18 --data cifar-10-batches-bin --seed 1     CSV: step,loss

Networks, initial weights, augmentation and update are those of configs/NET_cifar10.yaml, whose random numbers are others;
`losses` trains 400 steps of batch 64 at a constant rate. Each speed is the better of channels-last and channels-first.
"""
import argparse
import json
import pathlib
import statistics
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn

BATCH, STEPS = 64, 400


def conv(cin, cout, k=3, s=1, groups=1, bias=False):
    return nn.Conv2d(cin, cout, k, s, k // 2, groups=groups, bias=bias)


class Sum(nn.Module):
    def __init__(self, branch, shortcut=None):
        super().__init__()
        self.branch, self.shortcut = branch, shortcut or nn.Identity()

    def forward(self, x):
        return self.branch(x) + self.shortcut(x)


class Concat(nn.Module):
    def __init__(self, branch):
        super().__init__()
        self.branch = branch

    def forward(self, x):
        return torch.cat([x, self.branch(x)], 1)


def head(channels, *before):
    return [*before, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)]


def resnet18():
    layers, c = [conv(3, 64), nn.BatchNorm2d(64), nn.ReLU()], 64
    for f, first in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for s in (first, 1):
            branch = nn.Sequential(conv(c, f, 3, s), nn.BatchNorm2d(f), nn.ReLU(), conv(f, f), nn.BatchNorm2d(f))
            shortcut = nn.Sequential(conv(c, f, 1, s), nn.BatchNorm2d(f)) if s > 1 else None
            layers += [Sum(branch, shortcut), nn.ReLU()]
            c = f
    return nn.Sequential(*layers, *head(512))


def convmixer():
    width = 256
    layers = [nn.Conv2d(3, width, 2, 2), nn.GELU(), nn.BatchNorm2d(width)]
    for _ in range(8):
        layers += [Sum(nn.Sequential(conv(width, width, 5, 1, width, True), nn.GELU(), nn.BatchNorm2d(width))),
                   conv(width, width, 1, bias=True), nn.GELU(), nn.BatchNorm2d(width)]
    return nn.Sequential(*layers, *head(width))


def wrn40_4():
    layers, c = [conv(3, 16)], 16

    def branch(c, f, s):
        return [conv(c, f, 3, s), nn.BatchNorm2d(f), nn.ReLU(), conv(f, f)]

    for f, s in ((64, 1), (128, 2), (256, 2)):
        layers += [nn.BatchNorm2d(c), nn.ReLU(), Sum(nn.Sequential(*branch(c, f, s)), conv(c, f, 1, s))]
        layers += [Sum(nn.Sequential(nn.BatchNorm2d(f), nn.ReLU(), *branch(f, f, 1))) for _ in range(5)]
        c = f
    return nn.Sequential(*layers, *head(256, nn.BatchNorm2d(256), nn.ReLU()))


def densenet_bc100():
    k, c = 12, 24
    layers = [conv(3, c)]
    for block in range(3):
        for _ in range(16):
            layers.append(Concat(nn.Sequential(nn.BatchNorm2d(c), nn.ReLU(), conv(c, 4 * k, 1),
                                               nn.BatchNorm2d(4 * k), nn.ReLU(), conv(4 * k, k))))
            c += k
        if block < 2:
            layers += [nn.BatchNorm2d(c), nn.ReLU(), conv(c, c // 2, 1), nn.AvgPool2d(2)]
            c //= 2
    return nn.Sequential(*layers, *head(c, nn.BatchNorm2d(c), nn.ReLU()))


def mobilenet_v2():
    layers, c = [conv(3, 32), nn.BatchNorm2d(32), nn.ReLU6()], 32
    for t, f, n, first in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(n):
            s, inner = first if i == 0 else 1, t * c
            body = [conv(c, inner, 1), nn.BatchNorm2d(inner), nn.ReLU6()] if t > 1 else []
            body += [conv(inner, inner, 3, s, inner), nn.BatchNorm2d(inner), nn.ReLU6(), conv(inner, f, 1), nn.BatchNorm2d(f)]
            layers.append(Sum(nn.Sequential(*body)) if i > 0 else nn.Sequential(*body))
            c = f
    return nn.Sequential(*layers, conv(320, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6(), *head(1280))


def vgg16_bn():
    layers, c = [], 3
    for f, n in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(n):
            layers += [conv(c, f, bias=True), nn.BatchNorm2d(f), nn.ReLU()]
            c = f
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10))


class OptionA(nn.Module):
    """Every second pixel, with zeros for the new channels, a half before and a half behind."""

    def forward(self, x):
        return F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, x.shape[1] // 2, x.shape[1] // 2))


def he_resnet20():
    layers, c = [conv(3, 16), nn.BatchNorm2d(16), nn.ReLU()], 16
    for f, first in ((16, 1), (32, 2), (64, 2)):
        for s in (first, 1, 1):
            branch = nn.Sequential(conv(c, f, 3, s), nn.BatchNorm2d(f), nn.ReLU(), conv(f, f), nn.BatchNorm2d(f))
            layers += [Sum(branch, OptionA() if s > 1 else None), nn.ReLU()]
            c = f
    return nn.Sequential(*layers, *head(64))


class Scale(nn.Module):
    def forward(self, x):
        return x / 9


def airbench94():
    def norm(f):
        return nn.BatchNorm2d(f, eps=1e-12, momentum=0.4)

    layers, c = [nn.Conv2d(3, 24, 2), nn.GELU()], 24
    for f in (64, 256, 256):
        layers += [conv(c, f), nn.MaxPool2d(2), norm(f), nn.GELU(), conv(f, f), norm(f), nn.GELU()]
        c = f
    model = nn.Sequential(*layers, nn.MaxPool2d(3), nn.Flatten(), nn.Linear(256, 10, bias=False), Scale())
    for module in model:
        if isinstance(module, nn.BatchNorm2d):
            module.weight.requires_grad = False
    model[0].weight.requires_grad = False
    return model


NETS = {"he_resnet20": he_resnet20, "resnet18": resnet18, "vgg16_bn": vgg16_bn, "mobilenet_v2": mobilenet_v2,
        "wrn40_4": wrn40_4, "densenet_bc100": densenet_bc100, "convmixer": convmixer, "airbench94": airbench94}


def rate(net, layout):
    torch.manual_seed(1)
    model = NETS[net]().train().to(memory_format=layout)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], 0.01, 0.9, weight_decay=5e-4)
    images = torch.randn(BATCH, 3, 32, 32).to(memory_format=layout)
    labels = torch.randint(0, 10, (BATCH,))

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

    for _ in range(2):
        step()
    rates = []
    for _ in range(5):
        begin = time.perf_counter()
        step(), step()
        rates.append(2 * BATCH / (time.perf_counter() - begin))
    parameters = sum(p.numel() for p in model.parameters())
    return {"net": net, "images_per_s": round(statistics.median(rates), 1), "parameters": parameters,
            "layout": "channels last" if layout == torch.channels_last else "channels first"}


def speed(nets):
    for net in nets or NETS:
        rows = [rate(net, layout) for layout in (torch.channels_last, torch.contiguous_format)]
        print(json.dumps(max(rows, key=lambda row: row["images_per_s"])), flush=True)


def training_images(folder, deviations):
    rows = numpy.concatenate([numpy.fromfile(pathlib.Path(folder) / f"data_batch_{i}.bin", numpy.uint8).reshape(-1, 3073)
                              for i in range(1, 6)])
    images = torch.from_numpy(rows[:, 1:].reshape(-1, 3, 32, 32).astype(numpy.float32) / 255)
    means = torch.tensor([0.4914, 0.4822, 0.4465]).view(3, 1, 1)
    return (images - means) / torch.tensor(deviations).view(3, 1, 1), torch.from_numpy(rows[:, 0].astype(numpy.int64))


def augmented(images, pad):
    side, out = images.shape[-1], torch.empty_like(images)
    padded = F.pad(images, (pad,) * 4)
    for i in range(len(images)):
        y, x = torch.randint(0, 2 * pad + 1, (2,)).tolist()
        out[i] = padded[i, :, y:y + side, x:x + side]
        if torch.rand(()) < 0.5:
            out[i] = out[i].flip(-1)
    return out


def losses(net, folder, seed):
    torch.manual_seed(seed)
    model = NETS[net]().train().to(memory_format=torch.channels_last)
    if net == "convmixer":
        optimizer = torch.optim.AdamW(model.parameters(), 0.005, weight_decay=0.005)
        deviations, pad, clip = (0.2471, 0.2435, 0.2616), 0, 1.0
    else:
        optimizer = torch.optim.SGD(model.parameters(), 0.05, 0.9, weight_decay=5e-4)
        deviations, pad, clip = (0.2023, 0.1994, 0.2010), 4, float("inf")
    images, labels = training_images(folder, deviations)
    order = torch.randperm(len(images))
    print("step,loss")
    for step in range(STEPS):
        chosen = order[step * BATCH:(step + 1) * BATCH]
        batch = augmented(images[chosen], pad).to(memory_format=torch.channels_last)
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(batch), labels[chosen])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        print(f"{step + 1},{loss.item():.6f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "losses"])
    parser.add_argument("nets", nargs="*", metavar="NET", help=", ".join(NETS))
    parser.add_argument("--data", default="cifar-10-batches-bin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.what == "speed":
        return speed(options.nets)
    for net in options.nets:
        losses(net, options.data, options.seed)


if __name__ == "__main__":
    main()
