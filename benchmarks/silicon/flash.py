"""The timing mode beside published silicon: flash attention on 910B2, 24 cube cores, head of 128, f16 (reference pto-isa 5.4).

    python benchmarks/silicon/flash.py [SIZE ...]        (multiples of 1024; needs pto-compile and pto-run)

flash.pto has the published kernel's tiles (128 rows of Q, 256 of K and V) and its distance between the two products. The result is checked.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from products import HERE, tool  # noqa: E402

PUBLISHED = {1024: 20.960, 2048: 32.461, 4096: 88.902, 8192: 292.626, 16384: 909.058, 32768: 3262.645}  # microseconds
HEAD, BLOCKS, SLOTS = 128, 24, 8


def attention(q, k, v):
    s = q.astype(np.float32) @ k.astype(np.float32) / np.sqrt(np.float32(HEAD))
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True)) @ v.astype(np.float32)


def measure(n: int, folder: Path, mode: str = "timing", blocks: int = BLOCKS) -> tuple:
    """Microseconds and the share of them in which each engine was busy."""
    text = (HERE / "flash.pto").read_text()
    text = re.sub(r"%size = arith.constant \d+", f"%size = arith.constant {n}", text)
    text = re.sub(r"%slots = arith.constant \d+", f"%slots = arith.constant {blocks * SLOTS * 128}", text)
    (folder / "flash.pto").write_text(text)
    tool("pto-compile", folder / "flash.pto", "--blocks", blocks, "-o", folder / "flash.pmodel")
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((n, HEAD)).astype(np.float16) for _ in "qkv")
    rows = blocks * SLOTS * 128
    arrays = {
        "q": q,
        "k": np.ascontiguousarray(k.T),
        "v": v,
        "s": np.zeros((rows, 256), np.float32),
        "p": np.zeros((rows, 256), np.float16),
        "o": np.zeros((rows, HEAD), np.float32),
    }
    arguments = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--arg", folder / f"{name}.npy"]
    out = tool(
        "pto-run",
        folder / "flash.pmodel",
        "--kernel",
        "flash",
        *arguments,
        "--out",
        f"{folder / 'y.npy'}:{n}x{HEAD}xf32",
        "--mode",
        mode,
    )
    part = slice(n // 2, n // 2 + 160)
    worst = np.abs(np.load(folder / "y.npy")[part] - attention(q[part], k.T, v)).max()
    if not worst < 2e-3:
        sys.exit(f"size {n}: the result is wrong by {worst}")
    if mode != "timing":
        return ()
    cycles, microseconds = map(float, re.search(r"([\d.]+) cycles, ([\d.e+]+) us", out).groups())
    busy = {name: float(count) for name, count in re.findall(r"^  (\w+ \w+): busy (\d+)", out, re.M)}
    return microseconds, {engine: 100 * count / cycles for engine, count in busy.items()}


def main(arguments):
    engines = ("AIC MTE2", "AIC MTE1", "AIC M", "AIC FIX", "AIV MTE2", "AIV V", "AIV MTE3")
    print(f"{'S':>6} {'here us':>9} {'published':>9} {'ratio':>6}  " + " ".join(f"{e:>8}" for e in engines))
    for n in [int(a) for a in arguments] or list(PUBLISHED)[:4]:
        if n % 1024:
            sys.exit(f"size {n} is no multiple of 1024")
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            here, busy = measure(n, Path(folder))
        published = PUBLISHED.get(n)
        print(
            f"{n:>6} {here:9.1f} "
            + (f"{published:9.1f} {here / published:6.2f}  " if published else f"{'':16}  ")
            + " ".join(f"{busy[e]:8.1f}" for e in engines),
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
