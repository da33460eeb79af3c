"""One piece of a regression run, in a process of its own: `python -m regression.job SPEC.json` writes the file that the
spec names.

prepare: the model into the cache, model_transform, the float64 reference.
model:   model_deploy in one mode for one number of cores, outputs and every tensor against onnxruntime, times, sizes,
         end metric.
metric:  an end metric over several models.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from pto_mlir import npz
from pto_mlir.compare import ROUNDING, account, compare, compare_tensor, first_loss, label
from pto_mlir.errors import UserError
from pto_mlir.reference import constants, graph_of, run_onnx
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools.native import program_output

from . import boxes, metrics, zoo
from .measure import asked, command, medians, onnxruntime_call, onnxruntime_session
from .precise import distance, float64_outputs

FLOAT64_SEEDS = range(
    3
)  # of the inputs: on a single one a network of a hundred layers is near to float64, or far from it, by chance


def prepare(spec: dict) -> dict:
    """Keys: seconds, peak_mb, onnx_bytes, float64 (onnxruntime's greatest distance from float64 in an output, the mean
    over the inputs)."""
    model, cache, work = zoo.read(Path(spec["description"])), Path(spec["cache"]), Path(spec["work"])
    onnx = zoo.make(model, cache)
    mlir = work / f"{model.name}.mlir"
    run = command(
        "model_transform",
        "--model_name",
        model.name,
        "--model_def",
        onnx,
        *model.transform_options,
        "--mlir",
        mlir,
    )
    result = {
        "seconds": {"transform": run.seconds},
        "peak_mb": {"transform": run.peak_mb},
        "onnx_bytes": onnx.stat().st_size,
    }
    if run.problem:
        return {**result, "status": "failed", "problem": run.problem}
    if spec["float64"]:
        feeds = [zoo.feed(model, cache, seed) for seed in FLOAT64_SEEDS]
        exact = [float64_outputs(model, onnx, feed) for feed in feeds]
        npz.save(
            float64_file(work, model),
            {f"{seed}/{name}": v for seed, outputs in zip(FLOAT64_SEEDS, exact) for name, v in outputs.items()},
        )
        result["float64"] = mean([distance(run_onnx(onnx, feed), outputs) for feed, outputs in zip(feeds, exact)])
    return {**result, "status": "passed"}


def float64_file(work: Path, model) -> Path:
    """Outputs in float64, named SEED/NAME."""
    return work / f"{model.name}_float64.npz"


def mean(distances: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(d[name] for d in distances) / len(distances) for name in distances[0]}


def float64_distances(model, spec: dict, names: list[str], session, reference) -> list[dict[str, float]]:
    """The greatest distance from float64 in each output, ours and onnxruntime's: means over the inputs whose outputs
    are known in float64."""
    file, ours, theirs = float64_file(Path(spec["work"]), model), [], []
    known = npz.load(file) if file.is_file() else {}
    for seed in FLOAT64_SEEDS if known else ():
        feed, exact = zoo.feed(model, Path(spec["cache"]), seed), {name: known[f"{seed}/{name}"] for name in names}
        ours.append(distance(dict(zip(names, session.run(None, asked(session, feed)))), exact))
        theirs.append(distance(dict(zip(names, onnxruntime_call(reference, feed))), exact))
    return [mean(ours), mean(theirs)] if known else []


def deploy(model, spec: dict, file: Path, *more: str):
    return command(
        "model_deploy",
        "--mlir",
        Path(spec["work"]) / f"{model.name}.mlir",
        "--quantize",
        spec["mode"],
        "--processor",
        spec["processor"],
        "--num_core",
        str(spec["cores"]),
        "--model",
        file,
        *more,
    )


def contents(file: Path) -> dict:
    """Sizes and kernels of a .pmodel, as pmodel_tool prints them."""
    description = json.loads(program_output("pmodel_tool", ["--print", str(file)]))
    commands, weights = description["commands"]["size"], description["weight_data"]["size"]
    kernels = [
        {
            "name": k["name"],
            "core": k["streams"][0]["core_kind"] if k["streams"] else "",
            "commands": sum(s["num_commands"] for s in k["streams"]),
            "bytes": sum(s["words"]["size"] for s in k["streams"]),
        }
        for k in description["kernels"]
    ]
    return {"bytes": {"file": file.stat().st_size, "commands": commands, "weights": weights}, "kernels": kernels}


def absorbed_names(session: InferenceSession) -> set[str]:
    """Tensors that exist only inside a kernel, or were folded away."""
    return set(session.info()["absorbed"])


def check_all_tensors(model, spec: dict, onnx: Path, feed: dict, debug_file: Path, problems: list[str]) -> dict:
    """Every tensor of the model: compared where the debug build keeps it, absorbed, or listed with a reason. One that
    is none of these is a problem, like one below its bound."""
    session = InferenceSession(str(debug_file), threads=spec["threads"])
    values = session.run_with_debug(asked(session, feed))
    reference = run_onnx(onnx, feed, all_tensors=True)
    rows = compare({name: values[name] for name in reference if name in values}, reference)
    label(rows, graph_of(onnx))
    given = asked(session, feed)
    where = account(reference, rows, absorbed_names(session), constants(onnx, given), inputs=given)
    if where.problem:
        problems.append(where.problem)
    parts = {
        "compared": len(where.compared),
        "absorbed": where.absorbed,
        "listed": where.listed,
        "lost": where.lost,
    }
    return {"account": parts, **check_tensors(rows, model, spec["mode"], onnx, problems)}


def check_tensors(rows: list, model, mode: str, onnx: Path, problems: list[str]) -> dict:
    bound = model.tolerance[mode].tensors
    bad = [r for r in rows if r.problem or r.cosine < bound]
    loss = first_loss(rows, graph_of(onnx), ROUNDING[mode])
    if bad:
        worst = min(bad, key=lambda r: (not r.problem, r.cosine))
        problems.append(
            f"{len(bad)} of {len(rows)} tensors below cosine {bound:g}; first {bad[0].name}, worst {worst.name} "
            f"({worst.problem or f'{worst.cosine:.7f}'})"
        )
    table = [
        {
            "name": r.name,
            "position": i,
            "shape": list(r.shape),
            "kind": r.kind,
            "cosine": r.cosine,
            "relative_l2": r.relative_l2,
            "max_error": r.max_error,
            "problem": r.problem,
        }
        for i, r in enumerate(rows)
    ]
    table.sort(key=lambda r: (not r["problem"], -r["relative_l2"]))
    first = (
        None
        if loss is None
        else {"name": loss[0].name, "kind": loss[0].kind, "relative_l2": loss[0].relative_l2, "inputs": loss[1]}
    )
    return {"tensors": table, "first_loss": first}


def check_outputs(model, spec: dict, names: list[str], ours: list, theirs: list, problems: list[str]) -> list[dict]:
    """Each output's distance from onnxruntime."""
    bound = model.tolerance[spec["mode"]]
    result = []
    for name, value, reference in zip(names, ours, theirs):
        row = compare_tensor(name, value, reference)
        entry = {
            "name": name,
            "shape": list(value.shape),
            "cosine": row.cosine,
            "relative_l2": row.relative_l2,
            "max_error": row.max_error,
        }
        if row.problem or row.cosine < bound.outputs or row.max_error > bound.max_error:
            problems.append(
                f"output {name}: "
                + (
                    row.problem
                    or f"cosine {row.cosine:.7f} (at least {bound.outputs:g}), max error "
                    f"{row.max_error:.3g} (at most {bound.max_error:g})"
                )
            )
        if value.dtype != reference.dtype:
            problems.append(f"output {name}: type {value.dtype}, onnxruntime's is {reference.dtype}")
        result.append(entry)
    return result


def check_debug_build(model, spec: dict, onnx: Path, feed: dict, session, problems: list[str]) -> dict:
    """Every tensor, by a debug build, which keeps tensors of constant shapes: where some are not, nothing."""
    if "--dynamic" in model.options or any(None in o.shape for o in session.get_outputs()):
        return {}
    debug_file = Path(spec["work"]) / f"{zoo.stem(model.name, spec)}_debug.pmodel"
    debug = deploy(model, spec, debug_file, "--debug")
    if debug.problem:
        problems.append(f"--debug: {debug.problem}")
        return {}
    result = check_all_tensors(model, spec, onnx, feed, debug_file, problems)
    debug_file.unlink()
    return result


def run_model(spec: dict) -> dict:
    model, cache, work = zoo.read(Path(spec["description"])), Path(spec["cache"]), Path(spec["work"])
    mode, stem = spec["mode"], zoo.stem(model.name, spec)
    onnx, file = cache / "zoo" / model.file, work / f"{stem}.pmodel"
    problems: list[str] = []
    run = deploy(model, spec, file)
    result = {"seconds": {"deploy": run.seconds}, "peak_mb": {"deploy": run.peak_mb}}
    if run.problem:
        return {**result, "status": "failed", "problem": run.problem}
    result |= contents(file)

    feed = zoo.feed(model, cache)
    session, reference = InferenceSession(str(file), threads=spec["threads"]), onnxruntime_session(onnx)
    result |= {"host_ops": list(session.info()["host_ops"]), "absorbed": sorted(absorbed_names(session))}
    names = [o.name for o in reference.get_outputs()]
    if [o.name for o in session.get_outputs()] != names:
        problems.append(f"outputs are {[o.name for o in session.get_outputs()]}, the model's are {names}")
    mine = asked(session, feed)
    ours, theirs = session.run(None, mine), onnxruntime_call(reference, feed)
    npz.save(work / f"{stem}_outputs.npz", dict(zip(names, ours)))
    result["profile"] = dict(session.profile(True))
    if model.metric == "boxes":
        ours = boxes.in_order(names, ours, theirs)
    result["outputs"] = check_outputs(model, spec, names, ours, theirs, problems)

    if distances := float64_distances(model, spec, names, session, reference):
        for entry in result["outputs"]:
            entry["float64"], entry["onnxruntime_float64"] = (d[entry["name"]] for d in distances)

    if not spec.get("outputs_only"):
        result |= check_debug_build(model, spec, onnx, feed, session, problems)
        if model.metric in metrics.OF_ONE_MODEL:
            result["metric"] = metrics.OF_ONE_MODEL[model.metric](model, cache, session, reference, mode)
            if not result["metric"]["passed"]:
                problems.append(f"end metric: {result['metric']['summary']}")
    if spec["timing"]:
        calls = [lambda: session.run(None, mine), lambda: onnxruntime_call(reference, feed)]
        result["seconds"] |= dict(zip(("cmodel", "onnxruntime"), medians(calls, budget=spec["timing"])))
    return {**result, "status": "failed" if problems else "passed", "problem": "; ".join(problems)}


def run_metric(spec: dict) -> dict:
    outcome = metrics.OF_SEVERAL_MODELS[spec["end_metric"]](spec)
    return {
        "status": "passed" if outcome["passed"] else "failed",
        "problem": "" if outcome["passed"] else outcome["summary"],
        "metric": outcome,
    }


def main() -> int:
    spec = json.loads(Path(sys.argv[1]).read_text())
    try:
        result = {"prepare": prepare, "model": run_model, "metric": run_metric}[spec["what"]](spec)
    except zoo.Unavailable as reason:
        result = {"status": "skipped", "problem": str(reason)}
    except UserError as error:
        result = {"status": "failed", "problem": str(error)}
    except Exception as error:  # a fault of ours; the log has the traceback, the run goes on with the other models
        traceback.print_exc()
        result = {"status": "failed", "problem": f"{type(error).__name__}: {error}"}
    target = Path(spec["result"])
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(
        json.dumps({**result, **{k: spec[k] for k in ("what", "name", "processor", "mode", "cores", "key")}})
    )
    temporary.replace(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
