"""Attention temperatures at very long positions, in 60-digit arithmetic (mpmath). Writes long-positions.json.

    python golden/long_positions.py        needs: pip install mpmath
"""

import json
import pathlib

from mpmath import floor, log, mp, mpf, nstr

mp.dps = 60

POSITIONS = [0, 1, 511, 512, 8191, 16384, 131071, 131072, 1048575, 1048576]


def log_n(p, length, clamped=False):
    factor = log(mpf(p + 1)) / log(mpf(length))
    return max(factor, mpf(1)) if clamped else factor


def stepped(place, step, weight):
    return 1 + mpf(weight) * log(1 + floor(mpf(place) / step))


rules = [
    ({"type": "log-n", "trainLength": 512}, lambda p: log_n(p, 512)),
    ({"type": "log-n", "trainLength": 2048, "clamped": True}, lambda p: log_n(p, 2048, True)),
    ({"type": "llama4"}, lambda p: stepped(p + 1, 8192, "0.1")),
    ({"type": "ministral3"}, lambda p: stepped(p, 16384, "0.1")),
]

cases = [
    {"rule": rule, "positions": POSITIONS, "factor": [float(nstr(factor(p), 17)) for p in POSITIONS]}
    for rule, factor in rules
]
path = pathlib.Path(__file__).with_name("long-positions.json")
path.write_text(json.dumps({"source": "long_positions.py: mpmath, 60 digits, 17 printed", "cases": cases}) + "\n")
