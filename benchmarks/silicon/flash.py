"""Flash attention with a head of 128, f16 (pto-isa's flash_atten README). flash.pto has the published kernel's tiles
(128 rows of Q, 256 of K and V) and its distance of four tiles between the two products."""

import sys
from pathlib import Path

import numpy as np
from timed_run import fill_in, run

HEAD, BLOCKS, SLOTS = 128, 24, 8


def attention(q, k, v):
    s = q.astype(np.float32) @ k.astype(np.float32) / np.sqrt(np.float32(HEAD))
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True)) @ v.astype(np.float32)


def measure(n: int, folder: Path, mode: str = "timing", blocks: int = BLOCKS, queries: int = 0) -> tuple:
    """Microseconds and the percentage of them that each engine is busy, with n rows of K and V (a multiple of 1024) and
    `queries` of Q, or n. The result is checked."""
    queries = queries or n
    rows = blocks * SLOTS * 128
    fill_in("flash.pto", folder, size=n, queries=queries, slots=rows)
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((count, HEAD)).astype(np.float16) for count in (queries, n, n))
    inputs = {
        "q": q,
        "k": np.ascontiguousarray(k.T),
        "v": v,
        "s": np.zeros((rows, 256), np.float32),
        "p": np.zeros((rows, 256), np.float16),
        "o": np.zeros((rows, HEAD), np.float32),
    }
    (y,), *timed = run(folder, "flash.pto", "flash", blocks, inputs, {"y": f"{queries}x{HEAD}xf32"}, mode)
    part = slice(queries // 2, queries // 2 + 160)
    worst = np.abs(y[part] - attention(q[part], k.T, v)).max()
    if not worst < 2e-3:
        sys.exit(f"attention of {n}: the result is wrong by {worst}")
    return tuple(timed)


def measure_few(size: tuple, folder: Path) -> tuple:
    """`size`: cores, each with 128 rows of Q, and rows of K and V."""
    cores, n = size
    return measure(n, folder, blocks=cores, queries=128 * cores)
