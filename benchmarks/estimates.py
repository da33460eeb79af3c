"""The compiler's estimate of every kernel of the zoo's models, made before code generation, beside the
timing mode's cycles.

    PYTHONPATH=build/python .venv/bin/python benchmarks/estimates.py
        [--models cls,rec] [--modes F32,F16] [--cores 1,24] [--rows]

Takes the models that are in the cache (regression/models names them), converts each with --dump_ir, reads the estimates
that the compiler wrote beside its kernels (`pto.estimate`: what its choosers ask, docs/timing.md) and runs the model
once in timing mode. Cycles are those of a launch without what every launch costs (ISA/Costs.td), which would hide most
of the error of a small kernel; several launches of one kernel count as their mean. Prints, per model, mode and number
of cores, the median and the worst error beside their goals, and the kernels that miss the goal of the worst (--rows:
all). Ends with 1 when a goal is missed without a reason in known_misses.toml.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
from goals import Goals
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

from regression import zoo
from regression.measure import command

MEDIAN, WORST = 0.05, 0.20
VERDICTS = ["ok", "known miss", "MISSED"]
CHIP = "a3"
SYNCED = "*-pto-synced.mlir"

KERNEL = re.compile(r"func\.func (?:private )?@([^(]+)\(.*pto\.kernel_kind")
PART = re.compile(r'pto\.part_of = "([^"]+)"')
ESTIMATE = re.compile(r"pto\.estimate = ([0-9.eE+-]+) : f64")


def estimates(dump: Path) -> dict[str, float]:
    """Cycles by kernel, as the compiler wrote them; a kernel that it could not estimate is missing."""
    (file,) = dump.rglob(SYNCED)
    found: dict[str, float] = {}
    for line in file.read_text().splitlines():
        if (kernel := KERNEL.search(line)) and (cycles := ESTIMATE.search(line)):
            part = PART.search(line)
            found[(part or kernel).group(1).strip('"')] = float(cycles.group(1))
    return found


def launch_cycles() -> float:
    """What every launch costs, from the table's documentation."""
    rows = (ROOT / "build/docs/isa.md").read_text().splitlines()
    numbers = {cells[2]: cells[3] for row in rows if (cells := [c.strip() for c in row.split("|")])[1:2] == [CHIP]}
    return float(numbers["launchSeconds"]) * float(numbers["clock"])


def timed(file: Path, feed: dict[str, np.ndarray]) -> dict[str, float]:
    """Cycles of the timing mode by kernel, on the model's sample."""
    session = InferenceSession(str(file), mode="timing")
    session.run(None, {i.name: feed[i.name] for i in session.get_inputs()})  # others have a compiled-in value
    launch = launch_cycles()
    return {k["name"]: k["cycles"] / k["launches"] - launch for k in session.profile_kernels() if k["launches"]}


def convert(model: zoo.Model, cache: Path, mode: str, cores: int, work: Path) -> tuple[Path, Path]:
    """The .pmodel and the folder of the compiler's dumps."""
    mlir, file = work / f"{model.name}.mlir", work / f"{model.name}_{mode}_{cores}.pmodel"
    dump = file.with_suffix("")
    runs = []
    if not mlir.exists():
        arguments = ["--model_name", model.name, "--model_def", cache / "zoo" / model.file, *model.transform_options]
        runs.append(command("model_transform", *arguments, "--mlir", mlir))
    options = ["--quantize", mode, "--num_core", str(cores), "--dump_ir", dump]
    runs.append(command("model_deploy", "--mlir", mlir, *options, "--model", file))
    for r in runs:
        if r.code != 0:
            raise UserError(r.problem)
    return file, dump


def compare(goals: Goals, title: str, estimated: dict[str, float], measured: dict[str, float], rows: bool) -> None:
    """Prints one model's errors and their verdicts."""
    errors = {k: abs(estimated[k] / cycles - 1) for k, cycles in measured.items() if k in estimated}
    missing = sorted(set(measured) - set(estimated))
    median, worst = statistics.median(errors.values()), max(errors.values())
    total = sum(estimated[k] for k in errors) / sum(measured[k] for k in errors) - 1
    verdicts = [
        goals.verdict(f"{title}: median error", median, MEDIAN),
        goals.verdict(f"{title}: worst error", worst, WORST),
        goals.verdict(f"{title}: kernels without an estimate", len(missing), 0),
    ]
    print(
        f"{title:<24} {len(errors):>4} kernels  median {median:6.1%}  worst {worst:7.1%}  sum {total:+6.1%}   "
        f"goals {MEDIAN:.0%}, {WORST:.0%}  {max(verdicts, key=VERDICTS.index)}"
    )
    for k, error in sorted(errors.items(), key=lambda item: -item[1]):
        if rows or error > WORST:
            print(f"    {measured[k]:>12.0f} cycles, estimated {estimated[k]:>12.0f}  {error:6.1%}  {k}")
    for k in missing:
        print(f"    {measured[k]:>12.0f} cycles, no estimate  {k}")


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--models", help="names, comma-separated (default: all that are in the cache)")
    p.add_argument("--modes", default="F32,F16")
    p.add_argument("--cores", default="1,24")
    p.add_argument("--cache", type=Path, default=zoo.cache_folder())
    p.add_argument("--rows", action="store_true", help="every kernel")
    args = p.parse_args()
    names = (
        args.models.split(",") if args.models else sorted(d.stem for d in (ROOT / "regression/models").glob("*.toml"))
    )
    models = [zoo.read(ROOT / "regression/models" / f"{name}.toml") for name in names]
    absent = [m.name for m in models if not (args.cache / "zoo" / m.file).exists()]
    models = [m for m in models if m.name not in absent]
    if args.models and absent or not models:
        print(f"estimates.py: error: {', '.join(absent)}: not in {args.cache}; python -m regression puts models there")
        return 1
    goals = Goals("estimates")
    with tempfile.TemporaryDirectory() as work:
        for model in models:
            if "--dynamic" in model.options:
                print(f"{model.name:<24} left out: sizes are known at run time only")
                continue
            for mode in args.modes.split(","):
                for cores in map(int, args.cores.split(",")):
                    title = f"{model.name} {mode} {cores}"
                    file, dump = convert(model, args.cache, mode, cores, Path(work))
                    if len(list(dump.rglob(SYNCED))) > 1:
                        print(f"{title:<24} left out: several nets, which share names of kernels")
                        continue
                    compare(goals, title, estimates(dump), timed(file, zoo.feed(model, args.cache)), args.rows)
    if absent:
        print(f"not in the cache: {', '.join(absent)}")
    return goals.close()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"estimates.py: error: {error}")
