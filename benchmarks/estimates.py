"""The estimate of every kernel of the zoo's models, from its commands alone, beside the timing mode's cycles.

    PYTHONPATH=build/python .venv/bin/python benchmarks/estimates.py
        [--models cls,rec] [--modes F32,F16] [--cores 1,24] [--rows]

Takes the models that are in the cache (regression/models names them), converts each, asks `pmodel_tool --estimate` and
runs it once in timing mode. Cycles are those of a launch without what every launch costs (5.9 us on a3), which would
hide most of the error of a small kernel; several launches of one kernel count as their mean. Prints, per model, mode
and number of cores, the median and the worst error beside their goals, and the kernels that miss the goal of the worst
(--rows: all). Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools.native import program_output

from regression import zoo
from regression.measure import command

MEDIAN, WORST = 0.05, 0.20
LAUNCH_CYCLES = 5.9e-6 * 1.8e9  # ISA/Costs.td: launchSeconds and clock of a3


def estimates(file: Path) -> dict[str, float]:
    """Cycles by kernel; a kernel that could not be walked through is missing."""
    lines = program_output("pmodel_tool", ["--estimate", str(file)]).splitlines()[1:]
    pairs = [line.split(maxsplit=1) for line in lines]
    return {name: float(cycles) for cycles, name in pairs if cycles != "-"}


def timed(file: Path) -> dict[str, float]:
    """Cycles of the timing mode by kernel, on noise."""
    session = InferenceSession(str(file), mode="timing")
    rng = np.random.default_rng(0)
    session.run(
        None,
        {
            i.name: rng.random(i.shape, np.float32) if i.type == "tensor(float)" else np.ones(i.shape, np.int64)
            for i in session.get_inputs()
        },
    )
    return {k["name"]: k["cycles"] / k["launches"] - LAUNCH_CYCLES for k in session.profile_kernels() if k["launches"]}


def convert(model: zoo.Model, cache: Path, mode: str, cores: int, work: Path) -> Path:
    mlir, file = work / f"{model.name}.mlir", work / f"{model.name}_{mode}_{cores}.pmodel"
    runs = []
    if not mlir.exists():
        arguments = ["--model_name", model.name, "--model_def", cache / "zoo" / model.file]
        runs.append(command("model_transform", *arguments, "--input_shapes", model.shapes, "--mlir", mlir))
    runs.append(command("model_deploy", "--mlir", mlir, "--quantize", mode, "--num_core", str(cores), "--model", file))
    for r in runs:
        if r.code != 0:
            raise UserError(r.problem)
    return file


def compare(title: str, file: Path, rows: bool) -> bool:
    """Prints one model's errors; whether it meets both goals."""
    estimated, measured = estimates(file), timed(file)
    errors = {k: abs(estimated[k] / cycles - 1) for k, cycles in measured.items() if k in estimated}
    missing = sorted(set(measured) - set(estimated))
    median, worst = statistics.median(errors.values()), max(errors.values())
    total = sum(estimated[k] for k in errors) / sum(measured[k] for k in errors) - 1
    good = median <= MEDIAN and worst <= WORST and not missing
    print(
        f"{title:<24} {len(errors):>4} kernels  median {median:6.1%}  worst {worst:7.1%}  sum {total:+6.1%}   "
        f"goals {MEDIAN:.0%}, {WORST:.0%}  {'ok' if good else 'MISSED'}"
    )
    for k, error in sorted(errors.items(), key=lambda item: -item[1]):
        if rows or error > WORST:
            print(f"    {measured[k]:>12.0f} cycles, estimated {estimated[k]:>12.0f}  {error:6.1%}  {k}")
    for k in missing:
        print(f"    {measured[k]:>12.0f} cycles, no estimate  {k}")
    return good


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
    good = True
    with tempfile.TemporaryDirectory() as work:
        for model in models:
            for mode in args.modes.split(","):
                for cores in map(int, args.cores.split(",")):
                    file = convert(model, args.cache, mode, cores, Path(work))
                    good &= compare(f"{model.name} {mode} {cores}", file, args.rows)
    if absent:
        print(f"not in the cache: {', '.join(absent)}")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"estimates.py: error: {error}")
