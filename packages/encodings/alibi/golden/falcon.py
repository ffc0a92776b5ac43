"""Falcon's rounded ALiBi at positions up to 1048576, by transformers' own function: falcon.json (transformers 5.24.0, torch 2.13.0)."""

import json
import pathlib

import torch
from transformers.models.falcon.modeling_falcon import build_alibi_tensor

POSITIONS = [0, 1, 2, 3, 7, 100, 255, 256, 257, 258, 259, 260, 511, 513, 1000, 1023, 2047, 2049, 131072, 131073, 1048576]
HEADS = [4, 12, 71]


def case(heads):
    # What a mask of ones makes of a long text, at some of its positions.
    mask = torch.ones(1, POSITIONS[-1] + 1, dtype=torch.int64)
    alibi = build_alibi_tensor(mask, heads, torch.float32)[:, 0, POSITIONS]
    return {"id": f"falcon-h{heads}", "heads": heads, "positions": POSITIONS, "alibi": alibi.tolist()}


cases = ",\n".join(json.dumps(case(h)) for h in HEADS)
pathlib.Path(__file__).with_name("falcon.json").write_text(f'{{"source": "falcon.py", "cases": [\n{cases}\n]}}\n')
