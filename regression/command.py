"""The regression command: every model of the zoo in every mode, beside onnxruntime.

    PYTHONPATH=build/python .venv/bin/python -m regression --models cls,rec --modes F32,F16 --jobs 2

Writes report.json, report.html and report.md (a table of accuracy) into --work and prints the report. A model that
fails does not stop the others; the exit code is 1 then. An interrupted run goes on with --resume: what passed with the
same model, description and tools is not done again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pto_mlir import cli, compiler
from pto_mlir.errors import UserError

from . import plan, report, schedule, zoo

PROG = "regression"


def parser() -> argparse.ArgumentParser:
    p = cli.Parser(PROG, "Transforms, deploys, runs and compares the models of the zoo.")
    p.add_argument("--models", type=cli.names, default=[], help="comma list; all descriptions when absent")
    p.add_argument(
        "--modes", type=cli.names, default=[], help="comma list of F32, F16, BF16; each model's own when absent"
    )
    p.add_argument("--num_core", type=cli.names, help="comma list (1); results must not depend on it")
    p.add_argument(
        "--processors",
        type=cli.names,
        help=f"comma list ({zoo.DEFAULT_PROCESSOR}); the same bounds hold on each",
    )
    p.add_argument("--full", action="store_true", help="every chip, on 1 and 24 cores, where nothing else is said")
    p.add_argument(
        "--quick", action="store_true", help="no times; on all numbers of cores but the first only the outputs"
    )
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
    """Fills in what was left out, and refuses what cannot be run."""
    if args.processors is None:
        args.processors = compiler.chips() if args.full else [zoo.DEFAULT_PROCESSOR]
    if args.num_core is None:
        args.num_core = ["1", "24"] if args.full else ["1"]
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


def work(argv) -> int:
    args = parser().parse_args(argv)
    checked(args)
    models = zoo.read_all(args.models, args.descriptions)
    if args.list:
        rows = [[m.name, m.title, m.shapes, ", ".join(m.modes), m.licence, m.source] for m in models]
        cli.table(["model", "title", "inputs", "modes", "licence", "source"], rows, left=range(6))
        return 0
    args.cache = args.cache.resolve()
    args.work = (args.work or args.cache / "regression").resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    todo = plan.pieces(args, models)
    try:
        schedule.run(todo, args.work, args.jobs, args.timeout, args.resume)
    finally:
        outcome = report.collect(todo, models, args.work)
        report.write(outcome, args.work)
    report.show(outcome)
    print(f"{PROG}: report.json, report.html and report.md in {args.work}")
    return 1 if outcome["failed"] else 0


def main(argv=None) -> int:
    return cli.run(PROG, work, argv)
