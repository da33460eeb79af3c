"""The regression command: every model of the zoo in every mode, beside onnxruntime.

    PYTHONPATH=build/python .venv/bin/python regression/run.py --models cls,rec --modes F32,F16 --jobs 2

Writes report.json and report.html into --work and prints the report. A model that fails does not stop the others; the exit code is 1
then. An interrupted run goes on with --resume: what passed with the same model, description and tools is not done again.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import metrics
import pto_mlir
import report
import schedule
import zoo
from pto_mlir import cli, compiler
from pto_mlir.errors import UserError

PROG = "regression"
CORES, PROCESSORS = ["1"], [zoo.DEFAULT_PROCESSOR]  # where nothing is said


def parser() -> argparse.ArgumentParser:
    p = cli.Parser(PROG, "Transforms, deploys, runs and compares the models of the zoo.")
    p.add_argument("--models", type=cli.names, default=[], help="comma list; all descriptions when absent")
    p.add_argument(
        "--modes", type=cli.names, default=[], help="comma list of F32, F16, BF16; each model's own when absent"
    )
    p.add_argument("--num_core", type=cli.names, default=CORES, help="comma list (1); results must not depend on it")
    p.add_argument(
        "--processors",
        type=cli.names,
        default=PROCESSORS,
        help=f"comma list ({zoo.DEFAULT_PROCESSOR}); the same bounds hold on each",
    )
    p.add_argument("--full", action="store_true", help="every chip, on 1 and 24 cores, where nothing else is said")
    p.add_argument("--jobs", type=int, default=1, help="processes at a time; more than one disturbs the times")
    p.add_argument("--threads", type=int, default=2, help="host threads of the simulator")
    p.add_argument("--resume", action="store_true", help="keep what passed before")
    p.add_argument("--float64", action="store_true", help="also the distance of both from a float64 reference")
    p.add_argument("--no-metric", dest="metric", action="store_false", help="leave out the end metrics")
    p.add_argument("--timeout", type=float, default=1800, help="seconds after which one piece is given up")
    p.add_argument("--timing", type=float, default=2, help="least seconds of measuring inference per model")
    p.add_argument(
        "--work", type=Path, help="folder of .pmodel files, logs and reports (default: regression in the cache)"
    )
    p.add_argument("--cache", type=Path, default=zoo.cache_folder(), help="folder of the models")
    p.add_argument("--descriptions", type=Path, default=zoo.DESCRIPTIONS, help="folder of description files")
    p.add_argument("--list", action="store_true", help="list the models and stop")
    return p


def checked(args) -> None:
    """Fills in what --full means, and refuses what cannot be run."""
    if args.full and args.processors is PROCESSORS:
        args.processors = compiler.chips()
    if args.full and args.num_core is CORES:
        args.num_core = ["1", "24"]
    wrong = [m for m in args.modes if m not in zoo.MODES]
    if wrong:
        raise UserError(f"--modes: {wrong[0]!r} is none of {', '.join(zoo.MODES)}")
    known = compiler.processors()
    wrong = [p for p in args.processors if p not in known]
    if wrong or not args.processors:
        raise UserError(f"--processors: {','.join(wrong)!r} is none of {', '.join(known)}")
    most = min(known[p] for p in args.processors)
    if any(not c.isdecimal() or not 1 <= int(c) <= most for c in args.num_core) or not args.num_core:
        raise UserError(f"--num_core: expects numbers from 1 to {most}, got {','.join(args.num_core)}")
    if not 1 <= args.jobs <= 64 or not 0 <= args.threads <= 64:
        raise UserError("--jobs and --threads: expect 1 to 64")


def digest(*files: Path) -> str:
    state = hashlib.sha256()
    for file in files:
        with open(file, "rb") as stream:
            state.update(hashlib.file_digest(stream, "sha256").digest())
    return state.hexdigest()


def tools_digest() -> str:
    """Of all that computes: the package with its native modules and plug-ins, and these scripts."""
    package = Path(pto_mlir.__file__).resolve().parent
    libraries = [*package.rglob("*.so"), *package.parent.parent.glob("lib/**/*.so")]
    return digest(*sorted({*package.rglob("*.py"), *libraries}), *sorted(zoo.FOLDER.rglob("*.py")))


def pieces(args, models: list[zoo.Model]) -> list[schedule.Piece]:
    """All that is to be done: per model a preparation, then each mode and number of cores; last the metrics over several models."""
    tools, result, needs = tools_digest(), [], {}
    for model in models:
        key = hashlib.sha256(f"{tools} {digest(model.path)} {args.float64} {args.timing}".encode()).hexdigest()
        common = {
            "description": str(model.path),
            "cache": str(args.cache),
            "work": str(args.work),
            "float64": args.float64,
            "timing": args.timing,
            "threads": args.threads,
            "key": key,
        }
        first = schedule.Piece(
            model.name, {"what": "prepare", "name": model.name, "processor": "", "mode": "", "cores": 0, **common}, []
        )
        result.append(first)
        for mode in [m for m in model.modes if not args.modes or m in args.modes]:
            for processor, cores in itertools.product(args.processors, map(int, args.num_core)):
                spec = {"what": "model", "name": model.name, "processor": processor, "mode": mode, "cores": cores}
                piece = schedule.Piece(zoo.stem(model.name, spec), {**spec, **common}, [first])
                needs[model.name, processor, mode, cores] = piece
                result.append(piece)
    for name, parts in metrics.MODELS.items() if args.metric else ():
        for where in sorted({key[1:] for key in needs}):
            if all((part, *where) in needs for part in parts):
                spec = {"what": "metric", "name": name, "end_metric": name}
                spec |= dict(zip(("processor", "mode", "cores"), where))
                before = [needs[(part, *where)] for part in parts]
                keys = hashlib.sha256("".join(b.spec["key"] for b in before).encode()).hexdigest()
                shared = {k: before[0].spec[k] for k in ("cache", "work", "threads")}
                result.append(schedule.Piece(zoo.stem(name, spec), {**spec, **shared, "key": keys}, before))
    return result


def work(argv) -> int:
    args = parser().parse_args(argv)
    checked(args)
    models = zoo.read_all(args.models, args.descriptions)
    if args.list:
        for model in models:
            print(
                f"{model.name:<14} {model.title}; {model.shapes}; {', '.join(model.modes)}; {model.licence}; {model.source}"
            )
        return 0
    args.cache = args.cache.resolve()
    args.work = (args.work or args.cache / "regression").resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    todo = pieces(args, models)
    try:
        schedule.run(todo, args.work, args.jobs, args.timeout, args.resume)
    finally:
        outcome = report.collect(todo, models, args.work)
        report.write(outcome, args.work)
    report.show(outcome)
    print(f"{PROG}: {args.work / 'report.json'}, {args.work / 'report.html'}")
    return 1 if outcome["failed"] else 0


def main(argv=None) -> int:
    return cli.run(PROG, work, argv)


if __name__ == "__main__":
    sys.exit(main())
