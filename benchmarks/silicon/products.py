"""The timing mode beside published silicon: f16 products on A3, 24 cube cores (pto-isa's GEMM kernel README; reference pto-isa 5.1).

    python benchmarks/silicon/products.py [SIZE ...]        (multiples of 1536; needs pto-compile and pto-run)

gemm.pto has the published kernel's grid, tiles and buffers. B lies k x n here and n x k there; the cost model does not tell them apart. The
result is checked.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
# size: milliseconds, and the percentage of them in which the cube, L1 -> L0, global -> L1 and L0C -> global were busy
PUBLISHED = {
    1536: (0.0388, 54.5, 42.2, 72.2, 7.7),
    3072: (0.2067, 79.0, 62.0, 90.9, 5.8),
    6144: (1.5060, 86.7, 68.1, 95.2, 3.1),
    7680: (3.1680, 80.6, 63.0, 98.4, 2.4),
}
ENGINES = ("AIC M", "AIC MTE1", "AIC MTE2", "AIC FIX")


def tool(name: str, *arguments) -> str:
    path = HERE.parents[1] / "build" / "bin" / name
    result = subprocess.run([path if path.exists() else name, *map(str, arguments)], text=True, capture_output=True)
    if result.returncode:
        sys.exit(result.stdout + result.stderr)
    return result.stdout


def measure(n: int, folder: Path) -> tuple:
    """Milliseconds and the engines' percentages of the product of size n."""
    text = (HERE / "gemm.pto").read_text()
    for name, size in (("size", n), ("rows", n // 4), ("cols", n // 6)):
        text = re.sub(rf"%{name} = arith.constant \d+", f"%{name} = arith.constant {size}", text)
    (folder / "gemm.pto").write_text(text)
    tool("pto-compile", folder / "gemm.pto", "--blocks", 24, "-o", folder / "gemm.pmodel")
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (n, n)).astype(np.float16) for _ in "ab")
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    out = tool(
        "pto-run",
        folder / "gemm.pmodel",
        "--kernel",
        "gemm",
        "--arg",
        folder / "a.npy",
        "--arg",
        folder / "b.npy",
        "--out",
        f"{folder / 'c.npy'}:{n}x{n}xf32",
        "--mode",
        "timing",
    )
    c, rows = np.load(folder / "c.npy"), slice(n // 2, n // 2 + 64)
    if not np.array_equal(c[rows], a[rows].astype(np.float32) @ b.astype(np.float32)):
        sys.exit(f"size {n}: the product is wrong")
    cycles, microseconds = map(float, re.search(r"([\d.]+) cycles, ([\d.e+]+) us", out).groups())
    busy = {name: float(count) for name, count in re.findall(r"^  (\w+ \w+): busy (\d+)", out, re.M)}
    return microseconds / 1e3, *(100 * busy[engine] / cycles for engine in ENGINES)


def row(n: int, milliseconds: float, *shares) -> str:
    return f"{milliseconds:9.4f} {2e-9 * n**3 / milliseconds:8.1f}  " + " ".join(f"{share:5.1f}" for share in shares)


def main(arguments):
    sizes = [int(a) for a in arguments] or list(PUBLISHED)
    print(
        f"{'m=n=k':>6} {'':10} {'ms':>9} {'TFLOPS':>8}  {'cube':>5} {'L0':>5} {'load':>5} {'store':>5}  time / published"
    )
    for n in sizes:
        if n % 1536:
            sys.exit(f"size {n} is no multiple of 1536")
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            here = measure(n, Path(folder))
        print(
            f"{n:>6} {'here':10} " + row(n, *here) + (f"  {here[0] / PUBLISHED[n][0]:.3f}" if n in PUBLISHED else ""),
            flush=True,
        )
        if n in PUBLISHED:
            print(f"{'':>6} {'published':10} " + row(n, *PUBLISHED[n]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
