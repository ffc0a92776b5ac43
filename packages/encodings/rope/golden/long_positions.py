"""cos and sin of RoPE's angles at very long positions, in 60-digit arithmetic (mpmath). Writes long-positions.json.

    python golden/long_positions.py        needs: pip install mpmath
"""

import json
import pathlib

from mpmath import ceil, cos, floor, ln, mp, mpf, nint, pi, sin, sqrt

mp.dps = 60

POSITIONS = [2048, 2049, 15936, 15962, 8191, 131071, 131072, 1048575, 1048576]


def spaced(base, dim, divide=1):
    return [mpf(base) ** (mpf(-2 * k) / dim) / divide for k in range(dim // 2)]


def ntk_base(base, stretch, dim):
    return mpf(base) * mpf(stretch) ** (mpf(dim) / (dim - 2))


def ramp(base, dim, trained, fast, slow, truncate=True):
    """0 … 1 between the pairs that turn `fast` and `slow` times within the trained length."""
    pair = lambda turns: dim * ln(trained / (turns * 2 * pi)) / (2 * ln(mpf(base)))
    low, high = pair(mpf(fast)), pair(mpf(slow))
    if truncate:
        low, high = floor(low), ceil(high)
    low, high = max(low, mpf(0)), min(high, mpf(dim - 1))
    return [min(max((k - low) / (high - low), mpf(0)), mpf(1)) for k in range(dim // 2)]


def blend(kept, scaled, weights):
    return [a * (1 - w) + b * w for a, b, w in zip(kept, scaled, weights)]


def yarn(base, dim, factor, trained, truncate=True):
    plain = spaced(base, dim)
    return blend(plain, [f / factor for f in plain], ramp(base, dim, trained, 32, 1, truncate))


def sharpened(factor):
    return ln(mpf(factor)) / 10 + 1


def by_parts(base, dim, factor, trained):
    plain = spaced(base, dim)
    ntk = spaced(ntk_base(base, factor, dim), dim)
    scaled = blend(ntk, [f / factor for f in plain], ramp(base, dim, trained, "1.25", "0.75"))
    return blend(plain, scaled, ramp(base, dim, trained, 16, 2))


def llama3(base, dim, factor, trained, low=1, high=4):
    weight = lambda f: min(max((trained * f / (2 * pi) - low) / (high - low), mpf(0)), mpf(1))
    return [(1 - weight(f)) * f / factor + weight(f) * f for f in spaced(base, dim)]


def whole(frequencies):
    return [2 * pi / nint(2 * pi / f) for f in frequencies]


def case(name, head_dim, options, frequencies, seq_len=None, factor=1):
    digits = lambda x: float(mp.nstr(x, 17))
    return {
        "id": name,
        "headDim": head_dim,
        "options": options,
        **({"seqLen": seq_len} if seq_len else {}),
        "invFreq": [digits(f) for f in frequencies],
        "positions": POSITIONS,
        "cos": [[digits(factor * cos(p * f)) for f in frequencies] for p in POSITIONS],
        "sin": [[digits(factor * sin(p * f)) for f in frequencies] for p in POSITIONS],
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
    case(
        "yarn-16-128",
        128,
        {"scaling": {"type": "yarn", "factor": 16, "originalMaxPositionEmbeddings": 4096}},
        yarn(10000, 128, 16, 4096),
        factor=sharpened(16),
    ),
    case(
        "yarn-untruncated-32-64",
        64,
        {
            "base": 150000,
            "scaling": {"type": "yarn", "factor": 32, "originalMaxPositionEmbeddings": 4096, "truncate": False},
        },
        yarn(150000, 64, 32, 4096, False),
        factor=sharpened(32),
    ),
    case(
        "yarn-resonance-4-32",
        32,
        {"roundWavelengths": True, "scaling": {"type": "yarn", "factor": 4, "originalMaxPositionEmbeddings": 1024}},
        whole(yarn(10000, 32, 4, 1024)),
        factor=sharpened(4),
    ),
    case(
        "ntk-by-parts-4-64",
        64,
        {"scaling": {"type": "ntk-by-parts", "factor": 4, "originalMaxPositionEmbeddings": 2048}},
        by_parts(10000, 64, 4, 2048),
    ),
    case(
        "llama3-8-128",
        128,
        {"base": 500000, "scaling": {"type": "llama3", "factor": 8, "originalMaxPositionEmbeddings": 8192}},
        llama3(500000, 128, 8, 8192),
    ),
    *(
        case(
            f"longrope-{name}",
            16,
            {
                "scaling": {
                    "type": "longrope",
                    "shortFactor": [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75],
                    "longFactor": long,
                    "originalMaxPositionEmbeddings": trained,
                    "factor": 32,
                }
            },
            [f / mpf(x) for f, x in zip(spaced(10000, 16), factors)],
            seq_len,
            sqrt(1 + ln(mpf(32)) / ln(mpf(trained))),
        )
        for long in [[1.0625, 1.5, 2.5, 4.75, 9.5, 17.25, 30.5, 33.0]]
        for name, factors, seq_len in [
            ("short", [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75], trained),
            ("long", long, length),
        ]
    ),
    case(
        "proportional-32",
        32,
        {"base": 1000000, "scaling": {"type": "proportional", "partialRotaryFactor": 0.25, "factor": 2}},
        [f / 2 if k < 4 else mpf(0) for k, f in enumerate(spaced(1000000, 32))],
    ),
]

path = pathlib.Path(__file__).with_name("long-positions.json")
path.write_text(json.dumps({"source": "long_positions.py: mpmath, 60 digits, 17 printed", "cases": cases}) + "\n")
