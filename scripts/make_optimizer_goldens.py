#!/usr/bin/env python3
"""Weights in steps of each optimizer, learning rates of schedules and of plateaus, for tests/optim/optimizers.yaml.

Each case is an entry of the run file's `optimizer:` with its profile. `keras` cases are Keras 2.1.6's formulas
(keras/optimizers.py), written out below; `torch` cases are run by torch.optim; the others are the formulas of
MXNet 1.0 (optimizer_op-inl.h, optimizer.py; LARS of MXNet 2.0), Caffe (src/caffe/solvers), timm (RMSpropTF),
MLPerf, apex and the authors of papers, written out below.
The weights and gradients, and the rates, are those of tests/optim/optimizer_goldens_test.cpp, which steps the
same cases and compares after every step.

    python3 scripts/make_optimizer_goldens.py > tests/optim/optimizers.yaml
"""
import math

import torch
from muon_forms import AirbenchMuon

STEPS = 12
SIZE = 4  # elements of a parameter


def start(size=SIZE):
    return [math.sin(i + 0.5) for i in range(size)]


def gradient(step, size=SIZE):
    return [math.cos(1.7 * i + step) for i in range(size)]


def rate(base, step):
    """A learning rate that changes, so that the places of the rate in a formula show."""
    return base / (1 + 0.1 * step)


def run(update, base, **options):
    """update(lr, g, state, t, w, options) -> new w of one element; t counts from 1."""
    weights, rows = start(), []
    states = [{} for _ in weights]
    for step in range(STEPS):
        lr = rate(base, step) / (1 + options.get("decay", 0) * step)
        for i, g in enumerate(gradient(step)):
            g += options.get("l2", 0) * weights[i]
            shrink = 1 - lr * options.get("decoupled", 0)
            weights[i] = update(lr, g, states[i], step + 1, shrink * weights[i], options)
        rows.append(list(weights))
    return rows


def run_torch(make, base):
    weight = torch.tensor(start(), dtype=torch.float64, requires_grad=True)
    optimizer = make([weight])
    rows = []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = rate(base, step)
        weight.grad = torch.tensor(gradient(step), dtype=torch.float64)
        optimizer.step()
        rows.append(weight.tolist())
    return rows


# Keras 2.1.6. K.epsilon() is 1e-7.

def keras_sgd(lr, g, s, t, w, o):
    m = o.get("momentum", 0)
    v = m * s.get("m", 0) - lr * g
    s["m"] = v
    return w + m * v - lr * g if o.get("nesterov") else w + v


def keras_rmsprop(lr, g, s, t, w, o):
    rho = o.get("rho", 0.9)
    s["a"] = rho * s.get("a", 0) + (1 - rho) * g ** 2
    return w - lr * g / (math.sqrt(s["a"]) + o.get("epsilon", 1e-7))


def keras_adagrad(lr, g, s, t, w, o):
    s["a"] = s.get("a", 0) + g ** 2
    return w - lr * g / (math.sqrt(s["a"]) + o.get("epsilon", 1e-7))


def keras_adadelta(lr, g, s, t, w, o):
    rho, epsilon = o.get("rho", 0.95), o.get("epsilon", 1e-7)
    a = rho * s.get("a", 0) + (1 - rho) * g ** 2
    update = g * math.sqrt(s.get("d", 0) + epsilon) / math.sqrt(a + epsilon)
    s["a"], s["d"] = a, rho * s.get("d", 0) + (1 - rho) * update ** 2
    return w - lr * update


def keras_adam(lr, g, s, t, w, o):
    beta_1, beta_2 = o.get("beta1", 0.9), o.get("beta2", 0.999)
    lr_t = lr * (math.sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t))
    s["m"] = beta_1 * s.get("m", 0) + (1 - beta_1) * g
    s["v"] = beta_2 * s.get("v", 0) + (1 - beta_2) * g ** 2
    s["vhat"] = max(s.get("vhat", 0), s["v"])
    square = s["vhat"] if o.get("amsgrad") else s["v"]
    return w - lr_t * s["m"] / (math.sqrt(square) + o.get("epsilon", 1e-7))


def keras_adamax(lr, g, s, t, w, o):
    beta_1, beta_2 = 0.9, 0.999
    s["m"] = beta_1 * s.get("m", 0) + (1 - beta_1) * g
    s["u"] = max(beta_2 * s.get("u", 0), abs(g))
    return w - lr / (1 - beta_1 ** t) * s["m"] / (s["u"] + o.get("epsilon", 1e-7))


def keras_nadam(lr, g, s, t, w, o):
    beta_1, beta_2, decay = 0.9, 0.999, o.get("schedule_decay", 0.004)
    cache_t = beta_1 * (1 - 0.5 * 0.96 ** (t * decay))
    cache_next = beta_1 * (1 - 0.5 * 0.96 ** ((t + 1) * decay))
    s["schedule"] = s.get("schedule", 1) * cache_t
    schedule_next = s["schedule"] * cache_next
    g_prime = g / (1 - s["schedule"])
    s["m"] = beta_1 * s.get("m", 0) + (1 - beta_1) * g
    s["v"] = beta_2 * s.get("v", 0) + (1 - beta_2) * g ** 2
    bar = (1 - cache_t) * g_prime + cache_next * s["m"] / (1 - schedule_next)
    return w - lr * bar / (math.sqrt(s["v"] / (1 - beta_2 ** t)) + o.get("epsilon", 1e-7))


# The other frameworks, where they differ from Keras.

def mxnet_rmsprop(lr, g, s, t, w, o):
    """RMSProp: epsilon in the root; centered is RMSPropAlex with gamma2."""
    s["n"] = 0.9 * s.get("n", 0) + 0.1 * g * g
    if not o.get("centered"):
        return w - lr * g / math.sqrt(s["n"] + 1e-8)
    s["g"] = 0.9 * s.get("g", 0) + 0.1 * g
    s["delta"] = 0.9 * s.get("delta", 0) - lr * g / math.sqrt(s["n"] - s["g"] ** 2 + 1e-8)
    return w + s["delta"]


def mxnet_adagrad(lr, g, s, t, w, o):
    s["history"] = s.get("history", 0) + g * g
    return w - lr * g / math.sqrt(s["history"] + 1e-7)


def mxnet_adadelta(lr, g, s, t, w, o):
    return keras_adadelta(lr, g, s, t, w, {"rho": 0.9, "epsilon": 1e-5})


def timm_rmsprop(lr, g, s, t, w, o):
    """RMSpropTF with lr_in_momentum."""
    a = s.get("a", 1.0)
    s["a"] = a + (g * g - a) * (1 - 0.9)
    s["buf"] = o["momentum"] * s.get("buf", 0) + lr * g / math.sqrt(s["a"] + 1e-10)
    return w - s["buf"]


# Rules with a trust ratio, which is that of a whole parameter: update(lr, g, state, t, w, options) -> new w of
# all CHUNK elements, of which the file has the first SIZE.

CHUNK = 64


def norm(x):
    return math.sqrt(math.fsum(value * value for value in x))


def run_whole(update, base, **options):
    weights, rows, state = start(CHUNK), [], {}
    for step in range(STEPS):
        weights = update(rate(base, step), gradient(step, CHUNK), state, step + 1, weights, options)
        rows.append(weights[:SIZE])
    return rows


def lars_ratio(g, w, o):
    of_weights, of_gradient = norm(w), norm(g)
    if of_weights == 0 or of_gradient == 0 or o.get("plain"):
        return 1
    return o.get("eta", 0.001) * of_weights / (of_gradient + o.get("wd", 0) * of_weights + 1e-8)


def mxnet_lars(lr, g, s, t, w, o):
    """python/mxnet/optimizer/lars.py: sgd_mom_update with the rate lr * ratio."""
    local = lr * lars_ratio(g, w, o)
    old = s.get("m", [0] * CHUNK)
    s["m"] = [0.9 * m - local * (x + o.get("wd", 0) * y) for m, x, y in zip(old, g, w)]
    return [y + m for y, m in zip(w, s["m"])]


def mlperf_lars(lr, g, s, t, w, o):
    """TensorFlow's lars_optimizer.py of MLPerf: the rate multiplies the velocity."""
    local = lr * lars_ratio(g, w, o)
    whole = [x + o.get("wd", 0) * y for x, y in zip(g, w)]
    s["m"] = [0.9 * m + x for m, x in zip(s.get("m", [0] * CHUNK), whole)]
    if o.get("nesterov"):
        return [y - local * x - local * 0.9 * m for y, x, m in zip(w, whole, s["m"])]
    return [y - local * m for y, m in zip(w, s["m"])]


def apex_lamb(lr, g, s, t, w, o):
    """csrc/multi_tensor_lamb.cu with MOMENT_MODE_1, bias_correction and grad_averaging."""
    zeros = [0] * CHUNK
    s["m"] = [0.9 * m + 0.1 * x for m, x in zip(s.get("m", zeros), g)]
    s["v"] = [0.999 * v + 0.001 * x * x for v, x in zip(s.get("v", zeros), g)]
    update = [m / (1 - 0.9 ** t) / (math.sqrt(v / (1 - 0.999 ** t)) + 1e-6) + o.get("wd", 0.01) * y
              for m, v, y in zip(s["m"], s["v"], w)]
    of_weights, of_update = norm(w), norm(update)
    ratio = of_weights / of_update if of_weights > 0 and of_update > 0 and not o.get("plain") else 1
    return [y - lr * ratio * u for y, u in zip(w, update)]


def lucidrains_lion(lr, g, s, t, w, o):
    """lion_pytorch/lion_pytorch.py, update_fn; the decoupled decay before it is run()'s."""
    beta1, beta2 = o.get("beta1", 0.9), o.get("beta2", 0.99)
    m = s.get("m", 0)
    update = beta1 * m + (1 - beta1) * g
    s["m"] = beta2 * m + (1 - beta2) * g
    return w - lr * ((update > 0) - (update < 0))


def timm_adabelief(lr, g, s, t, w, o):
    """timm/optim/adabelief.py without rectification; exp_avg_var keeps the eps that each step adds in place."""
    beta1, beta2, eps = o.get("beta1", 0.9), o.get("beta2", 0.999), o.get("eps", 1e-16)
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * (g - s["m"]) ** 2 + eps
    denominator = math.sqrt(s["v"]) / math.sqrt(1 - beta2 ** t) + eps
    return w - lr / (1 - beta1 ** t) * s["m"] / denominator


def caffe_sgd(lr, g, s, t, w, o):
    s["history"] = o["momentum"] * s.get("history", 0) + lr * g
    return w - s["history"]


def case(name, profile, entry, rows, shape=None):
    print(f"  - case: {name}")
    print(f"    profile: {profile}")
    if shape:
        print(f"    shape: {list(shape)}")
    print(f"    optimizer: {{{entry}}}")
    print("    weights:")
    for row in rows:
        print("      - [" + ", ".join(repr(float(value)) for value in row) + "]")


def keras_cases():
    case("keras sgd", "keras2", "sgd: {lr: 0.1}", run(keras_sgd, 0.1))
    case("keras sgd with decay", "keras2", "sgd: {lr: 0.1, momentum: 0.9, decay: 0.05}",
         run(keras_sgd, 0.1, momentum=0.9, decay=0.05))
    case("keras nesterov", "keras2", "sgd: {lr: 0.1, momentum: 0.9, nesterov: true}",
         run(keras_sgd, 0.1, momentum=0.9, nesterov=True))
    case("keras rmsprop", "keras2", "rmsprop: {lr: 0.01, decay: 0.05}", run(keras_rmsprop, 0.01, decay=0.05))
    case("keras adagrad", "keras2", "adagrad: {decay: 0.05}", run(keras_adagrad, 0.01, decay=0.05))
    case("keras adadelta", "keras2", "adadelta: {decay: 0.05}", run(keras_adadelta, 1.0, decay=0.05))
    case("keras adam", "keras2", "adam: {lr: 0.01, decay: 0.05}", run(keras_adam, 0.01, decay=0.05))
    case("keras amsgrad", "keras2", "adam: {lr: 0.01, amsgrad: true, beta1: 0.5, beta2: 0.6}",
         run(keras_adam, 0.01, amsgrad=True, beta1=0.5, beta2=0.6))
    case("keras adamax", "keras2", "adamax: {decay: 0.05}", run(keras_adamax, 0.002, decay=0.05))
    case("keras nadam", "keras2", "nadam: {lr: 0.01}", run(keras_nadam, 0.01))
    case("keras nadam, schedule_decay", "keras2", "nadam: {lr: 0.01, schedule_decay: 0.5}",
         run(keras_nadam, 0.01, schedule_decay=0.5))


def other_cases():
    case("mxnet rmsprop", "mxnet", "rmsprop: {lr: 0.01}", run(mxnet_rmsprop, 0.01))
    case("mxnet rmsprop, centered", "mxnet", "rmsprop: {lr: 0.01, centered: true}",
         run(mxnet_rmsprop, 0.01, centered=True))
    case("mxnet adagrad", "mxnet", "adagrad: {lr: 0.1, weight_decay: 0.02}",
         run(mxnet_adagrad, 0.1, decoupled=0.02))
    case("mxnet adadelta", "mxnet", "adadelta", run(mxnet_adadelta, 1.0))
    case("timm rmsprop_tf", "keras2",
         "rmsprop: {lr: 0.01, epsilon: 1e-10, epsilon_place: inside, start: 1, momentum: 0.9}",
         run(timm_rmsprop, 0.01, momentum=0.9))
    case("caffe sgd", "caffe", "sgd: {lr: 0.1, momentum: 0.9, weight_decay: 0.02}",
         run(caffe_sgd, 0.1, momentum=0.9, l2=0.02))
    case("caffe rmsprop", "caffe", "rmsprop: {lr: 0.01}", run(keras_rmsprop, 0.01, rho=0.99, epsilon=1e-8))
    case("caffe adagrad", "caffe", "adagrad: {lr: 0.1}", run(keras_adagrad, 0.1, epsilon=1e-8))
    case("caffe adam", "caffe", "adam: {lr: 0.01, weight_decay: 0.02}",
         run(keras_adam, 0.01, epsilon=1e-8, l2=0.02))


def ratio_cases():
    case("mxnet lars", "mxnet", "lars: {lr: 10, weight_decay: 0.02}", run_whole(mxnet_lars, 10, wd=0.02))
    case("mxnet lars, eta", "mxnet", "lars: {eta: 0.02}", run_whole(mxnet_lars, 0.1, eta=0.02))
    case("mxnet lars of a bias", "mxnet", "lars: {lr: 0.1, ratio_on: []}",
         run_whole(mxnet_lars, 0.1, plain=True))
    case("mlperf lars", "torch", "lars: {lr: 10, weight_decay: 0.02}", run_whole(mlperf_lars, 10, wd=0.02))
    case("mlperf lars, nesterov", "torch", "lars: {lr: 10, nesterov: true}",
         run_whole(mlperf_lars, 10, nesterov=True))
    case("apex lamb", "torch", "lamb: {lr: 0.01}", run_whole(apex_lamb, 0.01))
    case("apex lamb, decay", "keras2", "lamb: {lr: 0.1, weight_decay: 0.3}", run_whole(apex_lamb, 0.1, wd=0.3))
    case("apex lamb of a bias", "keras2", "lamb: {weight_decay: 0, ratio_on: []}",
         run_whole(apex_lamb, 0.001, wd=0, plain=True))
    # csrc/multi_tensor_lamb.cu, LAMBStage2Functor: `if (use_nvlamb || (decay != 0.0))`.
    case("apex lamb without decay", "torch", "lamb: {lr: 0.1, weight_decay: 0}",
         run_whole(apex_lamb, 0.1, wd=0, plain=True))


def torch_cases():
    optim = torch.optim
    for name, entry, base, make in [
        ("sgd", "sgd: {lr: 0.1, momentum: 0.9, weight_decay: 0.02}", 0.1,
         lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.02)),
        ("nesterov", "sgd: {lr: 0.1, momentum: 0.9, nesterov: true}", 0.1,
         lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True)),
        ("rmsprop", "rmsprop", 0.01, lambda p: optim.RMSprop(p)),
        ("rmsprop, momentum", "rmsprop: {momentum: 0.9, weight_decay: 0.02}", 0.01,
         lambda p: optim.RMSprop(p, momentum=0.9, weight_decay=0.02)),
        ("rmsprop, centered", "rmsprop: {centered: true}", 0.01, lambda p: optim.RMSprop(p, centered=True)),
        ("rmsprop, both", "rmsprop: {centered: true, momentum: 0.5}", 0.01,
         lambda p: optim.RMSprop(p, centered=True, momentum=0.5)),
        ("adagrad", "adagrad: {start: 0.3}", 0.01, lambda p: optim.Adagrad(p, initial_accumulator_value=0.3)),
        ("adadelta", "adadelta", 1.0, lambda p: optim.Adadelta(p)),
        ("adam", "adam: {weight_decay: 0.02}", 0.001, lambda p: optim.Adam(p, weight_decay=0.02)),
        ("amsgrad", "adam: {amsgrad: true, beta1: 0.5, beta2: 0.6}", 0.001,
         lambda p: optim.Adam(p, amsgrad=True, betas=(0.5, 0.6))),
        ("adamw", "adamw: {weight_decay: 0.1}", 0.001, lambda p: optim.AdamW(p, weight_decay=0.1)),
        ("adamw, amsgrad", "adamw: {amsgrad: true, beta2: 0.6}", 0.001,
         lambda p: optim.AdamW(p, amsgrad=True, betas=(0.9, 0.6))),
        ("adamax", "adamax", 0.002, lambda p: optim.Adamax(p)),
    ]:
        case("torch " + name, "torch", entry, run_torch(make, base))
    # torch 1.13's NAdam multiplies the product for the next step by mu(t) twice; torch 2 has Keras's formula.
    case("torch nadam", "torch", "nadam: {weight_decay: 0.02}",
         run(keras_nadam, 0.002, epsilon=1e-8, l2=0.02))


def paper_cases():
    case("lucidrains lion", "torch", "lion: {lr: 0.01}", run(lucidrains_lion, 0.01))
    case("lucidrains lion, decay", "keras2", "lion: {beta1: 0.6, beta2: 0.8, weight_decay: 0.5}",
         run(lucidrains_lion, 1e-4, beta1=0.6, beta2=0.8, decoupled=0.5))
    case("timm adabelief", "torch", "adabelief: {lr: 0.01}", run(timm_adabelief, 0.01))
    case("timm adabelief, decay", "keras2", "adabelief: {beta1: 0.6, beta2: 0.8, epsilon: 0.01, weight_decay: 0.5}",
         run(timm_adabelief, 1e-3, beta1=0.6, beta2=0.8, eps=0.01, decoupled=0.5))


def run_matrix(make, base, shape):
    """A matrix of CHUNK elements, of which the file has the first SIZE."""
    weight, rows = torch.tensor(start(CHUNK), dtype=torch.float64).view(shape), []
    optimizer = make([weight])
    for step in range(STEPS):
        lr = rate(base, step)
        if isinstance(optimizer, AirbenchMuon):
            optimizer.lr = lr
        else:
            optimizer.param_groups[0]["lr"] = lr
        weight.grad = torch.tensor(gradient(step, CHUNK), dtype=torch.float64).view(shape)
        optimizer.step()
        rows.append(weight.flatten()[:SIZE].tolist())
    return rows


def matrix_cases():
    for name, entry, base, shape, options in [
        ("tall", "muon", 1e-3, (16, 4), {}),
        ("wide", "muon: {lr: 0.02, momentum: 0.6, nesterov: false, weight_decay: 0}", 0.02, (4, 16),
         {"momentum": 0.6, "nesterov": False, "weight_decay": 0}),
        ("rms of adamw", "muon: {scale: match_rms_adamw, steps: 3, weight_decay: 0.5}", 1e-3, (16, 4),
         {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3, "weight_decay": 0.5}),
        ("spectral, own polynomial", "muon: {scale: spectral_unclamped, coefficients: [2, -1.5, 0.5]}", 1e-3, (4, 16),
         {"adjust_lr_fn": "spectral_unclamped", "ns_coefficients": (2, -1.5, 0.5)}),
    ]:
        rows = run_matrix(lambda p: torch.optim.Muon(p, **{"lr": base, **options}), base, shape)
        case("torch muon, " + name, "torch", entry, rows, shape)
    for name, entry, nesterov in [("", "", True), (" without nesterov", ", nesterov: false", False)]:
        rows = run_matrix(lambda p: AirbenchMuon(p, 0.24, 0.6, nesterov), 0.24, (16, 4))
        case("airbench muon" + name, "torch", "muon: {form: airbench, lr: 0.24, momentum: 0.6" + entry + "}",
             rows, (16, 4))


EPOCHS = 20  # length of the schedules, one step each


def schedule_case(name, entry, base, rates):
    print(f"  - case: {name}")
    print(f"    schedule: {{{entry}}}")
    print(f"    base: {base!r}")
    print("    rates: [" + ", ".join(repr(float(value)) for value in rates) + "]")


def torch_schedule(name, entry, make, base=0.4):
    """The learning rates with which torch takes its steps."""
    weight = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=base)
    schedule = make(optimizer, torch.optim.lr_scheduler)
    rates = []
    for _ in range(EPOCHS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    schedule_case(name, entry, base, rates)


def torch_schedules():
    torch_schedule("torch LinearLR", "linear: {from: 0.25, to: 0.75, length: 8}",
                   lambda o, s: s.LinearLR(o, start_factor=0.25, end_factor=0.75, total_iters=8))
    torch_schedule("torch CosineAnnealingLR", "cosine: {end: 0.01}",
                   lambda o, s: s.CosineAnnealingLR(o, EPOCHS, eta_min=0.01))
    torch_schedule("torch CosineAnnealingWarmRestarts", "cosine_restarts: {period: 3, growth: 2, end: 0.01}",
                   lambda o, s: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01))
    torch_schedule("torch OneCycleLR", "one_cycle: {rise: 0.4, start_divisor: 10, end_divisor: 100}",
                   lambda o, s: s.OneCycleLR(o, 0.4, total_steps=EPOCHS, pct_start=0.4, div_factor=10,
                                             final_div_factor=100))
    torch_schedule("torch PolynomialLR", "poly: {power: 2, length: 15}",
                   lambda o, s: s.PolynomialLR(o, total_iters=15, power=2))
    torch_schedule("torch ExponentialLR", "exponential: {gamma: 0.8}", lambda o, s: s.ExponentialLR(o, 0.8))
    torch_schedule("torch StepLR", "step: {every: 6, gamma: 0.3}", lambda o, s: s.StepLR(o, 6, 0.3))
    torch_schedule("torch MultiStepLR", "multistep: {at: [4, 9], gamma: 0.3}",
                   lambda o, s: s.MultiStepLR(o, [4, 9], 0.3))
    torch_schedule("torch ConstantLR as a warm-up",
                   "constant: {warmup: {steps: 5, from: 0.1, form: constant}}",
                   lambda o, s: s.ConstantLR(o, factor=0.25, total_iters=5))
    torch_schedule("torch SequentialLR",
                   "chain: {parts: [linear: {from: 0.25, to: 1, length: 4}, exponential: {gamma: 0.9}]}",
                   lambda o, s: s.SequentialLR(
                       o, [s.LinearLR(o, start_factor=0.25, total_iters=4), s.ExponentialLR(o, 0.9)], [4]))


def other_schedules():
    def rates(formula):
        return [formula(t) for t in range(EPOCHS)]

    base = 0.4
    schedule_case("caffe sigmoid", "sigmoid: {gamma: -0.5, center: 8}", base,
                  rates(lambda t: base / (1 + math.exp(0.5 * (t - 8)))))
    schedule_case("caffe inv", "inverse: {gamma: 0.1, power: 0.75}", base,
                  rates(lambda t: base * (1 + 0.1 * t) ** -0.75))
    schedule_case("caffe poly", "poly: {power: 0.5}", base, rates(lambda t: base * (1 - t / EPOCHS) ** 0.5))

    def timm_cosine(t, period=4, decay=0.5, end=0.01):
        cycle = t // period
        peak = base * decay ** cycle
        return end + 0.5 * (peak - end) * (1 + math.cos(math.pi * (t - cycle * period) / period))

    schedule_case("timm cosine with cycle_decay", "cosine_restarts: {period: 4, end: 0.01, decay: 0.5}", base,
                  rates(timm_cosine))
    schedule_case("darknet burn_in", "constant: {warmup: {steps: 10, form: power4}}", base,
                  rates(lambda t: base * (t / 10) ** 4 if t < 10 else base))
    schedule_case("transformer", "inverse_sqrt: {flat: 5, warmup: {steps: 5}}", base,
                  rates(lambda t: base * min(t / 5, math.sqrt(5 / t)) if t else 0.0))


def keras_plateau(values, base, factor=0.1, patience=10, min_delta=1e-4, cooldown=0, min_lr=0, mode="min"):
    """ReduceLROnPlateau of Keras 2.1.6: the learning rate after each epoch."""
    lr, wait, cooling, rates = base, 0, 0, []
    best = math.inf if mode == "min" else -math.inf
    for current in values:
        if cooling > 0:
            cooling -= 1
            wait = 0
        better = current < best - min_delta if mode == "min" else current > best + min_delta
        if better:
            best, wait = current, 0
        elif cooling <= 0:
            wait += 1
            if wait >= patience and lr > min_lr:
                lr, cooling, wait = max(lr * factor, min_lr), cooldown, 0
        rates.append(lr)
    return rates


def plateau_case(name, values, base, keys, **options):
    print(f"  - case: {name}")
    print(f"    plateau: {{{keys}}}")
    print(f"    base: {base!r}")
    print("    values: [" + ", ".join(repr(float(value)) for value in values) + "]")
    print("    rates: [" + ", ".join(repr(float(value)) for value in keras_plateau(values, base, **options)) + "]")


def plateau_cases():
    falling = [1 / (1 + t) for t in range(6)] + [0.2 + 0.01 * (t % 3) for t in range(14)]
    plateau_case("two falls", falling, 0.1, "factor: 0.5, patience: 3", factor=0.5, patience=3)
    plateau_case("cooldown", falling, 0.1, "factor: 0.5, patience: 2, cooldown: 3",
                 factor=0.5, patience=2, cooldown=3)
    plateau_case("least rate", falling, 0.1, "factor: 0.3, patience: 1, min_lr: 0.02",
                 factor=0.3, patience=1, min_lr=0.02)
    plateau_case("min_delta", [1 - 0.01 * t for t in range(20)], 0.1, "factor: 0.5, patience: 2, min_delta: 0.025",
                 factor=0.5, patience=2, min_delta=0.025)
    plateau_case("larger is better", [min(0.1 * t, 0.5) for t in range(20)], 0.1,
                 "mode: max, factor: 0.5, patience: 5", mode="max", factor=0.5, patience=5)


def main():
    print("# Made by scripts/make_optimizer_goldens.py in float64: the weights after each step, the learning")
    print("# rate of each step, the learning rate after each epoch.")
    print("cases:")
    keras_cases()
    other_cases()
    ratio_cases()
    torch_cases()
    paper_cases()
    matrix_cases()
    print("schedules:")
    torch_schedules()
    other_schedules()
    print("plateaus:")
    plateau_cases()


if __name__ == "__main__":
    main()
