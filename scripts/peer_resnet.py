#!/usr/bin/env python3
"""The recipe of configs/resnet_cifar10.yaml in PyTorch: network, initial weights, augmentation and update are as there,
the random numbers are others. The peer of

    train --config resnet_cifar10

    python3 scripts/peer_resnet.py --data cifar-10-batches-bin --seed 1 > metrics.csv

Prints CSV, a row per epoch: the last step's learning rate, the mean loss without L2, accuracies, images/s.
"""
import argparse
import math
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn

EPOCHS, BATCH, RATE, MOMENTUM = 30, 128, 0.1, 0.9


def he_normal(layer, fan_in):
    """Keras: truncated at two deviations, whose factor 0.8796 is divided out."""
    deviation = math.sqrt(2 / fan_in) / 0.87962566103423978
    nn.init.trunc_normal_(layer.weight, 0, deviation, -2 * deviation, 2 * deviation)
    nn.init.zeros_(layer.bias)
    return layer


def conv(cin, cout, k, s):
    return he_normal(nn.Conv2d(cin, cout, k, s), cin * k * k)


class Cbr(nn.Module):
    def __init__(self, cin, cout, s=1):
        super().__init__()
        self.s, self.conv, self.bn = s, conv(cin, cout, 3, s), nn.BatchNorm2d(cout, eps=1e-3, momentum=0.01)

    def forward(self, x):
        x = F.pad(x, (1, 1, 1, 1) if self.s == 1 else (0, 1, 0, 1))  # SAME_UPPER: the odd pixel comes after
        return self.bn(self.conv(x))


class Unit(nn.Module):
    def __init__(self, cin, cout, s):
        super().__init__()
        self.first, self.second = Cbr(cin, cout, s), Cbr(cout, cout)
        self.skip = nn.Identity() if s == 1 else conv(cin, cout, 1, s)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.skip(x))


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Cbr(3, 16)
        widths = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
        self.units = nn.Sequential(*[Unit(*w) for w in widths])
        self.dense = he_normal(nn.Linear(64, 10), 64)

    def forward(self, x):
        return self.dense(self.units(F.relu(self.stem(x))).mean((2, 3)))


def read(folder, names):
    rows = numpy.concatenate([numpy.fromfile(f"{folder}/{n}.bin", numpy.uint8).reshape(-1, 3073) for n in names])
    return torch.from_numpy(rows[:, 1:].reshape(-1, 3, 32, 32).copy()), torch.from_numpy(rows[:, 0].astype(numpy.int64))


def augmented(images, pick):
    n = len(pick)
    padded = F.pad(images[pick], (4, 4, 4, 4))
    dy, dx = torch.randint(0, 9, (2, n, 1))
    along = torch.arange(32)
    columns = dx + torch.where(torch.rand(n, 1) < 0.5, 31 - along, along)
    rows = dy + along
    return padded[torch.arange(n)[:, None, None], :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def rate(step, per_epoch):
    """Cosine over all epochs, times a linear rise in the first."""
    return RATE * 0.5 * (1 + math.cos(math.pi * step / (EPOCHS * per_epoch))) * min(1, step / per_epoch)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--l2", type=float, default=2.5e-4, help="of the weights of convolutions")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    images, labels = read(args.data, [f"data_batch_{i}" for i in range(1, 6)])
    val_images, val_labels = read(args.data, ["test_batch"])
    mean = images.double().mean((0, 2, 3)).float().view(1, 3, 1, 1)
    std = torch.stack([images[:, c].double().std(correction=0) for c in range(3)]).float().view(1, 3, 1, 1)
    ready = lambda x: ((x.float() - mean) / std).contiguous(memory_format=torch.channels_last)
    model = ResNet20().to(memory_format=torch.channels_last)
    weights = list(model.parameters())
    velocity = [torch.zeros_like(w) for w in weights]
    kernels = [m.weight for m in model.modules() if isinstance(m, nn.Conv2d)]
    per_epoch = len(images) // BATCH
    print("epoch,lr,train_loss,train_accuracy,val_loss,val_accuracy,images_per_s", flush=True)
    for epoch in range(EPOCHS):
        started, loss_sum, right = time.time(), 0.0, 0
        order = torch.randperm(len(images))
        model.train()
        for i in range(per_epoch):
            pick = order[i * BATCH:(i + 1) * BATCH]
            out = model(ready(augmented(images, pick)))
            loss = F.cross_entropy(out, labels[pick])
            grads = torch.autograd.grad(loss, weights)
            lr = rate(epoch * per_epoch + i, per_epoch)
            with torch.no_grad():
                for w, g, v in zip(weights, grads, velocity):
                    if any(w is k for k in kernels):
                        g = g + 2 * args.l2 * w
                    v.mul_(MOMENTUM).sub_(lr * g)          # Keras's form of Nesterov momentum
                    w.add_(MOMENTUM * v - lr * g)
            loss_sum += loss.item()
            right += (out.argmax(1) == labels[pick]).sum().item()
        speed = per_epoch * BATCH / (time.time() - started)
        model.eval()
        with torch.no_grad():
            outs = torch.cat([model(ready(val_images[i:i + 500])) for i in range(0, len(val_images), 500)])
        val_loss = F.cross_entropy(outs, val_labels)
        val_accuracy = (outs.argmax(1) == val_labels).float().mean()
        print(f"{epoch + 1},{lr:.5f},{loss_sum / per_epoch:.4f},{right / per_epoch / BATCH:.4f},"
              f"{val_loss:.4f},{val_accuracy:.4f},{speed:.0f}", flush=True)


main()
