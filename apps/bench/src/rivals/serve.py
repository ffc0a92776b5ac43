"""The child's side of the benchmark's protocol in Python, and PyTorch itself, or the answer that it is not here."""

import json
import sys
import time


def answer(message):
    print(json.dumps(message), flush=True)


try:
    import torch
except Exception as error:
    answer({"absent": f"python3 cannot import torch: {error}"})
    sys.exit(0)


def serve(step, value=float, **ready):
    """Takes steps as they are asked for, one JSON request a line; `value` turns what a step returns into a number, untimed."""
    answer({"version": torch.__version__, "threads": torch.get_num_threads(), **ready})
    for line in sys.stdin:
        values, seconds = [], []
        for _ in range(json.loads(line)["steps"]):
            started = time.perf_counter()
            result = step()
            seconds.append(time.perf_counter() - started)
            values.append(value(result))
        answer({"values": values, "seconds": seconds})
