"""The numbers of the first zoo beside their goals, in one run: accuracy, speed, conversion, sizes, traffic, cores.

    PYTHONPATH=build/python .venv/bin/python benchmarks/zoo.py [--models cls,rec] [--modes F32,F16,BF16]
                                                               [--counts | --cost]

Runs the regression command (one job at a time, float64 reference included), then converts each model again for the
median, and asks pmodel_tool about traffic. `--counts` only converts and counts: traffic, and how even the work is in
timing mode on 24 blocks. These figures do not depend on what else the machine does; the others are valid on an idle
machine only. `--cost` takes every description of the zoo, a decoder of few and of many layers and a model of 4 GiB:
conversion and inference, without accuracy (zoo_cost.py). Inference is a call inside a loaded process: the cmodel on two
threads in turns with onnxruntime on one.
Ends with 1 when a network fails or a goal is missed that known_misses.toml does not list.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
import onnx
import record
import zoo_cost
from goals import KNOWN_MISSES, Goals
from pto_mlir import cli
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools.native import program_output
from zoo_cost import CONVERSION, weight_bytes

from regression import command as regression
from regression import zoo
from regression.measure import command, onnxruntime_call, onnxruntime_session

MODELS = ("cls", "rec", "det", "minilm", "minilm_b4", "mobilenet_v2", "resnet18", "resnet50", "resnet152", "vit_b_16")
OUTPUT_COSINE = {"F32": 0.99999, "F16": 0.9995, "BF16": 0.99}
# TPU-MLIR 1.30's. Its torchvision nets had other random weights, hence outputs of another size: there the cosine is
# what can be compared. Its inputs are not known, but det's error of 6.7e-5 at a cosine of .99966 means outputs of 1e-3,
# which noise gives and a page does not: noise is what is compared.
F16_ERROR = {"cls": 4.4e-4, "rec": 2.4e-2, "det": 6.7e-5}
F16_COSINE = {"mobilenet_v2": 0.99995, "resnet50": 0.99993}
PACKING = {"cls": 20.0}  # percent; 6 for the others
# Bytes moved over what inputs, outputs and weights alone need, 5 % above what `--counts` measured in F32.
TRAFFIC = {
    "cls": 15.3,
    "rec": 9.5,
    "det": 48.8,
    "minilm": 2.7,
    "minilm_b4": 8.8,
    "mobilenet_v2": 5.6,
    "resnet18": 1.9,
    "resnet50": 2.9,
    "vit_b_16": 2.9,
}
# Names of figures that others look for in the JSON (scripts/readme_table.py).
FILE = "file, bytes"
NOISE_INPUTS = 24  # of cls three moved by 68 % from tree to tree, and 24 by 9 % (docs/regression.md)
LARGE = 0.02  # a launch counts as large when a core works on it for this part of the makespan
DISPATCH_US = 0.95  # of a task's time on a core, as the runtime counts it (ISA/Costs.td, dispatchSeconds)


class Table:
    """Lines of model, mode, what, value, goal and whether it holds; each is printed as soon as it is known."""

    def __init__(self, known_misses: Path = KNOWN_MISSES):
        self.rows: list[dict] = []
        self.goals = Goals("zoo", known_misses)
        print(f"\n{'model':<24} {'mode':<5} {'what':<50} {'measured':>14}   {'goal':<16}")

    def add(
        self, model: str, mode: str, what: str, value: float, goal: float | None, form: str, least: bool = False
    ) -> None:
        name = f"{model} {mode}: {what.split(' (')[0]}"
        verdict = "" if goal is None else self.goals.verdict(name, value, goal, least)
        bound = "" if goal is None else f"{'>=' if least else '<='} {goal:{form}}"
        print(f"{model:<24} {mode:<5} {what:<50} {value:>14{form}}   {bound:<16} {verdict}")
        self.rows.append({"model": model, "mode": mode, "what": what, "value": value, "goal": goal, "verdict": verdict})


def traffic(file: Path) -> float | None:
    """Bytes moved over the ideal, as pmodel_tool counts them."""
    try:
        text = program_output("pmodel_tool", ["--traffic", str(file)])
    except UserError:
        return None
    ratio = re.search(r"\(([\d.]+)x\)", text)
    return float(ratio[1]) if ratio else None


def evenness(file: Path, trace: Path) -> tuple[float, str]:
    """How long the busiest core works on a launch over the mean of all cores of its kind, and the launch's name: the
    worst among those whose busiest core works for a large part of the makespan, in timing mode on 24 blocks. From its
    first block's begin to its last one's end a launch may wait for cores that are busy with another."""
    session = InferenceSession(str(file), mode="timing", trace=True)
    rng = np.random.default_rng(0)
    session.run(
        None,
        {
            i.name: rng.random(i.shape, np.float32) if i.type == "tensor(float)" else np.ones(i.shape, np.int64)
            for i in session.get_inputs()
        },
    )
    session.write_trace(str(trace))
    events = json.loads(trace.read_text())["traceEvents"]
    kinds = {
        (e["pid"], e["tid"]): e["args"]["name"].split()[0]
        for e in events
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    launches: dict[str, list[dict]] = {}
    for event in events:
        if (
            event["ph"] == "X"
            and "block" in event.get("args", {})
            and kinds[event["pid"], event["tid"]] in ("CUBE", "VECTOR")
        ):
            launches.setdefault(event["args"]["task"], []).append(event)
    spans = {
        task: (min(e["ts"] for e in blocks), max(e["ts"] + e["dur"] for e in blocks))
        for task, blocks in launches.items()
    }
    makespan = max(end for _, end in spans.values()) - min(begin for begin, _ in spans.values())
    worst = (1.0, "none")
    for task, blocks in launches.items():
        work = [max(e["dur"] - DISPATCH_US, 0.0) for e in blocks]
        if max(work) < LARGE * makespan:
            continue
        cores = 24 if kinds[blocks[0]["pid"], blocks[0]["tid"]] == "CUBE" else 48
        worst = max(worst, (max(work) * cores / max(sum(work), 1e-9), blocks[0]["name"]))
    return worst


def noise_error(onnx_file: Path, file: Path) -> float:
    """The greatest error of the outputs beside onnxruntime's on uniform noise in [0, 1), the mean over NOISE_INPUTS."""
    ours, theirs, errors = InferenceSession(str(file)), onnxruntime_session(onnx_file), []
    for seed in range(NOISE_INPUTS):
        rng = np.random.default_rng(seed)
        feed = {i.name: rng.uniform(0, 1, i.shape).astype(np.float32) for i in ours.get_inputs()}
        errors.append(max(np.abs(a - b).max() for a, b in zip(ours.run(None, feed), onnxruntime_call(theirs, feed))))
    return float(np.mean(errors))


def accuracy(table: Table, r: dict) -> None:
    name, mode = r["name"], r["mode"]
    if r.get("tensors"):
        worst = min(r["tensors"], key=lambda t: t["cosine"])
        table.add(
            name,
            mode,
            f"least cosine of {len(r['tensors'])} tensors",
            worst["cosine"],
            0.99999 if mode == "F32" else None,
            ".7f",
            True,
        )
    goal = F16_COSINE.get(name, OUTPUT_COSINE[mode]) if mode == "F16" else OUTPUT_COSINE[mode]
    table.add(name, mode, "least cosine of the outputs", min(o["cosine"] for o in r["outputs"]), goal, ".7f", True)
    table.add(name, mode, "max error of the outputs", max(o["max_error"] for o in r["outputs"]), None, ".2e")
    for o in r["outputs"]:
        if mode == "F32" and "float64" in o:
            table.add(
                name,
                mode,
                f"{o['name'][:18]}: distance to float64 / ort's",
                o["float64"] / max(o["onnxruntime_float64"], 1e-30),
                4.0,
                ".2f",
            )


def transform(name: str, model: zoo.Model, onnx_file: Path, mlir: Path):
    """Converts the ONNX file of a network to `mlir`."""
    options = ["--model_def", onnx_file, "--input_shapes", model.shapes, "--mlir", mlir]
    return command("model_transform", "--model_name", name, *options)


def deploy(name: str, mode: str, work: Path, file: Path, *options: str):
    """Converts `work`/NAME.mlir to `file`."""
    return command("model_deploy", "--mlir", work / f"{name}.mlir", "--quantize", mode, *options, "--model", file)


@dataclass
class Case:
    """A network in one mode: its result in the report, its preparation, and where its files are."""

    result: dict
    prepared: dict
    model: zoo.Model
    onnx: Path
    work: Path

    @property
    def key(self) -> tuple[str, str]:
        return self.result["name"], self.result["mode"]

    @property
    def file(self) -> Path:
        name, mode = self.key
        return self.work / f"{name}_{mode}_{self.result['cores']}.pmodel"


def inference(table: Table, case: Case) -> None:
    """One inference inside a loaded process, beside onnxruntime's."""
    (name, mode), s = case.key, case.result["seconds"]
    if "cmodel" not in s:
        return
    zoo_cost.inference_row(table, name, mode, s["cmodel"], s["onnxruntime"])


def conversion(table: Table, case: Case, repeat: int) -> None:
    """Seconds of both commands, process starts included; for ResNets also per node: a net of three times the depth
    costs no more per node."""
    name, mode = case.key
    seconds, _ = zoo_cost.convert(case.onnx, case.model.transform_options, mode, case.work / f"{name}.pmodel", repeat)
    table.add(name, mode, CONVERSION, seconds, zoo_cost.conversion_goal(case.onnx.stat().st_size), ".2f")
    if name.startswith("resnet"):
        per_node = "the same per node"
        small = [r["value"] for r in table.rows if r["model"] == "resnet18" and r["what"].startswith(per_node)]
        nodes = len(onnx.load(str(case.onnx), load_external_data=False).graph.node)
        goal = zoo_cost.PER_NODE * small[0] if small else None
        table.add(name, mode, f"{per_node}, ms ({nodes} nodes)", 1e3 * seconds / nodes, goal, ".1f")


def sizes(table: Table, case: Case, weights: int) -> None:
    """Bytes of the file, and what packing adds to the weights."""
    (name, mode), b = case.key, case.result["bytes"]
    table.add(name, mode, FILE, b["file"], 1.02 * b["weights"] + 2**16 + 2048 * len(case.result["kernels"]), ",.0f")
    packing = 100 * (b["weights"] / weights - 1)
    table.add(name, mode, "packing adds to the weights, %", packing, PACKING.get(name, 6.0), ".1f")


def counts(table: Table, name: str, mode: str, file: Path, work: Path) -> None:
    """Traffic of `file`, a conversion for one core, and how even the work is on 24 blocks: figures that no clock of the
    host is part of."""
    moved = traffic(file)
    if not moved:
        print(f"{name:<24} {mode:<5} {'traffic: pmodel_tool does not report it':<50}")
        return
    table.add(name, mode, "traffic / ideal", moved, TRAFFIC.get(name), ".2f")
    many = work / "many.pmodel"
    if not deploy(name, mode, work, many, "--num_core", "24").problem:
        ratio, launch = evenness(many, work / "many.json")
        table.add(name, mode, f"large launches on 24 blocks: work / even ({launch[-10:]})", ratio, 1.15, ".2f")


def only_counts(table: Table, args, work: Path) -> int:
    """The counts of every network that is asked for; 1 when one cannot be converted."""
    work.mkdir(parents=True, exist_ok=True)
    code = 0
    for name in args.models.split(","):
        model = zoo.read(args.descriptions / f"{name}.toml")
        problem = transform(name, model, args.cache / "zoo" / model.file, work / f"{name}.mlir").problem
        for mode in args.modes.split(","):
            file = work / f"{name}_{mode}_counts.pmodel"
            if problem := problem or deploy(name, mode, work, file).problem:
                print(f"{name:<24} {mode:<5} {problem.splitlines()[0][:110]}")
                code = 1
                break
            counts(table, name, mode, file, work)
    return code


def figures(table: Table, case: Case, repeat: int) -> None:
    """Everything about a case but its accuracy."""
    name, mode = case.key
    weights = weight_bytes(case.onnx)
    inference(table, case)
    peak = max(case.prepared["peak_mb"]["transform"], case.result["peak_mb"]["deploy"])
    table.add(name, mode, zoo_cost.MEMORY, peak, zoo_cost.memory_goal(weights), ".0f")
    if mode == "F32":
        conversion(table, case, repeat)
        sizes(table, case, weights)
    if mode == "F16" and name in F16_ERROR:
        error = noise_error(case.onnx, case.file)
        table.add(name, mode, "max error of the outputs on noise", error, F16_ERROR[name], ".2e")
    counts(table, name, mode, case.file, case.work)
    table.add(name, mode, "kernels", len(case.result["kernels"]), None, ".0f")
    table.add(name, mode, "operations on the host", len(case.result["host_ops"]), 0.0, ".0f")


def summary(table: Table) -> dict:
    """Over all networks: goals held and missed, the range of conversion times."""
    seconds = [row["value"] for row in table.rows if row["what"] == CONVERSION]
    missed = [
        f"{r['model']} {r['mode']}: {r['what'].split(' (')[0]}" for r in table.rows if "miss" in r["verdict"].lower()
    ]
    return {
        "held": table.goals.held,
        "missed": missed,
        "conversion_s": [min(seconds), max(seconds)] if seconds else [],
    }


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    p.add_argument("--models", help=f"default: {','.join(MODELS)}; with --cost every description")
    p.add_argument("--modes", default="F32,F16,BF16")
    p.add_argument("--cache", type=Path, default=zoo.cache_folder(), help="folder of the models")
    p.add_argument("--descriptions", type=Path, default=zoo.DESCRIPTIONS)
    p.add_argument("--work", type=Path, help="folder of .pmodel files and reports (default: benchmark in the cache)")
    p.add_argument("--repeat", type=int, default=3, help="conversions of which the median counts")
    p.add_argument("--resume", action="store_true", help="keep what an earlier run with the same tools measured")
    p.add_argument("--counts", action="store_true", help="traffic and evenness only, no clocks and no accuracy")
    p.add_argument("--cost", action="store_true", help="conversion and inference of every description, no accuracy")
    p.add_argument("--json", type=Path, help="also write the table to this file; scripts/readme_table.py reads it")
    return p


def close(table: Table, args, code: int) -> int:
    """Writes the table where --json says, prints the verdicts; the exit code."""
    if args.json:
        typed = f"PYTHONPATH=build/python .venv/bin/python benchmarks/zoo.py --modes {args.modes}"
        part = " --counts" if args.counts else " --cost" if args.cost else ""
        record.write(args.json, typed + part, table.rows, summary(table))
    return max(code, table.goals.close())


def main() -> int:
    args = parser().parse_args()
    args.cache = args.cache.resolve()
    work = (args.work or args.cache / "benchmark").resolve()
    if args.cost:
        every = sorted(path.stem for path in args.descriptions.glob("*.toml"))
        table = Table()
        return close(table, args, zoo_cost.run(table, args, args.models.split(",") if args.models else every, work))
    args.models = args.models or ",".join(MODELS)
    if args.counts:
        table = Table()
        return close(table, args, only_counts(table, args, work))
    options = ["--models", args.models, "--modes", args.modes, "--cache", str(args.cache), "--work", str(work)]
    options += ["--descriptions", str(args.descriptions), "--float64", "--no-metric"]
    code = regression.main([*options, *(["--resume"] if args.resume else [])])
    report = work / "report.json"
    if code == 130 or not report.is_file():
        return code
    outcome = json.loads(report.read_text())
    prepared = {r["name"]: r for r in outcome["results"] if r["what"] == "prepare"}
    table = Table()
    for r in (r for r in outcome["results"] if r["what"] == "model"):
        if not r.get("outputs"):
            print(f"{r['name']:<24} {r['mode']:<5} {r['status']}: {r['problem'].splitlines()[0][:110]}")
            continue
        model = zoo.read(args.descriptions / f"{r['name']}.toml")
        accuracy(table, r)
        figures(table, Case(r, prepared[r["name"]], model, args.cache / "zoo" / model.file, work), args.repeat)
    return close(table, args, code)


if __name__ == "__main__":
    sys.exit(cli.run("zoo", lambda _: main()))
