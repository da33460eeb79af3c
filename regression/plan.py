"""What a regression run does: its pieces, each with the key under which --resume finds its result again."""

from __future__ import annotations

import argparse
import hashlib
import itertools
from pathlib import Path

import pto_mlir

from . import metrics, zoo
from .schedule import Piece


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


def model_pieces(args: argparse.Namespace, model: zoo.Model, tools: str) -> tuple[Piece, dict[tuple, Piece]]:
    """The preparation of a model, and its runs by name, processor, mode and number of cores."""
    common = {
        "description": str(model.path.resolve()),
        "cache": str(args.cache),
        "work": str(args.work),
        "float64": args.float64,
        "timing": 0 if args.quick else args.timing,
        "threads": args.threads,
        "key": hashlib.sha256(
            f"{tools} {digest(model.path)} {args.float64} {args.timing} {args.quick}".encode()
        ).hexdigest(),
    }
    nowhere = {"processor": "", "mode": "", "cores": 0}
    first = Piece(model.name, {"what": "prepare", "name": model.name, **nowhere, **common}, [])
    runs = {}
    modes = [mode for mode in model.modes if not args.modes or mode in args.modes]
    for mode, processor, cores in itertools.product(modes, args.processors, map(int, args.num_core)):
        spec = {"what": "model", "name": model.name, "processor": processor, "mode": mode, "cores": cores}
        spec["outputs_only"] = args.quick and cores != int(args.num_core[0])
        runs[model.name, processor, mode, cores] = Piece(zoo.stem(model.name, spec), {**spec, **common}, [first])
    return first, runs


def metric_pieces(runs: dict[tuple, Piece]) -> list[Piece]:
    """End metrics over several models, wherever all of these run."""
    result = []
    for name, parts in metrics.MODELS.items():
        for where in sorted({key[1:] for key in runs}):
            before = [runs[(part, *where)] for part in parts if (part, *where) in runs]
            if len(before) < len(parts) or any(b.spec["outputs_only"] for b in before):
                continue
            spec = {"what": "metric", "name": name, "end_metric": name}
            spec |= dict(zip(("processor", "mode", "cores"), where))
            spec |= {k: before[0].spec[k] for k in ("cache", "work", "threads")}
            spec["key"] = hashlib.sha256("".join(b.spec["key"] for b in before).encode()).hexdigest()
            result.append(Piece(zoo.stem(name, spec), spec, before))
    return result


def pieces(args: argparse.Namespace, models: list[zoo.Model]) -> list[Piece]:
    """All that is to be done: per model a preparation, then each mode and number of cores; last the metrics over
    several models."""
    tools = tools_digest()
    result: list[Piece] = []
    runs: dict[tuple, Piece] = {}
    for model in models:
        first, of_model = model_pieces(args, model, tools)
        result += [first, *of_model.values()]
        runs |= of_model
    return result + (metric_pieces(runs) if args.metric else [])
