"""FIRE's shares at far positions in 60-digit arithmetic (mpmath), rounded to the nearest float64: exact.json."""

import json
import pathlib

from mpmath import log, mp, mpf

mp.dps = 60

PAIRS = [(0, 0), (0, 1048576), (1, 1), (1, 512), (511, 511), (1, 1024), (1024, 1024), (1, 131072), (131072, 131072), (999999, 1048576), (1048576, 1048576)]
# Numbers that float32 and float64 hold alike.
CASES = [{"c": 0.125, "threshold": 512, "eps": 2.0**-20}, {"c": 2, "threshold": 8, "eps": 0.5}]


def share(distance, position, c, threshold, eps):
    psi = lambda x: log(1 + mpf(c) * x)
    return float(psi(distance) / (psi(max(position, threshold)) + mpf(eps)))


def case(c, threshold, eps):
    pairs = [{"distance": d, "position": p, "share": share(d, p, c, threshold, eps)} for d, p in PAIRS]
    return {"id": f"c{c}-L{threshold}-eps{eps}", "c": c, "threshold": threshold, "eps": eps, "pairs": pairs}


cases = ",\n".join(json.dumps(case(**c)) for c in CASES)
pathlib.Path(__file__).with_name("exact.json").write_text(f'{{"source": "exact.py", "cases": [\n{cases}\n]}}\n')
