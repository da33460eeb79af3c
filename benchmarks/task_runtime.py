"""The task runtime's figures in one table: goals, the public runtime's own figures, oneTBB and Taskflow beside them.

    python benchmarks/task_runtime.py [--binary build/benchmarks/task_runtime_benchmark] [--repetitions 15]

The public runtime's figures are those that its authors published, measured on another machine of two processors; the
others are of this run. Rates are the best of the repetitions, since anything else on the machine only slows tasks down;
latencies are percentiles over all repetitions together. The rows without a kernel end at the scheduler thread: no core
runs anything. oneTBB and Taskflow call an empty function per task on a worker thread, so the row of empty kernels on
one core is the one that does the same work; their rates stand beside both. Ends with 1 when a goal is missed that
known_misses.toml does not list.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from goals import Goals

GRANULARITY = (100, 300, 1000, 3000, 10000, 30000, 100000, 1000000)  # ns, of the benchmark of that name
ROOT = Path(__file__).resolve().parents[1]


def measure(binary: Path, repetitions: int) -> dict[str, dict]:
    """Of each benchmark the fastest repetition, by name without its suffixes; of latencies the last one, whose
    percentiles are over all of them."""
    done = subprocess.run(
        [str(binary), "--benchmark_format=json", f"--benchmark_repetitions={repetitions}", "--benchmark_min_time=0.02"],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"{binary}: {done.stderr.strip() or 'failed'}")
    best: dict[str, dict] = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row.get("run_type") != "iteration":
            continue
        name = row["run_name"].replace("/real_time", "").replace("/iterations:1", "")
        if row.get("error_occurred"):
            sys.exit(f"{name}: {row['error_message']}")
        if name not in best or "p99_ns" in row or row["real_time"] < best[name]["real_time"]:
            best[name] = row
    return best


class Table:
    def __init__(self):
        self.goals = Goals("task_runtime")
        print(f"{'what':<58} {'here':>10}  {'goal':<10} {'':<10} {'public runtime':<16} {'oneTBB':>8} {'Taskflow':>9}")

    def row(
        self,
        what: str,
        value: float,
        unit: str,
        goal: float | None = None,
        least: bool = True,
        public: str = "",
        tbb: float | None = None,
        taskflow: float | None = None,
    ) -> None:
        verdict = "" if goal is None else self.goals.verdict(what, value, goal, least)
        bound = "" if goal is None else f"{'>=' if least else '<='} {goal:g}"
        beside = "".join(f" {'' if x is None else f'{x:.2f}':>{w}}" for x, w in ((tbb, 8), (taskflow, 9)))
        print(f"{f'{what}, {unit}':<58} {value:>10.2f}  {bound:<10} {verdict:<10} {public:<16}{beside}")


def at_efficiency(best: dict[str, dict], part: float) -> float:
    """The shortest kernel, in us, of which a core computes at least this part of the time; straight lines between the
    measured lengths."""
    points = sorted(
        (int(name.split("/")[1]) / 1e3, row["efficiency"])
        for name, row in best.items()
        if name.startswith("Granularity/")
    )
    previous = (0.0, 0.0)
    for length, efficiency in points:
        if efficiency >= part:
            x0, y0 = previous
            return x0 + (length - x0) * (part - y0) / (efficiency - y0)
        previous = (length, efficiency)
    return float("inf")


def main(argv=None) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", type=Path, default=ROOT / "build" / "benchmarks" / "task_runtime_benchmark")
    p.add_argument("--repetitions", type=int, default=15)
    args = p.parse_args(argv)
    if not args.binary.is_file():
        sys.exit(f"{args.binary}: not there; build the target task_runtime_benchmark")
    best = measure(args.binary, args.repetitions)

    def rate(name: str) -> float | None:
        return best[name]["items_per_second"] / 1e6 if name in best else None

    def peers(number: int) -> dict:
        return {
            peer: rate(f"{name}/independent0_chain1_wave2:{number}")
            for peer, name in (("tbb", "TbbFlowGraph"), ("taskflow", "Taskflow"))
        }

    t = Table()
    t.row("independent, no kernel", rate("Independent/16384"), "M tasks/s", 2, public="3.0 to 3.8", **peers(0))
    t.row("chain, no kernel", rate("Chain/16384"), "M tasks/s", 1.5, public="2.0", **peers(1))
    t.row("wave of 64, two producers each, no kernel", rate("Wave"), "M tasks/s", 2, public="3.1 to 3.3", **peers(2))
    t.row("64 tiles through the tensor map", rate("TensorMapTiles"), "M tasks/s", 1.5, public="2.2 to 2.6")
    t.row("64 x 64 bipartite", rate("Bipartite"), "M tasks/s")
    t.row("1 -> 50 -> 1", rate("FanOut"), "M tasks/s")
    for i, (what, public) in enumerate(
        (
            ("batched GEMM, kernels of no length", "1.38 on the chip"),
            ("paged attention", "0.94 on the chip"),
            ("decoder layer", ""),
        )
    ):
        t.row(what, rate(f"GraphThroughput/graph:{i}"), "M tasks/s", public=public)
    for shape in ("Independent", "Chain"):
        t.row(
            f"{shape.lower()}: window 16384 over window 64",
            rate(f"{shape}/16384") / rate(f"{shape}/64"),
            "times",
            1.5,
            least=False,
        )
    for window in (65536, 16384, 1024, 64, 16):
        t.row(f"independent, window {window}", rate(f"Independent/{window}"), "M tasks/s")
        t.row(
            f"independent, window {window}: submitter blocked",
            100 * best[f"Independent/{window}"]["blocked_ms"] / best[f"Independent/{window}"]["real_time"],
            "%",
        )
    for scope in (1, 4, 64, 4096):
        t.row(f"a scope per {scope} tasks", rate(f"ScopeSize/{scope}"), "M tasks/s")
    for heap in (32 << 10, 1 << 20, 64 << 20):
        t.row(f"1 KiB of output each, heap of {heap >> 10} KiB", rate(f"HeapSize/{heap}"), "M tasks/s")
    for i, shape in enumerate(("independent", "chain", "wave", "tiles")):
        row = best[f"Phases/independent0_chain1_wave2_tiles3:{i}"]
        for phase in ("submit", "dispatch", "complete"):
            what = "resolve and complete" if phase == "complete" else phase
            t.row(f"{shape}: {what}, alone on one thread", row[f"{phase}_ns"], "ns")
    for name, what in (("Latency", "producer's end to consumer's start"), ("ReadyLatency", "ready to start, traced")):
        t.row(f"{what}: measured", best[name]["samples"], "times")
        for value in ("p50", "p99", "max"):
            goal = 5.0 if (name, value) == ("Latency", "p99") else None
            t.row(
                f"{what}, {value}",
                best[name][f"{value}_ns"] / 1e3,
                "us",
                goal,
                least=False,
            )
    for ns in GRANULARITY:
        t.row(
            f"kernels of {ns / 1e3:g} us on one core: the core computes",
            100 * min(1.0, best[f"Granularity/{ns}"]["efficiency"]),
            "%",
        )
    for part in (0.5, 0.9):
        t.row(f"shortest kernel at {part:.0%} efficiency", at_efficiency(best, part), "us")
    for cores in (1, 2, 8, 24, 72):
        beside = peers(0) if cores == 1 else {}
        t.row(f"independent, empty kernels on {cores} cores", rate(f"WorkerCount/{cores}"), "M tasks/s", **beside)
    print("\nin virtual time on 24 cube and 48 vector cores, products of 10 us, vector kernels of 5 us")
    for i, what in enumerate(("batched GEMM", "paged attention", "decoder layer")):
        for cost in (0, 300, 874):
            row = best[f"GraphMakespan/graph:{i}/submit_ns:{cost}"]
            print(
                f"  {what:<16} {cost:>4} ns per submission: makespan {row['makespan_us']:>7.1f} us, critical "
                f"path {row['critical_us']:>6.1f} us, "
                f"cube cores busy {100 * row['cube_busy']:>5.1f} %, idle with ready work "
                f"{100 * row['cube_idle_ready']:.1f} / "
                f"{100 * row['vector_idle_ready']:.1f} % (cube / vector)"
            )
    return t.goals.close()


if __name__ == "__main__":
    sys.exit(main())
