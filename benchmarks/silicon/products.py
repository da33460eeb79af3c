"""f16 products on A3 (pto-isa's GEMM kernel README). gemm.pto has the published kernel's grid, tiles and buffers. B
lies k x n here and n x k there; the cost model prices both alike."""

import sys
from pathlib import Path

import numpy as np
from timed_run import fill_in, run

CORES = 24


def measure(n: int, folder: Path) -> tuple:
    """Microseconds and the engines' percentages of the product of size n, a multiple of 1536. The result is checked."""
    fill_in("gemm.pto", folder, size=n, rows=n // 4, cols=n // 6)
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (n, n)).astype(np.float16) for _ in "ab")
    (c,), microseconds, busy = run(folder, "gemm.pto", "gemm", CORES, {"a": a, "b": b}, {"c": f"{n}x{n}xf32"})
    rows = slice(n // 2, n // 2 + 64)
    if not np.array_equal(c[rows], a[rows].astype(np.float32) @ b.astype(np.float32)):
        sys.exit(f"product of {n}: the result is wrong")
    return microseconds, busy
