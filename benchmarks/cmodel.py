"""The simulator's speed beside its goals, family by family: instructions against plain code, a product against onnxruntime's, two threads against one.

    PYTHONPATH=build/python .venv/bin/python benchmarks/cmodel.py [--binary build/benchmarks/cmodel_insns] [--repetitions 3] [--only instructions|products]

Figures of instructions are CPU time on one thread, the best of the repetitions, beside plain code that is measured in the same run: a vectorised
loop of the same type (elementwise, comparisons, reductions, expansions), the same function in such a loop, a memcpy of as many bytes, or
multiply-adds in registers (cube). Two threads need an idle machine. Takes about a minute; ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matmul
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
GOALS = {"elementwise": 0.5, "functions": 0.5}  # f32 and f16 on a whole tile
PLAIN = {"cube": "multiply-adds", "functions": "the function in a loop", **dict.fromkeys(("elementwise", "compare and select", "row reductions",
         "column reductions", "expands"), "an addition in a loop")}  # fmt: skip


def instruction_rates(binary: Path, repetitions: int) -> dict[str, tuple]:
    """Rate, unit and part of the plain code's rate (or None) of each benchmark, by name: family/instruction/what."""
    done = subprocess.run([str(binary), "--benchmark_format=json", "--benchmark_min_time=0.02", f"--benchmark_repetitions={repetitions}"],
                          capture_output=True, text=True)  # fmt: skip
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
        before = best.get(row["run_name"], (0, unit, part))
        best[row["run_name"]] = (max(before[0], rate), unit, None if part is None else max(before[2], part))
    return best


def main(argv=None) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("--binary", type=Path, default=ROOT / "build" / "benchmarks" / "cmodel_insns")
    p.add_argument("--repetitions", type=int, default=3)
    p.add_argument("--only", choices=("instructions", "products"))
    args = p.parse_args(argv)
    if args.only != "products" and not args.binary.is_file():
        sys.exit(f"{args.binary}: not there; build the target cmodel_insns")
    missed = 0

    def row(what: str, value: float | None, goal: float | None = None, rate: str = "") -> None:
        nonlocal missed
        holds = goal is None or value >= goal
        missed += not holds
        of = "" if value is None else f"{value:.2f}"
        print(f"  {what:<58} {rate:>18} {of:>6}  {'' if goal is None else f'>= {goal:g} ' + ('ok' if holds else 'MISSED')}".rstrip(), flush=True)

    if args.only != "products":
        family = None
        for name, (rate, unit, part) in instruction_rates(args.binary, args.repetitions).items():
            if name.split("/")[0] != family:
                family = name.split("/")[0]
                print(f"{family}" + ("" if part is None else f", beside {PLAIN.get(family, 'memcpy')}"))
            whole = name.endswith(("f32 64x128", "f16 64x128"))
            row(name[len(family) + 1 :], part, GOALS.get(family) if whole else None, f"{rate / 1e9:.3f} G{unit}/s")
    if args.only == "instructions":
        print(f"\n{missed} goal{'s' * (missed != 1)} missed")
        return 1 if missed else 0

    n = 1024
    print(f"products of {n}^3, beside onnxruntime's MatMul of f32 on one thread; two threads beside one")
    feed = {"x": np.random.default_rng(1).standard_normal((n, n)).astype(np.float32)}
    with tempfile.TemporaryDirectory() as folder:
        quiet = io.StringIO()
        with contextlib.redirect_stdout(quiet):
            reference = matmul.reference_rate(folder, n, feed)
        for mode in ("F32", "F16", "BF16"):
            with contextlib.redirect_stdout(quiet):
                alone = matmul.simulator_rate(folder, n, feed, mode, 1, 1, time.process_time)
                clock = time.perf_counter
                one, two = (matmul.simulator_rate(folder, n, feed, mode, threads, 2, clock) for threads in (1, 2))
            row(f"{mode}, one thread", alone / reference, None if mode == "BF16" else 0.6, f"{alone:.1f} GFLOP/s")
            row(f"{mode}, two threads", two / one, 1.7, f"{two:.1f} GFLOP/s")
    print(f"\n{missed} goal{'s' * (missed != 1)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
