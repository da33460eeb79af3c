"""The timing mode beside published silicon: the 1000 greatest of rows of 1024, f32, on A3 with 48 vector cores (reference pto-isa 5.5).

    python benchmarks/silicon/topk.py [ROWS ...]        (multiples of 48; needs pto-compile and pto-run)

One figure of the model comes from the first of these rows: what sorting 32 values takes, which nobody has published. The result is checked.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from products import HERE, tool  # noqa: E402

# rows: microseconds, and the percentage of them in which V, global -> UB and UB -> global were busy
PUBLISHED = {4800: (324.106, 94.0, 11.7, 10.4), 3456: (238.819, 91.5, 12.3, 10.5), 2304: (161.375, 88.7, 12.4, 10.1)}
ENGINES = ("AIV V", "AIV MTE2", "AIV MTE3")
CORES, COLS, BEST = 48, 1024, 1000


def measure(rows: int, folder: Path) -> tuple:
    """Microseconds and the engines' percentages."""
    text = (HERE / "topk.pto").read_text()
    for name, size in (("rows", rows), ("each", rows // CORES)):
        text = re.sub(rf"%{name} = arith.constant \d+", f"%{name} = arith.constant {size}", text)
    (folder / "topk.pto").write_text(text)
    tool("pto-compile", folder / "topk.pto", "--blocks", CORES // 2, "-o", folder / "topk.pmodel")
    x = np.random.default_rng(0).permuted(np.tile(np.arange(COLS, dtype=np.float32), (rows, 1)), axis=1)
    np.save(folder / "x.npy", x)
    np.save(folder / "i.npy", np.arange(COLS, dtype=np.uint32)[None])
    out = tool(
        "pto-run",
        folder / "topk.pmodel",
        "--kernel",
        "topk",
        "--arg",
        folder / "x.npy",
        "--arg",
        folder / "i.npy",
        "--out",
        f"{folder / 'v.npy'}:{rows}x{BEST}xf32",
        "--out",
        f"{folder / 'p.npy'}:{rows}x{BEST}xf32",
        "--mode",
        "timing",
    )
    order = np.argsort(-x, axis=1)[:, :BEST]
    if not (
        np.array_equal(np.load(folder / "v.npy"), np.take_along_axis(x, order, axis=1))
        and np.array_equal(np.load(folder / "p.npy").view(np.uint32), order)
    ):
        sys.exit(f"{rows} rows: the result is wrong")
    cycles, microseconds = map(float, re.search(r"([\d.]+) cycles, ([\d.e+]+) us", out).groups())
    busy = {name: float(count) for name, count in re.findall(r"^  (\w+ \w+): busy (\d+)", out, re.M)}
    return microseconds, *(100 * busy[engine] / cycles for engine in ENGINES)


def main(arguments):
    print(f"{'rows':>6} {'':10} {'us':>8}  {'V':>5} {'load':>5} {'store':>5}  time / published")
    for rows in [int(a) for a in arguments] or list(PUBLISHED):
        if rows % CORES:
            sys.exit(f"{rows} rows are no multiple of {CORES}")
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            here = measure(rows, Path(folder))
        row = lambda name, us, *shares: f"{name:10} {us:8.1f}  " + " ".join(f"{share:5.1f}" for share in shares)  # noqa: E731
        print(
            f"{rows:>6} " + row("here", *here) + (f"  {here[0] / PUBLISHED[rows][0]:.3f}" if rows in PUBLISHED else ""),
            flush=True,
        )
        if rows in PUBLISHED:
            print(f"{'':>6} " + row("published", *PUBLISHED[rows]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
