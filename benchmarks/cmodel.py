"""The simulator's speed beside its goals, family by family: instructions against plain code, a product against
onnxruntime's, two threads against one.

    PYTHONPATH=build/python .venv/bin/python benchmarks/cmodel.py [--repetitions 3] [--rows]
        [--binary build/benchmarks/cmodel_insns] [--only instructions|products]

Figures of instructions are CPU time on one thread, the best of the repetitions, beside plain code that is measured in
the same run: a vectorised loop of the same type (elementwise, comparisons, reductions, expansions), the same function
in such a loop, a memcpy of as many bytes, or multiply-adds in registers (cube). Prints one table: of each family the
number of rows, the least and the middle one of their parts of the plain code's rate, and the goal. A goal holds for
each row that it names; --rows prints them all. Two threads need an idle machine. Takes a minute; ends with 1 when a
goal is missed that known_misses.toml does not list.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matmul
import numpy as np
from goals import Goals

ROOT = Path(__file__).resolve().parents[1]
WHOLE = ("f32 64x128", "f16 64x128")


class Family(NamedTuple):
    beside: str  # what the rows are compared with
    goal: float  # part of its rate
    named: Callable[[str], bool]  # the rows that the goal is for
    why: str  # where that is not half: what the instruction does beside the plain code


def whole(name: str) -> bool:
    return name.endswith(WHOLE)


def every(name: str) -> bool:
    return True


def of(*parts: str) -> Callable[[str], bool]:
    return lambda name: any(part in name for part in parts)


ADDITION = "an addition in a loop"
FAMILIES = {
    "elementwise": Family(ADDITION, 0.5, whole, ""),
    "functions": Family("the function in a loop", 0.5, whole, ""),
    "compare and select": Family(ADDITION, 0.5, every, ""),
    "row reductions": Family(
        ADDITION,
        0.5,
        of("rowsum/f32", "rowmax/f32", "sum/i32"),
        "of sums and maxima; f16 is widened, places are looked up, products have one order",
    ),
    "column reductions": Family(
        ADDITION,
        0.5,
        lambda name: name != "tcolargmax/f16 64x128",
        "but for the places of f16, which are two types wide",
    ),
    "expands": Family(ADDITION, 0.5, lambda name: "expdif" not in name, "but for the one that has an exp in it"),
    "conversions": Family(
        "memcpy",
        0.12,
        lambda name: "f16 64x128" not in name,
        "of f32 and integers: they round and clamp; from f16 to 8 bits 0.05",
    ),
    "rearrange": Family("memcpy", 0.2, every, "transpositions and joints in registers"),
    "gather": Family("memcpy", 0.02, every, "an index is read and checked for each element"),
    "sort": Family("memcpy", 0.01, every, "comparisons, and branches on them"),
    "movement": Family(
        "memcpy",
        0.3,
        lambda name: not name.startswith("mgather"),
        "narrow tiles have rows of 32 bytes; no goal for rows by index",
    ),
    "cube": Family(
        "multiply-adds", 0.5, of("128x"), "of 128 in each direction; few rows or a short depth leave no panel full"
    ),
    "img2col": Family("memcpy", 0.2, every, "runs of one pixel's channels"),
    "extraction": Family("memcpy", 0.2, every, "the right operand is transposed"),
    "fixpipe": Family("memcpy", 0.25, every, "converts, and quantises, what it stores"),
}


def instruction_rates(binary: Path, repetitions: int) -> dict[str, tuple]:
    """Rate, unit and part of the plain code's rate (or None) of each benchmark, by name: family/instruction/what."""
    done = subprocess.run(
        [str(binary), "--benchmark_format=json", f"--benchmark_repetitions={repetitions}"],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"{binary}: {done.stderr.strip() or 'failed'}")
    best: dict[str, tuple] = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row.get("error_occurred"):
            sys.exit(f"{row['run_name']}: {row['error_message']}")
        if row.get("run_type") != "iteration":
            continue
        unit = next(u for u in ("elements", "bytes", "flop", "instructions", "launches") if u in row)
        rate, part = row[unit], row.get("of_roofline")
        name = row["run_name"].removesuffix("/iterations:1")
        before = best.get(name, (0, unit, part))
        best[name] = (max(before[0], rate), unit, None if part is None else max(before[2], part))
    return best


def main(argv=None) -> int:
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    p.add_argument("--binary", type=Path, default=ROOT / "build" / "benchmarks" / "cmodel_insns")
    p.add_argument("--repetitions", type=int, default=3)
    p.add_argument("--rows", action="store_true", help="every instruction's figures, too")
    p.add_argument("--only", choices=("instructions", "products"))
    args = p.parse_args(argv)
    if args.only != "products" and not args.binary.is_file():
        sys.exit(f"{args.binary}: not there; build the target cmodel_insns")
    goals = Goals("cmodel")

    def line(*cells) -> None:
        print("{:<20} {:<24} {:>4} {:>7} {:>7}  {}".format(*cells).rstrip(), flush=True)

    def verdict(what: str, value: float, goal: float) -> str:
        return f">= {goal:g} {goals.verdict(what, value, goal, least=True)}"

    line("family", "beside", "rows", "least", "middle", "goal")
    if args.only != "products":
        families: dict[str, dict[str, tuple]] = {}
        for name, row in instruction_rates(args.binary, args.repetitions).items():
            families.setdefault(name.split("/")[0], {})[name.partition("/")[2]] = row
        for name, rows in families.items():
            parts = {row: part for row, (_, _, part) in rows.items() if part is not None}
            if not parts:
                rate, unit, _ = next(iter(rows.values()))
                line(name, "nothing", len(rows), "", "", f"none: {rate / 1e6:.1f} M{unit}/s")
            else:
                family = FAMILIES[name]
                named = {row: part for row, part in parts.items() if family.named(row)}
                worst = min(named, key=named.__getitem__)
                text = (
                    verdict(name, named[worst], family.goal)
                    + (f" ({worst})" if named[worst] < family.goal else "")
                    + (f"; {family.why}" if family.why else "")
                )
                line(
                    name,
                    family.beside,
                    len(rows),
                    f"{min(parts.values()):.2f}",
                    f"{statistics.median(parts.values()):.2f}",
                    text,
                )
            for row, (rate, unit, part) in rows.items() if args.rows else ():
                print(f"    {row:<58} {rate / 1e9:>12.3f} G{unit}/s {'' if part is None else f'{part:.2f}':>6}")
    n, modes = 1024, ("F32", "F16", "BF16") if args.only != "instructions" else ()
    feed = {"x": np.random.default_rng(1).standard_normal((n, n)).astype(np.float32)}
    with tempfile.TemporaryDirectory() as folder:
        quiet = io.StringIO()
        with contextlib.redirect_stdout(quiet):
            reference = matmul.reference_rate(folder, n, feed) if modes else 0
        for mode in modes:
            with contextlib.redirect_stdout(quiet):
                alone = matmul.simulator_rate(folder, n, feed, mode, 1, 1, time.process_time)
                clock = time.perf_counter
                one, two = (matmul.simulator_rate(folder, n, feed, mode, threads, 2, clock) for threads in (1, 2))
            part, faster = alone / reference, two / one
            line(
                f"product {mode}",
                "onnxruntime, 1 thread",
                "",
                "",
                f"{part:.2f}",
                f"{verdict(f'product {mode}, one thread', part, 0.6)}: {n}^3 on one thread, {alone:.0f} GFLOP/s",
            )
            line(
                "",
                "itself on 1 thread",
                "",
                "",
                f"{faster:.2f}",
                f"{verdict(f'product {mode}, two threads', faster, 1.7)}: on two threads, {two:.0f} GFLOP/s",
            )
    return goals.close()


if __name__ == "__main__":
    sys.exit(main())
