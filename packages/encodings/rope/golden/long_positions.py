"""cos and sin of RoPE's angles at very long positions, in 60-digit arithmetic (mpmath). Writes long-positions.json.

    python golden/long_positions.py        needs: pip install mpmath
"""

import json
import pathlib

from mpmath import cos, mp, mpf, sin

mp.dps = 60

POSITIONS = [2048, 2049, 15936, 15962, 8191, 131071, 131072, 1048575, 1048576]


def spaced(base, dim, divide=1):
    return [mpf(base) ** (mpf(-2 * k) / dim) / divide for k in range(dim // 2)]


def ntk_base(base, stretch, dim):
    return mpf(base) * mpf(stretch) ** (mpf(dim) / (dim - 2))


def case(name, head_dim, options, frequencies, seq_len=None):
    digits = lambda x: float(mp.nstr(x, 17))
    return {
        "id": name,
        "headDim": head_dim,
        "options": options,
        **({"seqLen": seq_len} if seq_len else {}),
        "invFreq": [digits(f) for f in frequencies],
        "positions": POSITIONS,
        "cos": [[digits(cos(p * f)) for f in frequencies] for p in POSITIONS],
        "sin": [[digits(sin(p * f)) for f in frequencies] for p in POSITIONS],
    }


trained, length, s = 4096, 1048577, 2
stretch = mpf(s) * length / trained - (s - 1)

cases = [
    case("default-64-10000", 64, {}, spaced(10000, 64)),
    case("default-32-500000", 32, {"base": 500000}, spaced(500000, 32)),
    case("partial-24-of-100-1e6", 100, {"base": 1000000, "rotaryDim": 24}, spaced(1000000, 24)),
    case("linear-7-32", 32, {"scaling": {"type": "linear", "factor": 7}}, spaced(10000, 32, 7)),
    case("ntk-8-32", 32, {"scaling": {"type": "ntk", "factor": 8}}, spaced(ntk_base(10000, 8, 32), 32)),
    case(
        "dynamic-2-32",
        32,
        {"scaling": {"type": "dynamic", "factor": s, "originalMaxPositionEmbeddings": trained}},
        spaced(ntk_base(10000, stretch, 32), 32),
        length,
    ),
]

path = pathlib.Path(__file__).with_name("long-positions.json")
path.write_text(json.dumps({"source": "long_positions.py: mpmath, 60 digits, 17 printed", "cases": cases}) + "\n")
