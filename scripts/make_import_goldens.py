#!/usr/bin/env python3
"""Writes tests/export/torch_weights.safetensors: two small networks of PyTorch with the names of their state_dict(), a
batch for each and what they give for it ("images.input", "images.logits", "steps.input", "steps.logits"). Sequences are
stored as [n, c, 1, t].

    make_import_goldens.py FILE
"""
import json
import struct
import sys

import torch
from torch import nn


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.PReLU(4))
        self.up = nn.ConvTranspose2d(4, 5, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(5, 5)
        self.fc = nn.Linear(5 * 7 * 5, 6)

    def forward(self, x):
        return self.fc(torch.flatten(self.norm(self.up(self.stem(x))), 1))


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 5, batch_first=True)
        self.head = nn.Linear(5, 4)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        raw = tensor.detach().contiguous().numpy().tobytes()
        kind = {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(3)
    images, steps = Images(), Steps()
    for module in images.modules():
        if isinstance(module, (nn.BatchNorm2d, nn.GroupNorm, nn.PReLU)):
            for tensor in module.state_dict().values():
                if tensor.is_floating_point():
                    tensor.uniform_(0.5, 1.5)
    images.eval(), steps.eval()
    pixels, sequences = torch.randn(2, 3, 4, 3), torch.randn(2, 6, 3)
    tensors = {f"images.{name}": tensor for name, tensor in images.state_dict().items()}
    tensors.update({f"steps.{name}": tensor for name, tensor in steps.state_dict().items()})
    tensors["images.input"], tensors["images.logits"] = pixels, images(pixels)
    tensors["steps.input"] = sequences.transpose(1, 2).reshape(2, 3, 1, 6)
    tensors["steps.logits"] = steps(sequences)
    write_safetensors(sys.argv[1], tensors)


if __name__ == "__main__":
    main()
