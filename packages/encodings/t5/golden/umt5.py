"""UMT5's encoder, whose layers own a table each, by transformers' own model: reference/umt5.json (transformers 5.24.0, torch 2.13.0, float64).

Numbers are drawn with numpy and rounded to 4 decimals before use, so the JSON holds the exact inputs.
"""

import json
import pathlib

import numpy as np
import torch
from transformers import UMT5Config, UMT5EncoderModel

T = 30
rng = np.random.default_rng(21)
config = UMT5Config(
    vocab_size=11, d_model=12, d_kv=4, d_ff=10, num_layers=2, num_heads=3, relative_attention_num_buckets=8,
    relative_attention_max_distance=20, dropout_rate=0.0, feed_forward_proj="gated-gelu", attn_implementation="eager",
)


def draw(shape, spread, middle=0.0):
    return torch.tensor(np.round(rng.normal(middle, spread, shape), 4))


def pack(tensor):
    return {"shape": list(tensor.shape), "data": [float(f"{v:.9g}") for v in tensor.flatten().tolist()]}


model = UMT5EncoderModel(config).double().eval()
state = model.state_dict()
for key, value in state.items():
    if key == "encoder.embed_tokens.weight":
        continue  # the same tensor as shared.weight
    norm, table = "layer_norm" in key, "relative_attention_bias" in key
    state[key] = draw(tuple(value.shape), 0.2 if norm else 1.0 if table else 0.35, 1.0 if norm else 0.0)
state["encoder.embed_tokens.weight"] = state["shared.weight"]
model.load_state_dict(state)
tokens = [int(t) for t in rng.integers(0, config.vocab_size, T)]
with torch.no_grad():
    out = model(input_ids=torch.tensor([tokens])).last_hidden_state[0]

case = {
    "id": "umt5-encoder",
    "heads": config.num_heads,
    "num_buckets": config.relative_attention_num_buckets,
    "max_distance": config.relative_attention_max_distance,
    "eps": config.layer_norm_epsilon,
    "weights": {key: pack(value) for key, value in state.items() if key != "encoder.embed_tokens.weight"},
    "tokens": tokens,
    "out": pack(out),
}
file = pathlib.Path(__file__).with_name("reference") / "umt5.json"
file.write_text(f'{{"source": "umt5.py", "cases": [\n{json.dumps(case)}\n]}}\n')
