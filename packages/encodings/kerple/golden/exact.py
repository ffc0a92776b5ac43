"""KERPLE's kernels at far distances in 60-digit arithmetic (mpmath), rounded to the nearest float64: exact.json."""

import json
import pathlib

from mpmath import log, mp, mpf

mp.dps = 60

DISTANCES = [0, 1, 2, 3, 17, 512, 131072, 1048576]
# Numbers that float32 and float64 hold alike.
CASES = [
    ("log", {"alpha": 1.5, "beta": 0.25}),
    ("log", {"alpha": 0.0625, "beta": 1}),
    ("power", {"alpha": 0.125, "gamma": 0.5}),
    ("power", {"alpha": 0.75, "gamma": 1.9375}),
    ("power", {"alpha": 0.5, "gamma": 2}),
    ("log3", {"alpha": 1.25, "beta": 0.375, "gamma": 1.5}),
    ("log3", {"alpha": 2, "beta": 0.0625, "gamma": 0.0625}),
]


def kernel(name, n, d):
    alpha, beta, gamma = (mpf(n.get(letter, 1)) for letter in ("alpha", "beta", "gamma"))
    raised = mpf(d) ** gamma if d else mpf(0)
    return float(-alpha * (raised if name == "power" else log(1 + beta * raised)))


def case(name, numbers):
    letters = "-".join(f"{letter}{value}" for letter, value in numbers.items())
    values = [kernel(name, numbers, d) for d in DISTANCES]
    return {"id": f"{name}-{letters}", "kernel": name, **numbers, "distances": DISTANCES, "values": values}


cases = ",\n".join(json.dumps(case(*c)) for c in CASES)
pathlib.Path(__file__).with_name("exact.json").write_text(f'{{"source": "exact.py", "cases": [\n{cases}\n]}}\n')
