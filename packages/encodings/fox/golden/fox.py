"""Forgetting attention in float64 with PyTorch, from the paper's equations: fox.json.

The bias is the sum over the tokens between, written as that sum (not as a difference of running sums, which is what the package
computes); gradients are torch's autograd. Inputs are drawn with a fixed seed and rounded to 4 decimals before use, so that the
JSON text is the exact input.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.manual_seed(20250302)


def draw(*shape, std=1.0, mean=0.0):
    return (torch.randn(*shape, dtype=torch.float64) * std + mean).mul(10000).round().div(10000)


def stored(t):
    return {"shape": list(t.shape), "data": [float(f"{v:.12g}") for v in t.detach().flatten().tolist()]}


def bias(log_f):
    """[B, H, T] -> D [B, H, T, T], D_ij = sum of log f_l over l = j+1 .. i; 0 above the diagonal."""
    T = log_f.shape[-1]
    l, i, j = torch.meshgrid(torch.arange(T), torch.arange(T), torch.arange(T), indexing="ij")
    between = ((l > j) & (l <= i)).double()
    return torch.einsum("bhl,lij->bhij", log_f, between)


def gates(x, w, b):
    """Data dependent: log sigma(w_h . x_t + b_h), [B, H, T]."""
    return F.logsigmoid(x @ w + b).transpose(1, 2)


def attend(q, k, v, D):
    T = q.shape[2]
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + D
    hidden = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)
    probs = torch.softmax(scores.masked_fill(hidden, -math.inf), -1)
    return scores.masked_fill(hidden, 0), probs, probs @ v


def attention_case(name, B, H, T, Dh, D, w_std, b_mean):
    named = {
        "x": draw(B, T, D),
        "w": draw(D, H, std=w_std),
        "b": draw(H, std=0.5, mean=b_mean),
        "q": draw(B, H, T, Dh),
        "k": draw(B, H, T, Dh),
        "v": draw(B, H, T, Dh),
    }
    upstream = draw(B, H, T, Dh)
    leaves = {n: t.clone().requires_grad_() for n, t in named.items()}
    log_f = gates(leaves["x"], leaves["w"], leaves["b"])
    D_ij = bias(log_f)
    scores, probs, out = attend(leaves["q"], leaves["k"], leaves["v"], D_ij)
    (out * upstream).sum().backward()
    return {
        "id": name,
        "kind": "attention",
        **{n: stored(t) for n, t in named.items()},
        "log_f": stored(log_f),
        "bias": stored(D_ij),
        "scores": stored(scores),
        "probs": stored(probs),
        "out": stored(out),
        "upstream": stored(upstream),
        "grads": {n: stored(t.grad) for n, t in leaves.items()},
    }


def extreme_case():
    """Gate logits where sigma underflows or rounds to 1: one token per logit."""
    logits = torch.tensor([-1000.0, -100, -88, -20, -13, -1, -1e-3, 0, 1e-3, 1, 13, 20, 88, 1000], dtype=torch.float64)
    leaf = logits.clone().requires_grad_()
    log_f = F.logsigmoid(leaf)
    log_f.sum().backward()
    return {"id": "extreme-logits", "kind": "gate", "logits": stored(logits), "log_f": stored(log_f), "derivative": stored(leaf.grad)}


def long_case(T=600):
    """Rows of the bias of a long sequence: forgetting that adds up to hundreds."""
    x, w, b = draw(1, T, 4), draw(4, 2, std=0.7), draw(2, std=0.5)
    log_f = gates(x, w, b)[0]
    rows = []
    for i in (0, 1, 299, 598, 599):
        for h in range(2):
            row = [float(log_f[h, j + 1 : i + 1].sum()) for j in range(i + 1)]
            rows.append({"head": h, "query": i, "bias": [float(f"{v:.12g}") for v in row]})
    return {"id": f"long-{T}", "kind": "long", "x": stored(x), "w": stored(w), "b": stored(b), "rows": rows}


def decay_case(heads, shortest, longest):
    """Data independent gates at their start: head h forgets to 1/e after T_h tokens, T_h spaced logarithmically."""
    log_time = torch.linspace(math.log(shortest), math.log(longest), heads, dtype=torch.float64)
    b = -torch.log(torch.expm1(1 / torch.exp(log_time)))
    return {
        "id": f"decay-{heads}-{shortest}-{longest}",
        "kind": "decay",
        "heads": heads,
        "decayTimeMin": shortest,
        "decayTimeMax": longest,
        "b": stored(b),
        "log_f": stored(F.logsigmoid(b)),
    }


cases = [
    attention_case("attention-B2-H2-T7-D4", 2, 2, 7, 4, 6, 0.3, 0.0),
    attention_case("attention-B1-H3-T9-D5-remembering", 1, 3, 9, 5, 4, 0.5, 4.0),
    attention_case("attention-B1-H1-T5-D2-forgetting", 1, 1, 5, 2, 3, 1.0, -6.0),
    extreme_case(),
    long_case(),
    decay_case(4, 2, 1024),
    decay_case(1, 10, 100),
]
text = ",\n".join(json.dumps(c) for c in cases)
header = json.dumps(f"fox.py, torch {torch.__version__.split('+')[0]}, float64")
pathlib.Path(__file__).with_name("fox.json").write_text(f'{{"source": {header}, "cases": [\n{text}\n]}}\n')
