"""Sinusoidal rows at far positions in 60-digit arithmetic (mpmath), rounded to the nearest float64: exact.json."""

import json
import pathlib

from mpmath import cos, mp, mpf, sin

mp.dps = 60

CASES = [(6, 10000, "paper"), (7, 10000, "paper"), (64, 10000, "paper"), (64, 500000, "paper"), (7, 10000, "tensor2tensor"), (64, 10000, "tensor2tensor")]
POSITIONS = [1, 131071, 131072, 1048575, 1048576]


def frequency(k, dim, base, spacing):
    exponent = mpf(2 * k) / dim if spacing == "paper" else mpf(k) / (dim // 2 - 1)
    return mpf(base) ** -exponent


def case(dim, base, spacing):
    """Pairs of every position: all sines, then all cosines; an odd width has one pair cut (paper) or none (tensor2tensor)."""
    pairs = (dim + 1) // 2 if spacing == "paper" else dim // 2
    omega = [frequency(k, dim, base, spacing) for k in range(pairs)]
    return {
        "id": f"{spacing}-d{dim}-base{base}",
        "dim": dim,
        "base": base,
        "spacing": spacing,
        "positions": POSITIONS,
        "frequencies": [float(w) for w in omega],
        "sine": [[float(sin(w * p)) for w in omega] for p in POSITIONS],
        "cosine": [[float(cos(w * p)) for w in omega] for p in POSITIONS],
    }


cases = ",\n".join(json.dumps(case(*c)) for c in CASES)
pathlib.Path(__file__).with_name("exact.json").write_text(f'{{"source": "exact.py", "cases": [\n{cases}\n]}}\n')
