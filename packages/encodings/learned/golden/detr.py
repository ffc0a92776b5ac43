"""Two of DETR's encoder layers by transformers' own module: detr.json (transformers 5.24.0, torch 2.13.0, float64).

Position vectors join queries and keys in every layer, and no values. One case sees everything, one is causal (Shortformer).
Numbers are drawn with numpy and rounded to 4 decimals before use, so the JSON holds the exact inputs.
"""

import json
import pathlib

import numpy as np
import torch
from transformers import DetrConfig
from transformers.models.detr.modeling_detr import DetrEncoderLayer

D, HEADS, MLP, T, LAYERS = 12, 3, 10, 7, 2
rng = np.random.default_rng(20)
CONFIG = DetrConfig(
    d_model=D, encoder_attention_heads=HEADS, encoder_ffn_dim=MLP, dropout=0.0, attention_dropout=0.0,
    activation_dropout=0.0, activation_function="relu", use_pretrained_backbone=False, attn_implementation="eager",
)


def draw(*shape, spread=1.0, middle=0.0):
    return torch.tensor(np.round(rng.normal(middle, spread, shape), 4))


def pack(tensor):
    return {"shape": list(tensor.shape), "data": [float(f"{v:.9g}") for v in tensor.flatten().tolist()]}


def case(name, causal):
    layers = [DetrEncoderLayer(CONFIG).double().eval() for _ in range(LAYERS)]
    weights = []
    for layer in layers:
        state = layer.state_dict()
        for key, value in state.items():
            gain = "norm" in key and key.endswith("weight")
            state[key] = draw(*value.shape, spread=0.2 if gain else 0.4, middle=1.0 if gain else 0.0)
        layer.load_state_dict(state)
        weights.append({key: pack(value) for key, value in state.items()})
    x, table = draw(1, T, D), draw(T, D)
    hidden = torch.triu(torch.full((T, T), float("-inf"), dtype=torch.float64), 1)
    mask = (hidden if causal else torch.zeros(T, T, dtype=torch.float64))[None, None]
    out = x
    with torch.no_grad():
        for layer in layers:
            out = layer(out, mask, spatial_position_embeddings=table[None])
    return {"id": name, "causal": causal, "heads": HEADS, "weights": weights, "x": pack(x[0]), "table": pack(table), "out": pack(out[0])}


cases = ",\n".join(json.dumps(case(*c)) for c in [("detr-encoder", False), ("detr-encoder-causal", True)])
pathlib.Path(__file__).with_name("detr.json").write_text(f'{{"source": "detr.py", "cases": [\n{cases}\n]}}\n')
