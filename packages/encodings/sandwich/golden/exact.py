"""Sandwich's bias at far distances in 60-digit arithmetic (mpmath), rounded to the nearest float64: exact.json."""

import json
import pathlib

from mpmath import cos, mp, mpf

mp.dps = 60

DISTANCES = [0, 1, 2, 3, 17, 512, 131072, 1048576]
CASES = [
    {"heads": 12, "dim": 128, "base": 10000, "spacing": "paper"},
    {"heads": 3, "dim": 10, "base": 500, "spacing": "paper"},
    {"heads": 4, "dim": 128, "base": 10000, "spacing": "nemo"},
]


def total(distance, dim, base, first):
    return sum(cos(distance * mpf(base) ** (-mpf(2 * (k + first)) / dim)) for k in range(dim // 2))


def case(heads, dim, base, spacing):
    first = 0 if spacing == "paper" else 1
    sums = [total(d, dim, base, first) - dim // 2 for d in DISTANCES]
    return {
        "id": f"{spacing}-H{heads}-d{dim}-base{base}",
        "heads": heads,
        "config": {"dim": dim, "base": base, "spacing": spacing},
        "distances": DISTANCES,
        "frequencies": [float(mpf(base) ** (-mpf(2 * (k + first)) / dim)) for k in range(dim // 2)],
        "bias": [[float(s * heads / (8 * h)) for s in sums] for h in range(1, heads + 1)],
    }


cases = ",\n".join(json.dumps(case(**c)) for c in CASES)
pathlib.Path(__file__).with_name("exact.json").write_text(f'{{"source": "exact.py", "cases": [\n{cases}\n]}}\n')
