"""Muon as torch and airbench have it, for goldens: in the type of the parameters, which this module makes
torch.optim.Muon compute in instead of bf16."""
import inspect

import torch
import torch.optim._muon as module


# torch's own source, but for the type.
exec(inspect.getsource(module._zeropower_via_newtonschulz).replace("torch.bfloat16", "grad.dtype"), vars(module))


class Flat:
    """A matrix in the place of a parameter, with its memory: torch.optim.Muon takes no other shapes."""

    def __new__(cls, parameter):
        flat = parameter.detach().view(len(parameter), -1)
        parameter.register_post_accumulate_grad_hook(lambda p: setattr(flat, "grad", p.grad.view_as(flat)))
        return flat


def flattened(parameters, is_matrix):
    """Matrices [first axis, all others] of those that are, and the others."""
    parameters = list(parameters)
    return [Flat(p) for p in parameters if is_matrix(p)], [p for p in parameters if not is_matrix(p)]


class AirbenchMuon:
    """Muon of airbench94_muon.py (KellerJordan/cifar10-airbench), written out."""

    def __init__(self, parameters, lr, momentum, nesterov):
        self.parameters, self.lr, self.momentum, self.nesterov = list(parameters), lr, momentum, nesterov
        self.buffers = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        for p, buffer in zip(self.parameters, self.buffers):
            buffer.mul_(self.momentum).add_(p.grad)
            g = p.grad.add(buffer, alpha=self.momentum) if self.nesterov else buffer
            p.mul_(len(p) ** 0.5 / p.norm())
            p.add_(zeropower_via_newtonschulz5(g.reshape(len(g), -1)).view(g.shape), alpha=-self.lr)


def zeropower_via_newtonschulz5(G, steps=3, eps=1e-7):
    a, b, c = 3.4445, -4.7750, 2.0315
    X = G / (G.norm() + eps)
    if G.size(0) > G.size(1):
        X = X.T
    for _ in range(steps):
        A = X @ X.T
        X = a * X + (b * A + c * A @ A) @ X
    return X.T if G.size(0) > G.size(1) else X
