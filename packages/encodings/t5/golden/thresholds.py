"""First distance of each T5 bucket, straight from the paper's formula with 100-digit logarithms (mpmath). Writes thresholds.json.

    python golden/thresholds.py        needs: pip install mpmath
"""

import json
import pathlib

from mpmath import floor, log, mp, mpf

mp.dps = 100
EXACT = mpf(10) ** -90  # what 100-digit logarithms may miss of a whole number


def bucket(n, buckets, max_distance):
    exact = buckets // 2
    if n < exact:
        return n
    steps = log(mpf(n) / exact) / log(mpf(max_distance) / exact) * (buckets - exact)
    return min(exact + int(floor(steps + EXACT)), buckets - 1)


def case(num_buckets, max_distance, bidirectional):
    buckets = num_buckets // 2 if bidirectional else num_buckets
    by_distance = [bucket(n, buckets, max_distance) for n in range(max_distance + 2)]
    return {
        "numBuckets": num_buckets,
        "maxDistance": max_distance,
        "bidirectional": bidirectional,
        # A bucket that no distance falls in starts where the next one does.
        "thresholds": [next(n for n, b in enumerate(by_distance) if b >= k) for k in range(buckets)],
    }


shapes = [(32, 128), (32, 256), (64, 1024), (64, 4096), (100, 777), (320, 800), (16, 20), (12, 10), (4, 128), (128, 8192)]
# Where taking logarithms or powers in float64 misses a distance that is exactly on a boundary.
rounded = [(4, 200), (8, 625), (16, 800), (32, 625), (9, 128), (9, 972), (9, 4096)]

cases = [case(b, d, both) for b, d in shapes for both in (True, False)]
cases += [case(b, d, False) for b, d in [(2, 2), (5, 9), *rounded]]

path = pathlib.Path(__file__).with_name("thresholds.json")
path.write_text(json.dumps({"source": "thresholds.py: mpmath, 100 digits", "cases": cases}) + "\n")
