"""The timing mode beside everything that is published, in one table (Markdown): products, flash attention, top-k.

    python benchmarks/silicon/table.py [--large] [--json FILE]

Needs pto-compile and pto-run. --large adds the rows that take minutes; --json writes the rows for
scripts/readme_table.py.

Every result is checked. Ends with 1 when a row is farther from silicon than its goal: 15 % for products and top-k, 25 %
for flash attention.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[i]) for i in (0, 1)]
import flash  # noqa: E402
import products  # noqa: E402
import record  # noqa: E402
import topk  # noqa: E402

LARGE = {"product": (6144, 7680), "attention": (16384, 32768)}


def rows(large: bool):
    """(what, size, microseconds here, published, goal, shares of the time that the busiest engines are busy, here and
    published)"""
    wanted = lambda what, size: large or size not in LARGE.get(what, ())  # noqa: E731
    for what, published, measure, goal in (
        ("product", {n: (row[0] * 1e3, *row[1:]) for n, row in products.PUBLISHED.items()}, products.measure, 0.15),
        ("attention", {n: (us,) for n, us in flash.PUBLISHED.items()}, flash.measure, 0.25),
        ("top-k", topk.PUBLISHED, topk.measure, 0.15),
    ):
        for size in filter(lambda n: wanted(what, n), published):
            with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
                here = measure(size, Path(folder))
            if what == "product":
                here = (here[0] * 1e3, *here[1:])
                engines = ("M", "MTE1", "MTE2", "FIX")
            elif what == "attention":
                engines, here = tuple(here[1]), (here[0], *here[1].values())
            else:
                engines = ("V", "MTE2", "MTE3")
            shares = [
                f"{e.replace('AIC ', '').replace('AIV ', 'v')} {h:.0f}"
                for e, h in zip(engines, here[1:])
                if not e.endswith(" S")
            ]
            if len(published[size]) > 1:
                shares = [f"{s} ({p:.0f})" for s, p in zip(shares, published[size][1:])]
            yield what, size, here[0], published[size][0], goal, ", ".join(shares)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--large", action="store_true", help="also the rows that take minutes")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    args = parser.parse_args()
    kept, missed = [], 0
    print("| kernel | size | here, us | silicon, us | ratio | engines busy, % (silicon) |\n|---|---|---|---|---|---|")
    for what, size, here, published, goal, shares in rows(args.large):
        missed += abs(here / published - 1) > goal
        print(f"| {what} | {size} | {here:.1f} | {published:.1f} | {here / published:.2f} | {shares} |", flush=True)
        kept.append({"kernel": what, "size": size, "here_us": here, "silicon_us": published, "busy": shares})
    print(f"\n{missed} rows beyond their goal", file=sys.stderr)
    if args.json:
        record.write(args.json, "python benchmarks/silicon/table.py" + (" --large" if args.large else ""), kept)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
