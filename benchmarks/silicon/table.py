"""The timing mode beside every published measurement of silicon, in two tables (Markdown): rows that rates were fitted
to, and validation rows.

    python benchmarks/silicon/table.py [--large] [--only KERNEL]

Needs pto-compile and pto-run. --large adds the rows that take minutes.

Every result is checked. `published.py` is the table of the rows. Below each group stands its worst error, and for each
kernel its goal; ends with 1 when a goal is missed without a reason in benchmarks/known_misses.toml. Goals of the fitted
rows bound the fit. Goals of the validation rows are the errors as measured, rounded up: they hold the model where it
is, and say nothing about how good it is.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import conv  # noqa: E402
import flash  # noqa: E402
import mx  # noqa: E402
import products  # noqa: E402
import topk  # noqa: E402
from goals import Goals  # noqa: E402
from published import ROWS, Row  # noqa: E402

# kernel: how it is measured, and the goal of its worst error, as a part of the published time
KERNELS = {
    "product f16": (products.measure, 0.15),
    "top-k f32": (topk.measure, 0.15),
    "MXFP8 a5": (mx.measure_fp8, 0.15),
    "conv 3x3 f16": (conv.measure, 0.27),
    "attention": (flash.measure, 0.19),
    "attention, few cores": (flash.measure_few, 0.70),
    "top-k f16": (topk.measure_f16, 0.06),
    "MXFP4 a5": (mx.measure_fp4, 0.54),
}
GROUPS = {
    "fitted": "Rates of the model were taken from these rows",
    "validation": "No rate was taken from these rows",
}


def engines(row: Row, busy: dict) -> str:
    """The engines' percentages, published ones in brackets; all that did anything where none are published."""
    names = row.busy or [name for name, part in busy.items() if part and not name.endswith(" S")]
    short = lambda name: name.replace("AIC ", "").replace("AIV ", "v" if not row.busy else "")  # noqa: E731
    published = lambda name: f" ({row.busy[name]:.0f})" if row.busy else ""  # noqa: E731
    return ", ".join(f"{short(name)} {busy[name]:.0f}{published(name)}" for name in names)


def print_group(group: str, rows: list[Row]) -> dict[str, float]:
    """Measures and prints the rows; the worst error of each kernel."""
    print(
        f"\n{GROUPS[group]}:\n\n| kernel | size | group | here, us | silicon, us | ratio | engines busy, % (silicon) |"
    )
    print("|---|---|---|---|---|---|---|")
    worst: dict[str, float] = {}
    for row in rows:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            here, busy = KERNELS[row.kernel][0](row.size, Path(folder))
        ratio = here / row.microseconds
        worst[row.kernel] = max(worst.get(row.kernel, 0), abs(ratio - 1))
        size = " x ".join(map(str, row.size)) if isinstance(row.size, tuple) else row.size
        times = f"{here:.1f} | {row.microseconds:.1f} | {ratio:.2f}"
        print(f"| {row.kernel} | {size} | {group} | {times} | {engines(row, busy)} |", flush=True)
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also the rows that take minutes")
    parser.add_argument("--only", choices=KERNELS, help="the rows of one kernel")
    args = parser.parse_args()
    chosen = [r for r in ROWS if (args.large or not r.large) and args.only in (None, r.kernel)]
    goals = Goals("silicon")
    for group in GROUPS:
        rows = [row for row in chosen if row.group == group]
        if not rows:
            continue
        worst = print_group(group, rows)
        kernel = max(worst, key=worst.get)
        print(f"\nWorst error of the {group} rows: {100 * worst[kernel]:.0f} % ({kernel}).\n")
        for name, error in worst.items():
            goal = KERNELS[name][1]
            result = goals.verdict(f"{name}: worst error", error, goal)
            print(f"  {name}: worst error {100 * error:.1f} %, goal {100 * goal:.0f} %: {result}")
    return goals.close()


if __name__ == "__main__":
    sys.exit(main())
