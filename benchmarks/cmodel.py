"""The simulator's speed beside its goals, family by family: instructions against plain code, a product against onnxruntime's, two threads against one.

    PYTHONPATH=build/python .venv/bin/python benchmarks/cmodel.py [--binary build/benchmarks/cmodel_insns] [--repetitions 3]

The figures of instructions are CPU time on one thread, the best of the repetitions, relative to a memcpy, a vectorised loop or multiply-adds in
registers on this machine; two threads need an idle machine. Ends with 1 when a goal is missed.
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
# What a plain loop does with one operation per element; functions like exp are shown beside an addition without a goal.
ELEMENTWISE = ("TAdd", "TMul", "TMax", "TAdds", "TRelu", "TMuladddst")


def instruction_rates(binary: Path, repetitions: int) -> dict[str, float]:
    """The part of its roofline that each benchmark reaches, by name."""
    done = subprocess.run([str(binary), "--benchmark_format=json", f"--benchmark_repetitions={repetitions}"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{binary}: {done.stderr.strip() or 'failed'}")
    best: dict[str, float] = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row.get("error_occurred"):
            sys.exit(f"{row['run_name']}: {row['error_message']}")
        if row.get("run_type") == "iteration" and "of_roofline" in row:
            best[row["run_name"]] = max(best.get(row["run_name"], 0.0), row["of_roofline"])
    return best


def main(argv=None) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("--binary", type=Path, default=ROOT / "build" / "benchmarks" / "cmodel_insns")
    p.add_argument("--repetitions", type=int, default=3)
    args = p.parse_args(argv)
    if not args.binary.is_file():
        sys.exit(f"{args.binary}: not there; build the target cmodel_insns")
    missed = 0

    def row(what: str, value: float, goal: float | None = None) -> None:
        nonlocal missed
        holds = goal is None or value >= goal
        missed += not holds
        print(f"{what:<64} {value:>7.2f}  {'' if goal is None else f'>= {goal:g}':<8} {'' if goal is None else 'ok' if holds else 'MISSED'}", flush=True)

    for name, value in instruction_rates(args.binary, args.repetitions).items():
        short = name.replace("isa::", "").replace("pto_mlir::", "")
        large = short.endswith("/64/128/128")
        row(short, value, 0.5 if large and any(f"<{op}," in short for op in ELEMENTWISE) else None)

    n = 1024
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
            row(f"{n}^3 product {mode}, one thread, of onnxruntime f32", alone / reference, None if mode == "BF16" else 0.6)
            row(f"{n}^3 product {mode}, two threads over one", two / one, 1.7)
    print(f"\n{missed} goal{'s' * (missed != 1)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
