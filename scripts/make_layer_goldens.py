#!/usr/bin/env python3
"""Single layers in PyTorch float64 with the conventions of each profile, for
tests/golden/layers.yaml.

Values come from Philox keyed by the tensor's name (see make_training_goldens.py), so that none need
to be stored; of each result two projections onto such noise are kept, which no wrong element
survives. tests/ops/golden_test.cpp makes the same values and compares.

    python3 scripts/make_layer_goldens.py > tests/golden/layers.yaml
"""
import math

import torch
import torch.nn.functional as F

from make_training_goldens import hard_sigmoid, keras_gru, keras_lstm, noise

SCALE = 0.25  # gradient scale of the step state, for losses


def tensor(name, shape, factor=1.0, centre=0.0):
    return torch.tensor(noise(name, shape) * factor + centre, dtype=torch.float64,
                        requires_grad=True)


def projections(values):
    flat = values.detach().double()
    return [float((flat * torch.tensor(noise(f"projection{k}", tuple(flat.shape)))).sum())
            for k in range(2)]


def same(x, kernel, stride, dilation, upper):
    """Keras: ceil(in / stride) outputs; the odd pixel behind (TensorFlow) or before (MXNet)."""
    margins = []
    for size, k, s, d in zip(x.shape[:1:-1], kernel[::-1], stride[::-1], dilation[::-1]):
        total = max((math.ceil(size / s) - 1) * s + (k - 1) * d + 1 - size, 0)
        small = total // 2
        margins += [small, total - small] if upper else [total - small, small]
    return margins


def conv(shape, filters, kernel, stride=(1, 1), pad="valid", dilation=(1, 1), groups=1):
    x = tensor("input0", shape)
    weight = tensor("weight", (filters, shape[1] // groups, *kernel))
    bias = tensor("bias", (filters,))
    padded, amount = x, 0
    if pad in ("same_upper", "same_lower"):
        padded = F.pad(x, same(x, kernel, stride, dilation, pad == "same_upper"))
    elif pad == "same_symmetric":
        amount = tuple((k - 1) * d // 2 for k, d in zip(kernel, dilation))
    elif pad != "valid":
        amount = pad
    y = F.conv2d(padded, weight, bias, stride, amount, dilation, groups)
    written = pad if isinstance(pad, str) else list(pad)
    op = (f"{{conv: {{filters: {filters}, kernel: {list(kernel)}, stride: {list(stride)}, "
          f"pad: {written}, dilation: {list(dilation)}, groups: {groups}}}}}")
    return {"op": op, "inputs": [x], "outputs": [y], "parameters": [weight, bias]}


def dense(shape, units):
    x = tensor("input0", shape)
    weight = tensor("weight", (units, math.prod(shape[1:])))
    bias = tensor("bias", (units,))
    return {"op": f"{{dense: {units}}}", "inputs": [x],
            "outputs": [F.linear(x.flatten(1), weight, bias)], "parameters": [weight, bias]}


def max_pool(shape, size, stride, pad=0, ceil=False):
    x = tensor("input0", shape)
    y = F.max_pool2d(x, size, stride, pad, ceil_mode=ceil)
    return {"op": f"{{max_pool: {{size: {size}, stride: {stride}, pad: {pad}, "
                  f"ceil: {str(ceil).lower()}}}}}", "inputs": [x], "outputs": [y]}


def avg_pool(shape, size, stride, pad=0, ceil=False, count_pad=False):
    x = tensor("input0", shape)
    y = F.avg_pool2d(x, size, stride, pad, ceil, count_pad)
    return {"op": f"{{avg_pool: {{size: {size}, stride: {stride}, pad: {pad}, "
                  f"ceil: {str(ceil).lower()}, count_pad: {str(count_pad).lower()}}}}}",
            "inputs": [x], "outputs": [y]}


def avg_pool_same(shape, size, stride):
    """Keras on TensorFlow: padding does not count."""
    x = tensor("input0", shape)
    pads = same(x, (size, size), (stride, stride), (1, 1), True)
    total = F.avg_pool2d(F.pad(x, pads), size, stride, divisor_override=1)
    count = F.avg_pool2d(F.pad(torch.ones_like(x), pads), size, stride, divisor_override=1)
    return {"op": f"{{avg_pool: {{size: {size}, stride: {stride}, pad: same_upper}}}}",
            "inputs": [x], "outputs": [total / count]}


def global_pool(name, shape):
    x = tensor("input0", shape)
    y = x.amax((2, 3)) if name == "global_max_pool" else x.mean((2, 3))
    return {"op": name, "inputs": [x], "outputs": [y]}


def bn(shape, profile, op="bn"):
    """keras2: eps 1e-3, momentum .99 of the old, biased; or times n / (n - 1 - eps) with
    running_var: keras. torch: eps 1e-5, 0.1 of the new, unbiased."""
    x = tensor("input0", shape)
    gamma, beta = tensor("gamma", shape[1:2], 0.25, 1.0), tensor("beta", shape[1:2])
    mean = noise_tensor("running_mean", shape[1:2])
    variance = noise_tensor("running_var", shape[1:2], 0.5, 1.0)
    eps = 1e-3 if profile == "keras2" else 1e-5
    evaluated = F.batch_norm(x, mean.clone(), variance.clone(), gamma, beta, False, 0.1, eps)
    if profile == "torch":
        y = F.batch_norm(x, mean, variance, gamma, beta, True, 0.1, eps)
    else:
        y = F.batch_norm(x, None, None, gamma, beta, True, 0.0, eps)
        axes = [axis for axis in range(len(shape)) if axis != 1]
        count = math.prod(shape) / shape[1]
        scale = count / (count - 1 - eps) if "keras" in op else 1.0
        mean = 0.99 * mean + 0.01 * x.mean(axes)
        variance = 0.99 * variance + 0.01 * scale * x.var(axes, unbiased=False)
    return {"op": op, "profile": profile, "inputs": [x], "outputs": [y], "evaluated": [evaluated],
            "parameters": [gamma, beta], "running": [mean, variance]}


def noise_tensor(name, shape, factor=1.0, centre=0.0):
    return torch.tensor(noise(name, shape) * factor + centre)


def activation(op, function):
    x = tensor("input0", (3, 7, 2, 5), 4.0)
    return {"op": op, "inputs": [x], "outputs": [function(x)], "factor": 4.0}


def combine(op, shapes, function):
    inputs = [tensor(f"input{i}", shape) for i, shape in enumerate(shapes)]
    return {"op": op, "inputs": inputs, "outputs": [function(*inputs)]}


def prelu(shape):
    x, alpha = tensor("input0", shape, 4.0), tensor("alpha", shape[1:2])
    return {"op": "prelu", "inputs": [x], "outputs": [F.prelu(x, alpha)], "parameters": [alpha],
            "factor": 4.0}


def affine(shape):
    return tensor("gamma", shape[1:2], 0.25, 1.0), tensor("beta", shape[1:2])


def scale(shape):
    x, (gamma, beta) = tensor("input0", shape), affine(shape)
    return {"op": "scale", "inputs": [x], "outputs": [x * gamma[:, None, None] + beta[:, None, None]],
            "parameters": [gamma, beta]}


def layer_norm(shape, profile, eps):
    """Over channels, as Keras's axis -1: they are last for PyTorch's function."""
    x, (gamma, beta) = tensor("input0", shape), affine(shape)
    y = F.layer_norm(x.movedim(1, -1), shape[1:2], gamma, beta, eps).movedim(-1, 1)
    return {"op": "layer_norm", "profile": profile, "inputs": [x], "outputs": [y],
            "parameters": [gamma, beta]}


def group_norm(shape, groups, profile, eps):
    x, (gamma, beta) = tensor("input0", shape), affine(shape)
    return {"op": f"{{group_norm: {groups}}}", "profile": profile, "inputs": [x],
            "outputs": [F.group_norm(x, groups, gamma, beta, eps)], "parameters": [gamma, beta]}


def instance_norm(shape, profile, eps):
    """PyTorch's layer learns nothing by default, Keras's does."""
    x = tensor("input0", shape)
    gamma, beta = affine(shape) if profile == "keras2" else (None, None)
    y = F.instance_norm(x, weight=gamma, bias=beta, eps=eps)
    return {"op": "instance_norm", "profile": profile, "inputs": [x], "outputs": [y],
            "parameters": [gamma, beta] if gamma is not None else []}


def lrn_across(shape, size, alpha, beta, k):
    x = tensor("input0", shape, 4.0)
    return {"op": f"{{lrn: {{size: {size}, alpha: {alpha}, beta: {beta}, k: {k}}}}}", "inputs": [x],
            "outputs": [F.local_response_norm(x, size, alpha, beta, k)], "factor": 4.0}


def lrn_within(shape, size, alpha, beta):
    """Caffe: an average pooling of the squares that counts its padding."""
    x = tensor("input0", shape, 4.0)
    mean = F.avg_pool2d(x * x, size, 1, size // 2, count_include_pad=True)
    return {"op": f"{{lrn: {{size: {size}, alpha: {alpha}, beta: {beta}, across: false}}}}",
            "inputs": [x], "outputs": [x * (1 + alpha * mean) ** -beta], "factor": 4.0}


def conv_transpose(shape, filters, kernel, stride, pad, dilation, groups, output_pad):
    x = tensor("input0", shape)
    weight = tensor("weight", (shape[1], filters // groups, *kernel))
    bias = tensor("bias", (filters,))
    y = F.conv_transpose2d(x, weight, bias, stride, pad, output_pad, groups, dilation)
    op = (f"{{conv_transpose: {{filters: {filters}, kernel: {list(kernel)}, "
          f"stride: {list(stride)}, pad: {list(pad)}, output_pad: {list(output_pad)}, "
          f"dilation: {list(dilation)}, groups: {groups}}}}}")
    return {"op": op, "inputs": [x], "outputs": [y], "parameters": [weight, bias]}


def conv_transpose_same(shape, filters, kernel, stride):
    """Keras: in * stride outputs, the margins of the convolution that it turns around."""
    x = tensor("input0", shape)
    weight = tensor("weight", (shape[1], filters, *kernel))
    bias = tensor("bias", (filters,))
    sizes = [size * s for size, s in zip(shape[2:], stride)]
    left, right, top, bottom = same(torch.zeros(1, 1, *sizes), kernel, stride, (1, 1), True)
    whole = F.conv_transpose2d(x, weight, bias, stride,
                               output_padding=[max(s - k, 0) for s, k in zip(stride, kernel)])
    y = whole[:, :, top:top + sizes[0], left:left + sizes[1]]
    assert list(y.shape[2:]) == sizes and right >= 0 and bottom >= 0
    op = (f"{{conv_transpose: {{filters: {filters}, kernel: {list(kernel)}, "
          f"stride: {list(stride)}, pad: same_upper}}}}")
    return {"op": op, "inputs": [x], "outputs": [y], "parameters": [weight, bias]}


def recurrent(op, shape, units, gates, function, biases=1):
    """`function` of x [n, t, c] and the parameters gives [n, t, units]."""
    x = tensor("input0", shape)
    parameters = [tensor("weight", (gates * units, shape[1])),
                  tensor("recurrent", (gates * units, units)), tensor("bias", (gates * units,))]
    if biases == 2:
        parameters.append(tensor("recurrent_bias", (gates * units,)))
    y = function(x[:, :, 0].transpose(1, 2), *parameters)
    y = y.transpose(1, 2)[:, :, None] if "return_sequences: true" in op else y[:, -1]
    return {"op": op, "inputs": [x], "outputs": [y], "parameters": parameters}


def masked(op, shape, units, gates, function, biases=1):
    """The tokens are the second input of the op and of `function`; input gradients are those of the
    first."""
    tokens = labels_of(shape[0] * shape[3], shape[1]).reshape(shape[0], shape[3])
    case = recurrent(op, shape, units, gates, lambda x, *p: function(x, *p, tokens=tokens), biases)
    case["shapes"] = [list(shape), list(tokens.shape)]
    return case


def torch_lstm(x, weight, recurrent, bias):
    state = torch.zeros(1, len(x), recurrent.shape[1], dtype=x.dtype)
    return torch._VF.lstm(x, (state, state), [weight, recurrent, bias, torch.zeros_like(bias)],
                          True, 1, 0.0, False, False, True)[0]


def torch_gru(x, *parameters):
    state = torch.zeros(1, len(x), parameters[1].shape[1], dtype=x.dtype)
    return torch._VF.gru(x, state, list(parameters), True, 1, 0.0, False, False, True)[0]


def torch_rnn(run):
    def function(x, weight, recurrent, bias):
        state = torch.zeros(1, len(x), recurrent.shape[1], dtype=x.dtype)
        return run(x, state, [weight, recurrent, bias, torch.zeros_like(bias)], True, 1, 0.0, False,
                   False, True)[0]
    return function


def recurrent_cases():
    shape = (3, 5, 1, 7)
    for more in ("", ", return_sequences: true"):
        yield recurrent(f"{{lstm: {{units: 6, gates: sigmoid{more}}}}}", shape, 6, 4, torch_lstm)
        yield recurrent(f"{{lstm: {{units: 6{more}}}}}", shape, 6, 4,
                        lambda x, *p: keras_lstm(x, *p, hard_sigmoid))
        yield recurrent(f"{{simple_rnn: {{units: 6{more}}}}}", shape, 6, 1,
                        torch_rnn(torch._VF.rnn_tanh))
    yield recurrent("{simple_rnn: {units: 4, activation: relu}}", shape, 4, 1,
                    torch_rnn(torch._VF.rnn_relu))
    for more in ("", ", return_sequences: true"):
        yield masked(f"{{lstm: {{units: 4, mask: true{more}}}}}", shape, 4, 4,
                     lambda x, *p, tokens: keras_lstm(x, *p, hard_sigmoid, tokens))
    # Keras returns the states of a backwards layer in the order in which they are computed.
    yield recurrent("{lstm: {units: 4, gates: sigmoid, backwards: true, return_sequences: true}}",
                    shape, 4, 4, lambda x, *p: torch_lstm(x.flip(1), *p))


def gru_cases():
    shape = (3, 5, 1, 7)
    for more in ("", ", return_sequences: true"):
        yield recurrent(f"{{gru: {{units: 6, gates: sigmoid, reset: after{more}}}}}", shape, 6, 3,
                        torch_gru, 2)
        yield recurrent(f"{{gru: {{units: 6{more}}}}}", shape, 6, 3,
                        lambda x, *p: keras_gru(x, *p, gate=hard_sigmoid))
        yield masked(f"{{gru: {{units: 4, mask: true{more}}}}}", shape, 4, 3,
                     lambda x, *p, tokens: keras_gru(x, *p, gate=hard_sigmoid, tokens=tokens))
        yield masked(f"{{gru: {{units: 4, mask: true, reset: after{more}}}}}", shape, 4, 3,
                     lambda x, *p, tokens: keras_gru(x, *p, gate=hard_sigmoid, tokens=tokens), 2)
    yield recurrent("{gru: {units: 4, gates: sigmoid, reset: after, backwards: true, "
                    "return_sequences: true, in_order: true}}", shape, 4, 3,
                    lambda x, *p: torch_gru(x.flip(1), *p).flip(1), 2)


def labels_of(samples, classes):
    return torch.tensor(((noise("labels", (samples,)) + 1) / 2 * classes).astype(int))


def loss(op, shape, function):
    x = tensor("input0", shape, 4.0)
    labels = labels_of(shape[0], max(shape[1], 2))
    y = function(x, labels)
    (y.sum() * SCALE).backward()
    return {"op": op, "inputs": [x], "outputs": [y], "factor": 4.0, "backward_done": True}


def hot(x, labels):
    if x.shape[1] == 1:
        return labels[:, None].double()
    return F.one_hot(labels, x.shape[1]).double()


def bce(x, labels, smoothing):
    target = hot(x, labels) * (1 - smoothing) + smoothing / 2
    return F.binary_cross_entropy_with_logits(x, target, reduction="none").mean(1)


def shape_cases():
    shape = (2, 5, 3, 4)
    yield combine("maximum", [shape] * 3, lambda a, b, c: torch.maximum(torch.maximum(a, b), c))
    yield combine("{pad: {size: [1, 2], value: 0.5}}", [shape],
                  lambda a: F.pad(a, (2, 2, 1, 1), value=0.5))
    yield combine("{crop: {top: 1, left: 2}}", [shape], lambda a: a[:, :, 1:, 2:])
    yield combine("{slice: [1, -1]}", [shape], lambda a: a[:, 1:-1])
    yield combine("{permute: [w, c, h]}", [shape], lambda a: a.permute(0, 3, 1, 2))
    yield combine("{reshape: [6, -1, 5]}", [shape], lambda a: a.reshape(2, 6, 2, 5))
    yield combine("{upsample: {size: [2, 3]}}", [shape], lambda a: F.interpolate(a, scale_factor=(2, 3)))
    for factors in ((2, 2), (3, 4), (1, 5)):
        yield combine(f"{{upsample: {{size: {list(factors)}, mode: bilinear}}}}", [shape],
                      lambda a: F.interpolate(a, scale_factor=factors, mode="bilinear",
                                              align_corners=False))


def norm_cases():
    yield prelu((3, 7, 2, 5))
    yield scale((3, 7, 2, 5))
    for profile, eps in (("keras2", 1e-3), ("torch", 1e-5)):
        yield layer_norm((2, 6, 3, 4), profile, eps)
        yield layer_norm((4, 7), profile, eps)
        yield group_norm((2, 6, 3, 4), 3, profile, eps)
        yield instance_norm((2, 6, 3, 4), profile, eps)
    yield lrn_across((2, 7, 3, 4), 5, 0.5, 0.75, 1.0)
    yield lrn_across((2, 7, 3, 4), 3, 2.0, 0.5, 2.0)
    yield lrn_within((2, 3, 5, 4), 3, 1.0, 0.75)


def transposed_cases():
    yield conv_transpose((2, 3, 4, 5), 5, (3, 3), (1, 1), (0, 0), (1, 1), 1, (0, 0))
    yield conv_transpose((2, 3, 4, 5), 5, (4, 4), (2, 2), (1, 1), (1, 1), 1, (0, 0))
    yield conv_transpose((2, 4, 4, 5), 6, (3, 3), (2, 2), (1, 1), (1, 1), 2, (1, 1))
    yield conv_transpose((2, 3, 5, 4), 4, (3, 2), (2, 1), (1, 0), (2, 1), 1, (1, 0))
    yield conv_transpose_same((2, 3, 4, 5), 5, (3, 3), (2, 2))
    yield conv_transpose_same((2, 3, 4, 5), 5, (2, 3), (3, 1))


def cases():
    for pad in ("valid", "same_upper", "same_lower", "same_symmetric", (1, 2)):
        for stride in ((1, 1), (2, 2)):
            yield conv((2, 3, 8, 7), 5, (3, 3), stride, pad)
    yield conv((2, 3, 9, 8), 4, (5, 2), (2, 1), "same_upper")
    yield conv((2, 4, 9, 8), 6, (3, 3), (1, 1), "same_upper", (2, 2), 2)
    yield conv((2, 4, 9, 8), 6, (3, 3), (2, 2), "same_lower", (2, 2))
    yield conv((2, 6, 7, 7), 6, (3, 3), (2, 2), (1, 1), (1, 1), 6)
    yield conv((2, 17, 5, 5), 33, (1, 1))
    yield from transposed_cases()
    yield dense((4, 19), 7)
    yield dense((3, 4, 2, 3), 5)
    for ceil in (False, True):
        yield max_pool((2, 3, 7, 8), 3, 2, 1, ceil)
        yield max_pool((2, 3, 6, 6), 3, 2, 0, ceil)
        for count_pad in (False, True):
            yield avg_pool((2, 3, 7, 8), 3, 2, 1, ceil, count_pad)
    yield avg_pool_same((2, 3, 7, 8), 3, 2)
    yield global_pool("global_max_pool", (2, 3, 4, 5))
    yield global_pool("global_avg_pool", (2, 3, 4, 5))
    for shape in ((4, 3, 5, 2), (7, 3)):
        yield bn(shape, "keras2")
        yield bn(shape, "torch")
    yield bn((4, 3, 5, 2), "keras2", "{bn: {running_var: keras}}")
    yield activation("relu", F.relu)
    yield activation("leaky_relu", lambda x: F.leaky_relu(x, 0.3))
    yield activation("{leaky_relu: {slope: 0.01}}", lambda x: F.leaky_relu(x, 0.01))
    yield activation("elu", F.elu)
    yield activation("selu", F.selu)
    yield activation("gelu", F.gelu)
    yield activation("swish", F.silu)
    yield activation("hard_swish", F.hardswish)
    yield activation("sigmoid", torch.sigmoid)
    yield activation("hard_sigmoid", lambda x: (0.2 * x + 0.5).clamp(0, 1))
    # F.hardsigmoid has the factor 1 / 6 in single precision.
    yield activation(f"{{hard_sigmoid: {1 / 6!r}}}", lambda x: (x / 6 + 0.5).clamp(0, 1))
    yield activation("tanh", torch.tanh)
    yield activation("softplus", F.softplus)
    yield activation("softsign", F.softsign)
    yield activation("mish", F.mish)
    yield activation("softmax", lambda x: F.softmax(x, 1))
    shape = (2, 3, 4, 5)
    yield combine("add", [shape] * 3, lambda a, b, c: a + b + c)
    yield combine("multiply", [shape] * 3, lambda a, b, c: a * b * c)
    yield combine("average", [shape] * 3, lambda a, b, c: (a + b + c) / 3)
    yield combine("concat", [shape, (2, 1, 4, 5)], lambda a, b: torch.cat((a, b), 1))
    yield combine("flatten", [shape], lambda a: a.flatten(1))
    yield from shape_cases()
    yield from norm_cases()
    yield from recurrent_cases()
    yield from gru_cases()
    for smoothing in (0.0, 0.1):
        yield loss(f"{{cross_entropy: {{label_smoothing: {smoothing}}}}}", (6, 10),
                   lambda x, t: F.cross_entropy(x, t, reduction="none", label_smoothing=smoothing))
        for classes in (1, 3):
            yield loss(f"{{binary_cross_entropy: {{label_smoothing: {smoothing}}}}}", (5, classes),
                       lambda x, t: bce(x, t, smoothing))
    yield loss("mse", (5, 4), lambda x, t: ((x - hot(x, t)) ** 2).mean(1))


def write(case):
    if not case.get("backward_done"):
        for i, y in enumerate(case["outputs"]):
            y.backward(torch.tensor(noise(f"output_gradient{i}", tuple(y.shape))))
    print(f"- op: {case['op']}")
    print(f"  inputs: {case.get('shapes') or [list(x.shape) for x in case['inputs']]}")
    if "profile" in case:
        print(f"  profile: {case['profile']}")
    print("  golden:")
    print(f"    factor: {case.get('factor', 1.0)}")
    print(f"    outputs: {[projections(y) for y in case['outputs']]}")
    print(f"    evaluated: {[projections(y) for y in case.get('evaluated', case['outputs'])]}")
    print(f"    running: {[projections(y) for y in case.get('running', [])]}")
    print(f"    input_gradients: {[projections(x.grad) for x in case['inputs']]}")
    print(f"    parameter_gradients: {[projections(p.grad) for p in case.get('parameters', [])]}")


def main():
    print("# Made by scripts/make_layer_goldens.py")
    print(f"# with PyTorch {torch.__version__}; seeds are the names of the tensors")
    for case in cases():
        write(case)


if __name__ == "__main__":
    main()
