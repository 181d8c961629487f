#!/usr/bin/env python3
"""One row of PyTorch's training speed in a form that waits less for the processor than eager steps.

    peer.py torch_train_speed.py --net resnet20 --batch 128 --mode ampbf16 --form graph

Networks, images, optimizer and eager steps are those of torch_train_speed.py, which is given. Forms: eager; graph, the
whole eager step with its batch in one CUDA graph; reduce-overhead and max-autotune, torch.compile's modes. Graphs have no
gradient scaler, so they are for bf16. Prints one line of JSON: images/s as the median over windows, with the lowest
and the highest, and the seconds to the end of the first step.
"""
import argparse, importlib.util, json, statistics, sys, time
import torch
from torch import nn


def load(path):
    # torch.compile imports the module again by its name.
    name = "torch_train_speed"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_step(peer, net, batch, form):
    """The step as a function without arguments, which returns the loss."""
    model = peer.build(net).cuda().train().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    side, classes, count = (224, 1000, 4 * batch) if net == "resnet50" else (32, 10, 50000)
    images = peer.Images(side, classes, count, "cuda", torch.bfloat16)
    criterion = nn.CrossEntropyLoss()

    def forward(x, y):
        with torch.autocast("cuda", torch.bfloat16):
            return criterion(model(x), y)

    if form in ("reduce-overhead", "max-autotune"):
        forward = torch.compile(forward, mode=form)

    def step():
        x, y = images.batch(batch)
        optimizer.zero_grad(set_to_none=form != "graph")
        loss = forward(x, y)
        loss.backward()
        optimizer.step()
        return loss

    return captured(step) if form == "graph" else step


def captured(step):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(11):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def measure(peer, a):
    started = time.perf_counter()
    step = make_step(peer, a.net, a.batch, a.form)
    step()
    torch.cuda.synchronize()
    first = time.perf_counter() - started
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    step()
    torch.cuda.synchronize()
    steps = max(3, int(a.seconds / max(1e-4, time.perf_counter() - begin)))
    rates = []
    for _ in range(a.windows):
        begin = time.perf_counter()
        for _ in range(steps):
            loss = step()
        torch.cuda.synchronize()
        rates.append(steps * a.batch / (time.perf_counter() - begin))
    return dict(images_per_s=round(statistics.median(rates), 1), low=round(min(rates), 1), high=round(max(rates), 1),
                first_step_s=round(first, 2), loss=round(float(loss), 4), peak_mib=round(torch.cuda.max_memory_allocated() / 2**20))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer")
    parser.add_argument("--net", default="resnet20")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--mode", choices=["ampbf16", "amp16"], default="ampbf16")
    parser.add_argument("--form", choices=["eager", "graph", "reduce-overhead", "max-autotune"], default="eager")
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    a = parser.parse_args()
    if a.mode == "amp16" and a.form != "eager":
        parser.error("fp16 needs a gradient scaler, which only --form eager has")
    torch.backends.cudnn.benchmark = True
    peer = load(a.peer)
    if a.form == "eager":
        row = peer.measure(a.net, a.batch, a.mode, "cuda", a.windows, a.seconds, True)
    else:
        row = dict(net=a.net, batch=a.batch, mode=a.mode, **measure(peer, a))
    print(json.dumps(dict(row, peer="torch " + torch.__version__, form=a.form, hardware=torch.cuda.get_device_name())))


if __name__ == "__main__":
    main()
