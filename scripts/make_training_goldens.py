#!/usr/bin/env python3
"""Losses of ten training steps in PyTorch float64, for tests/golden/training.yaml.

The networks are those of models/ and tests/golden/, written out here by hand with the layer paths that train gives
them. Weights, images and tokens come from Philox4x32-10 keyed by FNV-1a of their names, so that no weights
need to be stored; tests/golden/training_test.cpp makes the same ones. SGD with momentum 0.9, or the
optimizers of OPTIMIZERS.

`double` is for a device that computes in double: a small batch, since plain loops are slow.
`float` is for float32, with `spread`, how far float32 strays by rounding alone: the same ten steps
in float32 from weights of which each was moved by one ulp up or down, 20 times for each set of
images; for every step the median over these 20 runs of the largest difference of the loss so far from
the unmoved float32 run. The sets are apart because an activation near a ReLU's kink belongs to its
images: where most moved runs cross it, the loss moves by ten or a hundred roundings.

The random numbers of the moves have the seed MOVES * set + move. Names of networks as arguments make only
those:

    python3 scripts/make_training_goldens.py resnet_v2 grouped >> tests/golden/training.yaml
"""
import math
import sys
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from cifar_networks import airbench94, convmixer, densenet, mobilenet_v2, wide_resnet
from muon_forms import AirbenchMuon, flattened
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

MASK = np.uint64(0xFFFFFFFF)
STEPS = 10
LAYERS = 4  # RandomStream::layer
SETS = 2  # sets of images
MOVES = 20  # moves of the weights, a set of images


def philox4(key, counters):
    """The four words of Philox4x32-10 for two words of the key and four counters, each a number or an array."""
    k0, k1 = (np.uint64(word) for word in key)
    c0, c1, c2, c3 = (np.asarray(counter, np.uint64) for counter in counters)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = ((p1 >> np.uint64(32)) ^ c1 ^ k0, p1 & MASK,
                          (p0 >> np.uint64(32)) ^ c3 ^ k1, p0 & MASK)
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & MASK, (k1 + np.uint64(0xBB67AE85)) & MASK
    return c0, c1, c2, c3


def philox(key, counters):
    """First word for the key (key, 0) and counters (c, 0, 0, 0)."""
    return philox4((key, 0), (counters, 0, 0, 0))[0]


def key_of(name):
    key = 2166136261
    for byte in name.encode():
        key = ((key ^ byte) * 16777619) & 0xFFFFFFFF
    return key


def noise(name, shape):
    """float32 in [-1, 1) on a grid of 2^-23, exact in any arithmetic."""
    words = philox(key_of(name), np.arange(math.prod(shape)))
    return ((words >> np.uint64(8)).astype(np.float64) * 2.0 ** -23 - 1).reshape(shape)


class Network:
    """Layers as functions; parameters are made the first time that a path is met."""

    def __init__(self, fixed=False):
        self.parameters, self.decayed, self.fixed = {}, [], fixed
        self.samples = None  # indices of the batch's samples in their data set

    def parameter(self, name, shape, bound, centre=0.0):
        if name not in self.parameters:
            value = (noise(name, shape) * bound + centre).astype(np.float32)
            self.parameters[name] = torch.tensor(value)
        return self.parameters[name]

    def conv(self, path, x, filters, kernel, stride=1, pad="same", l2=0.0, bias=True, groups=1):
        channels = x.shape[1] // groups
        bound = math.sqrt(6.0 / (kernel * kernel * (channels + filters)))
        weight = self.parameter(path + ".weight", (filters, channels, kernel, kernel), bound)
        bias = self.parameter(path + ".bias", (filters,), 0.1) if bias else None
        if l2 and path not in self.decayed:
            self.decayed.append(path)
        if pad == "same":  # Keras on TensorFlow: the odd pixel behind
            total = [max((math.ceil(n / stride) - 1) * stride + kernel - n, 0) for n in x.shape[2:]]
            x = F.pad(x, (total[1] // 2, total[1] - total[1] // 2, total[0] // 2,
                          total[0] - total[0] // 2))
        margin = kernel // 2 if pad == "symmetric" else 0
        return F.conv2d(x, weight, bias, stride, margin, groups=groups)

    def bn(self, path, x, eps=1e-3, scale=True):
        gamma = self.parameter(path + ".gamma", (x.shape[1],), 0.25, 1.0) if scale else None
        beta = self.parameter(path + ".beta", (x.shape[1],), 0.1)
        if self.fixed:
            mean, variance = (torch.tensor((noise(f"{path}.running_{name}", (x.shape[1],)) * bound + centre)
                                           .astype(np.float32)).to(x.dtype)
                              for name, bound, centre in (("mean", 0.1, 0.0), ("var", 0.25, 1.0)))
            return F.batch_norm(x, mean, variance, gamma, beta, training=False, eps=eps)
        return F.batch_norm(x, None, None, gamma, beta, training=True, eps=eps)

    def drop_path(self, path, x, rate):
        """train's draws for the samples of its first epoch with the seed 0 (src/compute/elementwise/draws.h)."""
        key = philox4((0, LAYERS << 24), (0, 0, 0, key_of(path)))
        drawn = philox4(key[:2], (0, 0, self.samples, 0))[0]
        factors = (drawn >= np.uint64(round(rate * 2 ** 32))) / (1 - rate)
        return x * torch.tensor(factors)[:, None, None, None].to(x.dtype)

    def dense(self, path, x, units, bias=True):
        return self.each(path, x.flatten(1), units, bias)

    def each(self, path, x, units, bias=True):
        """A dense layer on the last axis."""
        bound = math.sqrt(6.0 / (x.shape[-1] + units))
        weight = self.parameter(path + ".weight", (units, x.shape[-1]), bound)
        return F.linear(x, weight, self.parameter(path + ".bias", (units,), 0.1) if bias else None)

    def embedding(self, path, tokens, vocabulary, units):
        bound = math.sqrt(6.0 / (vocabulary + units))
        return F.embedding(tokens, self.parameter(path + ".weight", (vocabulary, units), bound))

    def recurrent_parameters(self, path, x, gates, units, biases=("bias",)):
        bounds = [math.sqrt(6.0 / (gates * units + inputs)) for inputs in (x.shape[2], units)]
        return [self.parameter(path + ".weight", (gates * units, x.shape[2]), bounds[0]),
                self.parameter(path + ".recurrent", (gates * units, units), bounds[1]),
                *(self.parameter(f"{path}.{name}", (gates * units,), 0.1) for name in biases)]

    def lstm(self, path, x, units, gate):
        """x [n, t, c] to [n, t, units]; PyTorch's own with gate None."""
        weight, recurrent, bias = self.recurrent_parameters(path, x, 4, units)
        if gate is None:
            state = torch.zeros(1, len(x), units, dtype=x.dtype)
            return torch._VF.lstm(x, (state, state), [weight, recurrent, bias, 0 * bias], True, 1,
                                  0.0, False, False, True)[0]
        return keras_lstm(x, weight, recurrent, bias, gate)

    def packed_lstm(self, path, x, lengths, units):
        """PyTorch's own on packed sequences: all states, 0 after the end, and the last ones."""
        weight, recurrent, bias = self.recurrent_parameters(path, x, 4, units)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        state = torch.zeros(1, len(x), units, dtype=x.dtype)
        data, last, _ = torch._VF.lstm(packed.data, packed.batch_sizes, (state, state),
                                       [weight, recurrent, bias, 0 * bias], True, 1, 0.0, False,
                                       False)
        states, _ = pad_packed_sequence(packed._replace(data=data), batch_first=True,
                                        total_length=x.shape[1])
        return states, last[0][packed.unsorted_indices]

    def both_ways(self, path, x, lengths, units, kind):
        """PyTorch's own bidirectional lstm or gru on packed sequences: as packed_lstm, with both
        directions' units side by side."""
        gates, biases = (4, ("bias",)) if kind == "lstm" else (3, ("bias", "recurrent_bias"))
        parameters = []
        for way in (".forward", ".backward"):
            own = self.recurrent_parameters(path + way, x, gates, units, biases)
            parameters += own + [0 * own[2]] * (2 - len(biases))
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        state = torch.zeros(2, len(x), units, dtype=x.dtype)
        run, first = ((torch._VF.lstm, (state, state)) if kind == "lstm" else
                      (torch._VF.gru, state))
        data, last = run(packed.data, packed.batch_sizes, first, parameters, True, 1, 0.0, False,
                         True)[:2]
        states, _ = pad_packed_sequence(packed._replace(data=data), batch_first=True,
                                        total_length=x.shape[1])
        return states, torch.cat(tuple(last[:, packed.unsorted_indices]), 1)

    def simple_rnn(self, path, x, units):
        weight, recurrent, bias = self.recurrent_parameters(path, x, 1, units)
        state = torch.zeros(1, len(x), units, dtype=x.dtype)
        return torch._VF.rnn_tanh(x, state, [weight, recurrent, bias, 0 * bias], True, 1, 0.0,
                                  False, False, True)[0]


def keras_lstm(x, weight, recurrent, bias, gate, tokens=None):
    """Keras 2.1: LSTMCell.call, implementation 1, with our transposed kernels. A step whose token is
    0 leaves the states as they are."""
    h = cell = torch.zeros(len(x), recurrent.shape[1], dtype=x.dtype)
    states = []
    for step in range(x.shape[1]):
        i, f, g, o = (x[:, step] @ weight.t() + bias + h @ recurrent.t()).chunk(4, 1)
        counts = 1 if tokens is None else (tokens[:, step, None] != 0).to(x.dtype)
        cell = counts * (gate(f) * cell + gate(i) * torch.tanh(g)) + (1 - counts) * cell
        h = counts * gate(o) * torch.tanh(cell) + (1 - counts) * h
        states.append(h)
    return torch.stack(states, 1)


def keras_gru(x, weight, recurrent, bias, second=None, gate=torch.sigmoid, tokens=None):
    """Keras 2: GRUCell.call, implementation 1, with our transposed kernels and order of gates, and
    reset_after where there is a second bias. Tokens as keras_lstm."""
    h = torch.zeros(len(x), recurrent.shape[1], dtype=x.dtype)
    of_r, of_z, of_n = recurrent.chunk(3)
    states = []
    for step in range(x.shape[1]):
        r, z, n = (x[:, step] @ weight.t() + bias).chunk(3, 1)
        if second is None:
            r, z = gate(r + h @ of_r.t()), gate(z + h @ of_z.t())
            n = torch.tanh(n + (r * h) @ of_n.t())
        else:
            again = second.chunk(3)
            r, z = gate(r + h @ of_r.t() + again[0]), gate(z + h @ of_z.t() + again[1])
            n = torch.tanh(n + r * (h @ of_n.t() + again[2]))
        counts = 1 if tokens is None else (tokens[:, step, None] != 0).to(x.dtype)
        h = counts * (z * h + (1 - z) * n) + (1 - counts) * h
        states.append(h)
    return torch.stack(states, 1)


def hard_sigmoid(x):
    """Keras's: torch.nn.functional.hardsigmoid has the slope 1 / 6."""
    return (0.2 * x + 0.5).clamp(0, 1)


def resnet20(net, x):
    def cbr(path, x, filters, kernel=3, stride=1, act=True):
        x = net.bn(path + ".bn1", net.conv(path + ".conv1", x, filters, kernel, stride, l2=1e-4))
        return F.relu(x) if act else x

    x = cbr("cbr1", x, 16)
    for stage, filters in enumerate((16, 32, 64), 1):
        for unit in range(1, 4):
            path = f"stage{stage}.unit{unit}.add1"
            stride = 2 if stage > 1 and unit == 1 else 1
            body = cbr(path + ".0.cbr2", cbr(path + ".0.cbr1", x, filters, 3, stride), filters,
                       act=False)
            if stride == 2:
                x = net.conv(path + ".1.conv1", x, filters, 1, stride, l2=1e-4)
            x = F.relu(body + x)
    return net.dense("dense1", x.mean((2, 3)), 10)


def minigooglenet(net, x):
    def cbr(path, x, filters, kernel, stride=1, pad="same"):
        return F.relu(net.bn(path + ".bn1", net.conv(path + ".conv1", x, filters, kernel, stride,
                                                     pad)))

    def inc(index, x, a, b):
        path = f"inc{index}.concat1"
        return torch.cat([cbr(path + ".0.cbr1", x, a, 1), cbr(path + ".1.cbr1", x, b, 3)], 1)

    def down(index, x, filters):
        path = f"down{index}.concat1"
        return torch.cat([cbr(path + ".0.cbr1", x, filters, 3, 2, "valid"), F.max_pool2d(x, 3, 2)],
                         1)

    x = inc(2, inc(1, cbr("cbr1", x, 96, 3), 32, 32), 32, 48)
    x = down(1, x, 80)
    for index, (a, b) in enumerate(((112, 48), (96, 64), (80, 80), (48, 96)), 3):
        x = inc(index, x, a, b)
    x = down(2, x, 96)
    x = inc(8, inc(7, x, 176, 160), 176, 160)
    return net.dense("dense1", F.avg_pool2d(x, 7), 10)


def keras_cnn(net, x):
    for pair, filters in enumerate((32, 64), 1):
        x = F.relu(net.conv(f"pair{pair}.conv1", x, filters, 3))
        x = F.relu(net.conv(f"pair{pair}.conv2", x, filters, 3, pad="valid"))
        x = F.max_pool2d(x, 2)
    return net.dense("dense2", F.relu(net.dense("dense1", x, 512)), 10)


def resnet_v2(net, x):
    """Keras's, with n = 2: ResNet-20."""
    def conv(path, x, filters, kernel, stride=1):
        return net.conv(path + "conv1", x, filters, kernel, stride, l2=1e-4)

    def brc(path, x, filters, kernel, stride=1, active=True):
        x = F.relu(net.bn(path + "bn1", x)) if active else x
        return conv(path, x, filters, kernel, stride)

    x = F.relu(net.bn("bn1", conv("", x, 16, 3)))
    for stage, (inner, out) in enumerate(((16, 64), (64, 128), (128, 256)), 1):
        for unit in range(1, 3):
            path = f"stage{stage}.unit{unit}.add1."
            stride = 2 if stage > 1 and unit == 1 else 1
            y = brc(path + "1.brc1.", x, inner, 1, stride, stage > 1 or unit > 1)
            y = brc(path + "1.brc3.", brc(path + "1.brc2.", y, inner, 3), out, 1)
            x = (conv(path + "0.", x, out, 1, stride) if unit == 1 else x) + y
    return net.dense("dense1", F.avg_pool2d(F.relu(net.bn("bn2", x)), 8), 10)


def grouped(net, x):
    """ResNeXt-11 4x8d: bottlenecks whose 3x3 convolutions have 4 groups."""
    def cb(path, x, filters, kernel=1, stride=1, groups=1):
        x = net.conv(path + ".conv1", x, filters, kernel, stride, "symmetric", bias=False,
                     groups=groups)
        return net.bn(path + ".bn1", x, 1e-5)

    x = F.relu(cb("cb1", x, 64, 3))
    for unit, width in enumerate((1, 2, 4), 1):
        path = f"unit{unit}.add1."
        stride = 1 if unit == 1 else 2
        y = F.relu(cb(path + "0.cb1", x, 32 * width))
        y = F.relu(cb(path + "0.cb2", y, 32 * width, 3, stride, 4))
        y = cb(path + "0.cb3", y, 256 * width)
        x = F.relu(y + cb(path + "1.cb1", x, 256 * width, 1, stride))
    return net.dense("dense1", x.mean((2, 3)), 10)


def two_heads(net, x):
    """tests/golden/two_heads.yaml: logits of the last layer and of the auxiliary output."""
    trunk = F.relu(net.bn("bn1", net.conv("conv1", x, 8, 3, 2)))
    aux = net.dense("dense1", trunk.mean((2, 3)), 10)
    x = F.relu(net.bn("bn2", net.conv("conv2", trunk, 16, 3, 2)))
    return net.dense("dense2", x.mean((2, 3)), 10), aux


def two_losses(outputs, labels):
    """Means over the weights of the labels, of which 7 is ignored; the auxiliary one counts a quarter."""
    weight = torch.tensor([1, 2, 0.5, 1, 1, 0.25, 1, 0, 1, 4], dtype=outputs[0].dtype)[labels]
    main, aux = ((F.cross_entropy(output, labels, reduction="none") * weight).sum() / weight.sum()
                 for output in outputs)
    return main + 0.25 * aux


def soft_cross_entropy(output, targets, **keys):
    return F.cross_entropy(output, targets.to(output.dtype), **keys)


def mixed_losses(outputs, targets):
    """Of soft targets, smoothed by a number that float32 has; the auxiliary one counts a quarter."""
    main, aux = (soft_cross_entropy(output, targets, label_smoothing=0.125) for output in outputs)
    return main + 0.25 * aux


def recurrent(net, x, gate=None):
    """tests/golden/recurrent.yaml: the columns of an image are the steps."""
    x = net.lstm("lstm1", x.reshape(len(x), 96, 32).transpose(1, 2), 24, gate)
    x = net.lstm("lstm2", net.simple_rnn("simple_rnn1", x, 20), 16, gate)
    return net.dense("dense1", x[:, -1], 10)


def keras_recurrent(net, x):
    return recurrent(net, x, hard_sigmoid)


def lengths(net, given):
    """tests/golden/lengths.yaml: mean, largest and last state of the steps that count."""
    x, steps = given
    states, _ = net.packed_lstm("lstm1", x.reshape(len(x), 96, 32).transpose(1, 2), steps, 24)
    counted = torch.arange(32)[None, :, None] < steps[:, None, None]
    mean = states.sum(1) / steps[:, None]
    largest = states.masked_fill(~counted, -math.inf).max(1)[0]
    last = net.packed_lstm("lstm2", states, steps, 16)[1]
    return net.dense("dense1", torch.cat([mean, largest, last], 1), 10)


def bidirectional(net, given):
    """tests/golden/bidirectional.yaml."""
    x, steps = given
    x = x.reshape(len(x), 96, 32).transpose(1, 2)
    x = net.both_ways("gru1", x, steps, 24, "gru")[0]
    x = sum(net.both_ways("lstm1", x, steps, 20, "lstm")[0].chunk(2, 2))
    return net.dense("dense1", net.both_ways("gru2", x, steps, 16, "gru")[1], 10)


def sequence(net, tokens):
    """tests/golden/sequence.yaml: logits [n, t, vocabulary]."""
    x = torch.tanh(net.embedding("embedding1", tokens, 50, 16))
    return net.each("dense2", F.relu(net.each("dense1", x, 24)), 50)


def every_position(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def matrices(net, x):
    """tests/golden/matrices.yaml."""
    for index, stride in enumerate((2, 2, 1), 1):
        x = F.relu(net.bn(f"bn{index}", net.conv(f"conv{index}", x, 8, 3, stride)))
    return net.dense("dense2", F.relu(net.dense("dense1", x.mean((2, 3)), 24)), 10)


def muon_and_adamw(parameters, rate):
    """torch's Muon for all matrices, its AdamW for the rest."""
    whole, rest = flattened(parameters.values(), lambda p: p.dim() > 1)
    return [torch.optim.Muon(whole, lr=rate), torch.optim.AdamW(rest, lr=0.01)]


def airbench(parameters, rate):
    """Muon of filters as in airbench94_muon.py, SGD for the rest."""
    filters = [p for p in parameters.values() if p.dim() == 4]
    rest = [p for p in parameters.values() if p.dim() != 4]
    return [AirbenchMuon(filters, lr=0.24, momentum=0.6, nesterov=True),
            torch.optim.SGD(rest, lr=rate, momentum=0.9)]


class Until:
    """An optimizer's first steps."""

    def __init__(self, optimizer, steps):
        self.optimizer, self.left = optimizer, steps

    def step(self):
        self.left -= 1
        if self.left >= 0:
            self.optimizer.step()


class Lookahead:
    """Slow weights that are pulled after every few steps of `optimizers`, by pull(steps so far), and copied back."""

    def __init__(self, parameters, optimizers, every, pull):
        self.fast, self.every, self.pull, self.steps = list(parameters.values()), every, pull, 0
        self.slow = [p.detach().clone() for p in self.fast]
        self.optimizers = optimizers

    @torch.no_grad()
    def step(self):
        for optimizer in self.optimizers:
            optimizer.step()
        self.steps += 1
        if self.steps % self.every == 0:
            for slow, fast in zip(self.slow, self.fast):
                slow.lerp_(fast, self.pull(self.steps))
                fast.copy_(slow)


def sgd(parameters, rate, **keys):
    return [torch.optim.SGD(parameters.values(), lr=rate, **{"momentum": 0.9, **keys})]


def lookahead(parameters, rate):
    return [Lookahead(parameters, sgd(parameters, rate), 3, lambda steps: 0.5)]


def scheduled_lookahead(parameters, rate):
    """The decay of airbench94.py, of another period."""
    return [Lookahead(parameters, sgd(parameters, rate), 2, lambda steps: 1 - 0.95 ** 2 * (steps / STEPS) ** 3)]


def airbench94_groups(parameters, rate):
    """The groups of airbench94.py and its Lookahead, as configs/airbench94_cifar10.yaml states them: the weight of the
    first layer stays, and its bias is trained for three steps."""
    betas = {name: p for name, p in parameters.items() if name.endswith(".beta")}
    first = {name: p for name, p in parameters.items() if name == "conv1.bias"}
    rest = {name: p for name, p in parameters.items() if name not in betas and not name.startswith("conv1.")}
    keys = {"momentum": 0.85, "nesterov": True, "weight_decay": 1.33044e-3}
    optimizers = [*sgd(rest, rate, **keys), *sgd(betas, 64 * rate, **{**keys, "weight_decay": 2.0788e-5}),
                  Until(*sgd(first, rate, **keys), 3)]
    return [Lookahead(parameters, optimizers, 5, lambda steps: 1 - 0.95 ** 5 * (steps / STEPS) ** 3)]


def airbench_and_sgd(parameters, rate):
    """Muon as airbench has it for the filters, SGD with Nesterov's momentum for the rest."""
    rest = {name: p for name, p in parameters.items() if p.dim() != 4}
    return [AirbenchMuon([p for p in parameters.values() if p.dim() == 4], lr=0.24, momentum=0.6, nesterov=True),
            *sgd(rest, rate, nesterov=True, weight_decay=1e-4)]


def adamw(parameters, rate):
    return [torch.optim.AdamW(parameters.values(), lr=rate, weight_decay=0.005)]


# Optimizers that are not SGD with momentum 0.9 alone, by network.
OPTIMIZERS = {"muon": muon_and_adamw, "airbench": airbench, "lookahead": lookahead,
              "scheduled_lookahead": scheduled_lookahead, "airbench94": airbench94_groups,
              "wide_resnet": partial(sgd, nesterov=True, weight_decay=5e-4), "densenet": airbench_and_sgd,
              "convmixer": adamw, "mobilenet_v2": partial(sgd, weight_decay=5e-4)}

# Losses that are not the cross-entropy, by network.
LOSSES = {"two_heads": two_losses, "sequence": every_position, "mixed": mixed_losses,
          "airbench94": partial(F.cross_entropy, label_smoothing=0.2), "convmixer": soft_cross_entropy}

# Networks whose samples are mixed in pairs.
MIXED = ("mixed", "convmixer")

# Tokens of a sample and their vocabulary, of networks that read tokens: a label for each of them.
# In double alone: float32's rounding of the losses of 12 positions is more than the spread of its steps.
TOKENS = {"sequence": (12, 50)}

# Name, network, learning rate, batches for double and float32.
CASES = (("resnet20", resnet20, 0.005, 8, 32), ("minigooglenet", minigooglenet, 0.01, 4, 32),
         ("keras_cnn", keras_cnn, 0.01, 8, 8), ("resnet_v2", resnet_v2, 0.005, 8, 16),
         ("grouped", grouped, 0.005, 4, 16), ("two_heads", two_heads, 0.05, 8, 16),
         ("recurrent", recurrent, 0.1, 8, 16), ("keras_recurrent", keras_recurrent, 0.1, 8, 16),
         ("lengths", lengths, 0.1, 8, 16), ("bidirectional", bidirectional, 0.1, 8, 16),
         ("sequence", sequence, 20.0, 6, 0), ("mixed", two_heads, 0.05, 8, 16),
         ("fixed_statistics", grouped, 0.005, 4, 16),
         ("muon", matrices, 0.02, 8, 16), ("airbench", matrices, 0.01, 8, 16),
         ("lookahead", matrices, 0.05, 8, 0), ("scheduled_lookahead", matrices, 0.05, 8, 0),
         ("airbench94", airbench94, 0.02, 2, 0), ("wide_resnet", wide_resnet, 0.005, 4, 8),
         ("densenet", densenet, 0.02, 4, 0), ("convmixer", convmixer, 0.05, 4, 16),
         ("mobilenet_v2", mobilenet_v2, 0.003, 4, 16))

# Networks whose batch norms have fixed statistics.
FIXED = ("fixed_statistics",)

# Networks whose samples have lengths, from 1 to 32.
LENGTHS = ("lengths", "bidirectional")


def classes(name, count, *shape):
    """Numbers below `count`."""
    drawn = philox(key_of(name), np.arange(math.prod(shape))) % np.uint64(count)
    return torch.tensor(drawn.astype(np.int64).reshape(shape))


def mixed(name, images_set, images, labels):
    """Pairs of samples by turns blended and with a box of each other; images in float32, dense targets in double."""
    pairs = images.reshape(STEPS, -1, 2, 3, 32, 32)
    words = philox(key_of(f"{name}.shares{images_set}"), np.arange(pairs.shape[0] * pairs.shape[1]))
    share = ((words >> np.uint64(8)).astype(np.float32) * np.float32(2.0 ** -24)).reshape(pairs.shape[:2])
    share[:, 1::2] = 1 - 16 * 24 / 1024
    others = pairs[:, :, ::-1]
    own = share[:, :, None, None, None, None]
    out = own * pairs + (1 - own) * others
    out[:, 1::2] = pairs[:, 1::2]
    out[:, 1::2, :, :, 4:20, 8:32] = others[:, 1::2, :, :, 4:20, 8:32]
    classes_of = np.eye(10)[labels.reshape(STEPS, -1, 2)]
    own = share[:, :, None, None].astype(np.float64)
    targets = own * classes_of + (1 - own) * classes_of[:, :, ::-1]
    return out.reshape(images.shape), targets.reshape(*labels.shape, 10)


def data_of(name, images_set, batch):
    """Images or tokens, and labels or dense targets, of all steps."""
    if name in TOKENS:
        tokens, vocabulary = TOKENS[name]
        shape = (STEPS, batch, tokens)
        return (classes(f"{name}.tokens{images_set}", vocabulary, *shape),
                classes(f"{name}.labels{images_set}", vocabulary, *shape))
    images = noise(f"{name}.images{images_set}", (STEPS, batch, 3, 32, 32)).astype(np.float32)
    labels = classes(f"{name}.labels{images_set}", 10, STEPS, batch)
    if name in MIXED:
        images, labels = (torch.tensor(array) for array in mixed(name, images_set, images, labels.numpy()))
        return images, labels
    return torch.tensor(images), labels


def train(case, images_set, dtype, moved=None):
    """Losses of the steps; `moved` is a random generator that moves every weight by one ulp."""
    name, forward, rate, batch = case
    images, labels = data_of(name, images_set, batch)
    steps = 1 + classes(f"{name}.lengths{images_set}", 32, STEPS, batch)

    def given(step, dtype):
        x = images[step] if name in TOKENS else images[step].to(dtype)
        return (x, steps[step]) if name in LENGTHS else x

    net = Network(name in FIXED)
    net.samples = np.arange(batch)
    forward(net, given(0, torch.float32))
    if moved is not None:
        for key, value in net.parameters.items():
            towards = torch.tensor(moved.choice([-np.inf, np.inf], tuple(value.shape)),
                                   dtype=torch.float32)
            net.parameters[key] = torch.nextafter(value, towards)
    for key, value in net.parameters.items():
        net.parameters[key] = value.to(dtype).requires_grad_()
    optimizers = OPTIMIZERS.get(name, sgd)(net.parameters, rate)
    losses = []
    loss_of = LOSSES.get(name, F.cross_entropy)
    for step in range(STEPS):
        for value in net.parameters.values():
            value.grad = None
        net.samples = step * batch + np.arange(batch)
        logits = forward(net, given(step, dtype))
        loss = loss_of(logits, labels[step])
        # In double from the logits, lest the loss's own rounding hide a small spread.
        wide = [one.double() for one in logits] if isinstance(logits, tuple) else logits.double()
        losses.append(loss_of(wide, labels[step]).item())
        l2 = sum((net.parameters[path + ".weight"] ** 2).sum() for path in net.decayed)
        (loss + 1e-4 * l2).backward()
        for optimizer in optimizers:
            optimizer.step()
    return losses


def spread(case, images_set):
    base = np.array(train(case, images_set, torch.float32))
    strayed = []
    for move in range(MOVES):
        random = np.random.RandomState(MOVES * images_set + move)
        moved = train(case, images_set, torch.float32, random)
        strayed.append(np.maximum.accumulate(np.abs(np.array(moved) - base)))
    # A sample's loss is a float32: ten spreads, which the test allows, are no less than its rounding.
    return np.maximum(np.median(np.array(strayed), axis=0), np.array(base) * 2.0 ** -24 / 10)


def print_losses(case, sets):
    print(f"      batch: {case[3]}\n      losses:")
    for images_set in range(sets):
        losses = train(case, images_set, torch.float64)
        print("        - [" + ", ".join(repr(loss) for loss in losses) + "]")


def main():
    names = sys.argv[1:] or [case[0] for case in CASES]
    if not sys.argv[1:]:
        print("# Made by scripts/make_training_goldens.py\nnetworks:")
    for name, forward, rate, double_batch, float_batch in CASES:
        if name not in names:
            continue
        print(f"  {name}:\n    torch: \"{torch.__version__}\"\n    rate: {rate}\n    double:")
        print_losses((name, forward, rate, double_batch), 1)
        if float_batch == 0:
            continue
        print("    float:")
        case = (name, forward, rate, float_batch)
        print_losses(case, SETS)
        print("      spread:")
        for images_set in range(SETS):
            values = spread(case, images_set)
            print("        - [" + ", ".join(f"{value:.3e}" for value in values) + "]", flush=True)


if __name__ == "__main__":
    sys.exit(main())
