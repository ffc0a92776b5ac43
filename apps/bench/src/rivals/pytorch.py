"""The standard step in PyTorch, eager, on the processor, as one writes it today: fused attention, fused Adam. `pytorch.py FOLDER THREADS`"""

import json
import sys
from pathlib import Path

from serve import serve, torch
from torch import nn
from torch.nn import functional as F

folder, threads = Path(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(threads)
problem = json.loads((folder / "problem.json").read_text())
sizes, adam, eps = problem["sizes"], problem["adam"], problem["normEps"]
D, H, B, T = sizes["modelDim"], sizes["numHeads"], sizes["batch"], sizes["length"]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(D, eps=eps)
        self.qkv = nn.Linear(D, 3 * D)
        self.output = nn.Linear(D, D)
        self.norm2 = nn.LayerNorm(D, eps=eps)
        self.up = nn.Linear(D, sizes["mlpDim"])
        self.down = nn.Linear(sizes["mlpDim"], D)

    def forward(self, x):
        q, k, v = (u.view(B, T, H, D // H).transpose(1, 2) for u in self.qkv(self.norm1(x)).split(D, dim=2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(mixed.transpose(1, 2).reshape(B, T, D))
        return x + self.down(F.relu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(sizes["vocabSize"], D)
        self.blocks = nn.ModuleList(Block() for _ in range(sizes["numLayers"]))
        self.norm = nn.LayerNorm(D, eps=eps)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


def read_weights():
    flat = torch.frombuffer(bytearray((folder / "weights.f32").read_bytes()), dtype=torch.float32)
    sizes_of = [torch.Size(p["shape"]).numel() for p in problem["params"]]
    pieces = flat.split(sizes_of)
    return {p["path"]: piece.view(p["shape"]) for p, piece in zip(problem["params"], pieces)}


@torch.no_grad()
def load(model, weights):
    def linear(module, *paths):
        module.weight.copy_(torch.cat([weights[f"{path}.weight"].T for path in paths]))
        module.bias.copy_(torch.cat([weights[f"{path}.bias"] for path in paths]))

    def norm(module, path):
        module.weight.copy_(weights[f"{path}.gain"])
        module.bias.copy_(weights[f"{path}.bias"])

    model.tokens.weight.copy_(weights["embedding.tokens"])
    for index, block in enumerate(model.blocks):
        attend, feed = f"layers.{index}.attention", f"layers.{index}.mlp"
        norm(block.norm1, f"{attend}.norm")
        linear(block.qkv, *(f"{attend}.{side}" for side in ("query", "key", "value")))
        linear(block.output, f"{attend}.output")
        norm(block.norm2, f"{feed}.norm")
        linear(block.up, f"{feed}.up")
        linear(block.down, f"{feed}.down")
    norm(model.norm, "norm")


model = Transformer()
load(model, read_weights())
rows = torch.frombuffer(bytearray((folder / "tokens.i32").read_bytes()), dtype=torch.int32).view(B, T + 1).long()
ids, targets = rows[:, :-1].contiguous(), rows[:, 1:].reshape(-1)
options = {"lr": adam["learningRate"], "betas": (adam["beta1"], adam["beta2"]), "eps": adam["epsilon"]}
try:
    optimizer, variant = torch.optim.Adam(model.parameters(), fused=True, **options), "eager, fused attention and Adam"
except (RuntimeError, TypeError):  # before 2.4 there is none for the processor
    optimizer, variant = torch.optim.Adam(model.parameters(), **options), "eager, fused attention"


def step():
    loss = F.cross_entropy(model(ids).flatten(0, 1), targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


serve(step, variant=variant, parameters=sum(p.numel() for p in model.parameters()))
