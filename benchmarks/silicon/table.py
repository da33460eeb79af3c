"""The timing mode beside everything that is published, in one table (Markdown): products, flash attention, top-k.

    python benchmarks/silicon/table.py [--large]        (needs pto-compile and pto-run; --large adds the rows that take minutes)

Every result is checked. Ends with 1 when a row is farther from silicon than its goal: 15 % for products and top-k, 25 % for flash attention.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import flash  # noqa: E402
import products  # noqa: E402
import topk  # noqa: E402

LARGE = {"product": (6144, 7680), "attention": (16384, 32768)}


def rows(large: bool):
    """(what, size, microseconds here, published, goal, shares of the time that the busiest engines are busy, here and published)"""
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


def main(arguments) -> int:
    if set(arguments) - {"--large"}:
        sys.exit(__doc__)
    missed = 0
    print("| kernel | size | here, us | silicon, us | ratio | engines busy, % (silicon) |\n|---|---|---|---|---|---|")
    for what, size, here, published, goal, shares in rows("--large" in arguments):
        missed += abs(here / published - 1) > goal
        print(f"| {what} | {size} | {here:.1f} | {published:.1f} | {here / published:.2f} | {shares} |", flush=True)
    print(f"\n{missed} rows beyond their goal", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
