"""ALiBi slopes and far biases in 60-digit arithmetic (mpmath), rounded to the nearest float64: exact.json.

The slopes follow Press's rule written from its recursive statement: closest power of two, then every second slope of twice that.
"""

import json
import pathlib

from mpmath import mp, mpf

mp.dps = 60

HEADS = [1, 3, 12, 40, 71, 128]
DISTANCES = [131072, 1048576]


def press(heads):
    closest = 1
    while 2 * closest <= heads:
        closest *= 2
    if closest == heads:
        return [mpf(2) ** (-mpf(8 * (h + 1)) / heads) for h in range(heads)]
    return press(closest) + press(2 * closest)[0::2][: heads - closest]


def case(heads):
    slopes = press(heads)
    return {
        "id": f"press-h{heads}",
        "heads": heads,
        "distances": DISTANCES,
        "slopes": [float(m) for m in slopes],
        "geometric": [float(mpf(2) ** (-mpf(8 * (h + 1)) / heads)) for h in range(heads)],
        "bias": [[float(-m * d) for d in DISTANCES] for m in slopes],
    }


cases = ",\n".join(json.dumps(case(h)) for h in HEADS)
pathlib.Path(__file__).with_name("exact.json").write_text(f'{{"source": "exact.py", "cases": [\n{cases}\n]}}\n')
