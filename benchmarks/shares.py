"""Where the time of networks of the zoo goes in timing mode on 24 blocks of a3: of the sum of all launches, what
dispatches take, and of the core of each launch that ends last (with the other cores of its block, if it has both
kinds), what runs until its first computation begins, between, and after the last one ended.

    PYTHONPATH=build/python .venv/bin/python benchmarks/shares.py --models resnet50,minilm [--mode F16] [--launches]

Each moment counts for the first of these engines that works: M or V (compute), MTE2 (load), FIX or MTE3 (store), MTE1
(to L0), S (scalars); for none of them it is idle: it waits for a flag or for another core. "uneven": how much earlier
cores are done than the last one on average, part of what stands above. --launches: the same for each launch, in us.
Launches that run side by side count both, so that the sum may exceed the makespan.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
from bounds import BLOCKS, CHIP, deploy
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

from regression import zoo
from regression.measure import command

WORK = [
    ("compute", {"M", "V"}),
    ("load", {"MTE2"}),
    ("store", {"FIX", "MTE3"}),
    ("to L0", {"MTE1"}),
    ("scalars", {"S"}),
]


class Span(NamedTuple):
    """What an engine did, in us."""

    engine: str
    begin: float
    end: float


class Launch(NamedTuple):
    kernel: str
    begin: float
    end: float
    cores: dict[str, list[Span]]


def kind_of(busy: set[str]) -> str:
    return next((name for name, engines in WORK if busy & engines), "idle")


def parts(spans: list[Span], begin: float, end: float) -> Counter:
    """Microseconds of a core by (when, what)."""
    computing = [span for span in spans if span.engine in WORK[0][1]]
    first = min((span.begin for span in computing), default=end)
    last = max((span.end for span in computing), default=first)
    edges = sorted({begin, end, first, last, *(s.begin for s in spans), *(s.end for s in spans)})
    changes = defaultdict(Counter)
    for span in spans:
        changes[span.begin][span.engine] += 1
        changes[span.end][span.engine] -= 1
    busy, result = Counter(), Counter()
    for here, after in zip(edges, edges[1:], strict=False):
        busy.update(changes[here])
        when = "before" if here < first else "after" if here >= last else "between"
        result[when, kind_of({engine for engine, count in busy.items() if count > 0})] += after - here
    return result


def launches(events: list[dict], launch_us: float) -> Iterator[Launch]:
    """Of a trace of engines; a launch's event stands behind those of its cores and begins `launch_us` before them."""
    names = {(e["name"], e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M"}
    cores = defaultdict(list)
    for e in events:
        if e["ph"] != "X":
            continue
        core = names["process_name", e["pid"], None]
        if core == "device":
            yield Launch(e["name"], e["ts"] + launch_us, e["ts"] + e["dur"], dict(cores))
            cores.clear()
        else:
            cores[core].append(Span(names["thread_name", e["pid"], e["tid"]], e["ts"], e["ts"] + e["dur"]))


def shares(launch: Launch) -> tuple[Counter, float]:
    """The parts of the core that ends last, and how much earlier the cores are done on average."""
    ends = {core: max(span.end for span in spans) for core, spans in launch.cores.items()}
    if not ends:
        return Counter(), 0.0
    last = max(ends, key=ends.get)
    block = last[3:].split(".")[0]
    mixed = len({core[:3] for core in launch.cores}) == 2
    together = [core for core in launch.cores if core == last or (mixed and core[3:].split(".")[0] == block)]
    spans = [span for core in together for span in launch.cores[core]]
    return parts(spans, launch.begin, launch.end), launch.end - float(np.mean(list(ends.values())))


def measure(model: zoo.Model, mode: str, folder: Path) -> list[Launch]:
    cache, mlir, trace = zoo.cache_folder(), folder / "m.mlir", folder / "trace.json"
    arguments = ["--model_name", model.name, "--model_def", zoo.make(model, cache), *model.transform_options]
    made = command("model_transform", *arguments, "--mlir", mlir)
    if made.code != 0:
        raise UserError(made.problem)
    session = InferenceSession(str(deploy(ROOT / "build", mlir, mode, folder)), mode=f"timing:{trace}", trace=True)
    session.run(None, zoo.feed(model, cache))
    print(f"{model.name} {mode}: {session.trace_report().splitlines()[0]}")
    del session  # which ends the trace
    launch_seconds, _ = compiler.launch_seconds(CHIP)
    return list(launches(json.loads(trace.read_text())["traceEvents"], 1e6 * launch_seconds))


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", required=True, help="names, comma-separated")
    p.add_argument("--mode", default="F16")
    p.add_argument("--launches", action="store_true", help="a line per launch as well")
    args = p.parse_args()
    _, dispatch = compiler.launch_seconds(CHIP)
    for model in zoo.read_all(args.models.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(model, args.mode, Path(folder))
        total, uneven = Counter({("", "dispatch"): 1e6 * dispatch * len(found)}), 0.0
        for launch in found:
            own, early = shares(launch)
            total.update(own)
            uneven += early
            if args.launches:
                text = ", ".join(f"{when} {what} {us:.2f}" for (when, what), us in own.most_common() if us >= 0.05)
                print(f"  {launch.kernel[:48]:<48} {launch.end - launch.begin:7.2f} us on {len(launch.cores)}: {text}")
        everything = sum(total.values())
        print(f"  {len(found)} launches, {everything:.1f} us on {BLOCKS} blocks")
        for (when, what), us in total.most_common():
            if us >= everything / 200:
                print(f"  {f'{when} {what}'.strip():<18} {us:8.1f} us {100 * us / everything:5.1f} %")
        print(f"  {'uneven':<18} {uneven:8.1f} us {100 * uneven / everything:5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
