"""AdamW with gradient clipping, as PyTorch computes it in float64: python3 adamw.py > adamw.json"""
import json
import torch

torch.set_default_dtype(torch.float64)
g = torch.Generator().manual_seed(1)
round4 = lambda t: torch.round(t * 1e4) / 1e4
matrix = round4(torch.randn(3, 2, generator=g))
bias = round4(torch.randn(2, generator=g))
gradients = [[round4(torch.randn(3, 2, generator=g) * s), round4(torch.randn(2, generator=g) * s)] for s in (0.1, 0.2, 3, 0.05, 0.5)]
rates = [0.01, 0.02, 0.02, 0.015, 0.01]
a, b = matrix.clone().requires_grad_(), bias.clone().requires_grad_()
optimizer = torch.optim.AdamW([{"params": [a], "weight_decay": 0.1}, {"params": [b], "weight_decay": 0.0}], betas=(0.9, 0.95), eps=1e-8)
steps = []
for (ga, gb), lr in zip(gradients, rates):
    a.grad, b.grad = ga.clone(), gb.clone()
    norm = torch.nn.utils.clip_grad_norm_([a, b], 1.0)
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.step()
    steps.append({"learningRate": lr, "gradients": [ga.flatten().tolist(), gb.tolist()], "norm": norm.item(), "matrix": a.flatten().tolist(), "bias": b.tolist()})
print(json.dumps({"source": f"torch {torch.__version__}, torch.optim.AdamW and clip_grad_norm_, float64", "options": {"beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weightDecay": 0.1, "clipNorm": 1}, "matrix": matrix.flatten().tolist(), "bias": bias.tolist(), "steps": steps}, indent=1))
