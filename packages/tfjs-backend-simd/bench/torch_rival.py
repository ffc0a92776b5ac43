"""PyTorch's side of standard-step.ts: one JSON request a line on stdin, one JSON answer (milliseconds) a line on stdout."""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        u = self.norm1(x)
        q, k, v = (p(u).view(b, t, self.heads, -1).transpose(1, 2) for p in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        x = x + self.output(y)
        return x + self.down(F.relu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, layers, dim=128, heads=4, vocab=64):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        x = self.tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.tokens.weight.T


def step_of(batch, length, layers):
    torch.manual_seed(1)
    model = Model(layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    i = torch.arange(batch * length)
    ids, targets = ((i * i * f + 7 * i) % 64 for f in (31, 17))

    def step():
        loss = F.cross_entropy(model(ids.view(batch, length)).view(-1, 64), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


def product_of(size):
    a, b = torch.randn(size, size), torch.randn(size, size)
    return lambda: a @ b


steps = {}
for line in sys.stdin:
    request = json.loads(line)
    torch.set_num_threads(request["threads"])
    key = json.dumps(request["what"])
    if key not in steps:
        what = request["what"]
        steps[key] = product_of(what["matmul"]) if "matmul" in what else step_of(**what)
    times = []
    for _ in range(request["repeat"]):
        start = time.perf_counter()
        steps[key]()
        times.append(1000 * (time.perf_counter() - start))
    print(json.dumps({"ms": times, "version": torch.__version__, "isa": torch.backends.cpu.get_cpu_capability()}), flush=True)
