"""Interpolated rows at far positions in exact rational arithmetic, the weight rounded to the nearest float64: exact.json."""

import json
import pathlib
from fractions import Fraction

CASES = [(128, 1024), (1024, 131073), (1024, 1048577), (2048, 1048577), (3, 1048577), (1, 1048577), (131073, 131073)]
POSITIONS = [0, 1, 7, 127, 1023, 131071, 131072, 1048575, 1048576]


def case(trained, extended):
    """Position p of `extended` reads row p (trained - 1) / (extended - 1): end rows meet end positions."""
    rows = []
    for p in (p for p in POSITIONS if p < extended):
        row = Fraction(p * (trained - 1), extended - 1)
        low = row.numerator // row.denominator
        rows.append({"position": p, "low": low, "weight": float(row - low)})
    return {"id": f"{trained}-to-{extended}", "numPositions": trained, "maxPosition": extended, "rows": rows}


cases = ",\n".join(json.dumps(case(*c)) for c in CASES)
pathlib.Path(__file__).with_name("exact.json").write_text(f'{{"source": "exact.py", "cases": [\n{cases}\n]}}\n')
