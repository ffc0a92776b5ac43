"""The matrix product in PyTorch on one thread: `pytorch_product.py SIZE`"""

import sys

from serve import serve, torch

size = int(sys.argv[1])
torch.set_num_threads(1)


def operand(step):
    i = torch.arange(size * size, dtype=torch.int64)
    return ((i * step) % 1009).float().div(1009).sub(0.5).view(size, size)


a, b = operand(7), operand(11)
serve(
    lambda: a @ b,
    lambda product: product[0].square().mean().item(),
    variant=torch.backends.cpu.get_cpu_capability(),
)
