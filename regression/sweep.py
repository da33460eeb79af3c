"""Random graphs of one operator, each converted, run on the simulator and compared with onnxruntime.

    python -m regression.sweep [--count 300] [--seed 1] [--families conv,pool] [--processors a3,a5] [--num_core 1,24]

Every graph draws its operator's attributes and extents from what real models and awkward ones have: primes, extents of
1, long rows, large kernels, strides above kernels, groups, dilations, uneven pads. Prints one line per graph that was
refused, went wrong, could not be run, or took more than three times its bound (bounds.py) without a remark of the
compiler, and the counts; exits 1 when there is one.
"""

import argparse
import collections
import contextlib
import json
import multiprocessing
import multiprocessing.pool
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from regression.sweep_case import Case
from regression.sweep_dense import conv, conv_transpose, matmul, pool, reduction, softmax, transposition
from regression.sweep_indexed import (
    composed,
    computed_gather,
    computed_scatter,
    elementwise,
    gather,
    movement,
    scatter,
    selection,
    topk,
)

GOOD = ("right", "invalid")  # invalid: onnxruntime refuses the graph
TOLERANCE = {"F32": 3e-5, "F16": 4e-3, "BF16": 4e-2}
FAMILIES = {
    "conv": conv,
    "conv_transpose": conv_transpose,
    "pool": pool,
    "matmul": matmul,
    "reduction": reduction,
    "softmax": softmax,
    "transposition": transposition,
    "gather": gather,
    "scatter": scatter,
    "movement": movement,
    "selection": selection,
    "elementwise": elementwise,
    "topk": topk,
    "computed_gather": computed_gather,
    "computed_scatter": computed_scatter,
    "composed": composed,
}


def save(case: Case, path: Path) -> dict[str, np.ndarray]:
    """Writes the graph and returns its feed."""
    count = case.attributes.get("num_outputs", case.outputs)
    names = case.order or [*case.inputs, *case.feeds, *case.weights]
    node = helper.make_node(case.op, names, [f"y{i}" for i in range(count)], name="n", **case.attributes)
    boolean = case.op in ("Equal", "Less")
    kind = TensorProto.BOOL if boolean else TensorProto.INT64 if case.op.startswith("Arg") else TensorProto.FLOAT
    kinds = [kind] * count
    given = {n: helper.np_dtype_to_tensor_dtype(v.dtype) for n, v in case.feeds.items()}
    if case.op == "TopK":
        kinds = [given["x"], TensorProto.INT64]
    elif "x" in given:
        kinds = [given["x"]]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in case.inputs.items()]
        + [helper.make_tensor_value_info(n, t, case.feeds[n].shape) for n, t in given.items()],
        [helper.make_tensor_value_info(o, k, None) for o, k in zip(node.output, kinds)],
        [numpy_helper.from_array(v, n) for n, v in case.weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=9), path)
    rng = np.random.default_rng(7)
    low = 0.1 if case.op in ("Pow", "ReduceLogSum", "Div") else -1.0
    # Values that float16 holds: a difference of nearly equal inputs has no error from rounding them.
    feed = {n: rng.uniform(low, 1, s).astype(np.float16).astype(np.float32) for n, s in case.inputs.items()}
    if boolean:
        feed = {n: np.round(v * 2) for n, v in feed.items()}
    return feed | case.feeds


def draw(family: str, number: int, seed: int) -> Case:
    return FAMILIES[family](np.random.default_rng([seed, number, *family.encode()]))


def attempt(task) -> dict:
    """Converts and runs one case; what came of it."""
    family, number, seed, mode, processor, cores, checked = task
    case = draw(family, number, seed)
    row = {
        "family": family,
        "number": number,
        "text": case.text(),
        "mode": mode,
        "processor": processor,
        "cores": cores,
    }
    return row | check(case, mode, processor, cores, checked)


def check(case: Case, mode: str, processor: str, cores: int, checked: bool = False) -> dict:
    """The numbers of a case beside onnxruntime's, and its time in timing mode beside its bound; checked: no time, but
    races and reads of what nobody wrote are faults."""
    from pto_mlir import compiler
    from pto_mlir.reference import run_onnx
    from pto_mlir.runtime import InferenceSession, RuntimeFailure

    from . import bounds

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        feed = save(case, folder / "m.onnx")
        try:
            expected = run_onnx(folder / "m.onnx", feed)
        except Exception as error:  # the graph itself is not valid
            return {"result": "invalid", "reason": str(error).splitlines()[0][-200:]}
        begin = time.time()
        try:
            compiler.transform(str(folder / "m.onnx"), "m", [], [], str(folder / "m.mlir"), "")
            files = str(folder / "m.mlir"), str(folder / "m.pmodel")
            info = compiler.deploy(*files, mode, processor, cores, False, cost_remarks=True)
            session = InferenceSession(str(folder / "m.pmodel"), mode="checked" if checked else "timing")
            values = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
        except Exception as error:
            result = "wrong" if checked and isinstance(error, RuntimeFailure) else "refused"
            return {"result": result, "reason": str(error).replace(str(folder), "").splitlines()[0][:300]}
    row = {"seconds": time.time() - begin, "remarks": len(info.get("remarks", []))}
    row["host"] = len(info.get("host_ops", []))
    if not checked:
        row["bound"] = bounds.least(case, feed, expected, mode, processor, cores)
        row["took"] = bounds.seconds(session.profile(), processor)
        row["launches"] = session.profile()["launches"]
    row["error"], reason = compare(case, values, expected, mode)
    # A grid of coordinates is rounded to the storage type, too.
    bound = 0.03 if case.op == "GridSample" and mode != "F32" else TOLERANCE[mode]
    if reason or row["error"] > bound:
        return row | {"result": "wrong", "reason": reason or f"error {row['error']:.2g}"}
    if not checked and row["took"] > bounds.MOST * row["bound"] and not row["remarks"] and not row["host"]:
        text = f"{row['took'] * 1e6:.1f} us in {row['launches']} launches, bound {row['bound'] * 1e6:.1f}, no remark"
        return row | {"result": "costly", "reason": text}
    return row | {"result": "right"}


def compare(case: Case, values: dict, expected: dict, mode: str) -> tuple[float, str]:
    """The greatest error beside the greatest value, 1 or more where something exact differs; and what else is wrong."""
    worst = 0.0
    for key, value in values.items():
        want = expected[key]
        if value.shape != want.shape:
            return worst, f"{key}: shape {value.shape}, not {want.shape}"
        places = case.op.startswith("Arg") or (case.op == "TopK" and key == "y1")
        exact = want.dtype == bool or (case.feeds and want.dtype.kind == "i" and not places)
        if exact or (places and mode == "F32"):
            worst = max(worst, float(np.any(value != want)))
        elif not places and want.size:
            differs = value != want  # infinities that agree have no difference
            scale = max(1.0, float(np.max(np.abs(want), where=np.isfinite(want), initial=0.0)))
            error = np.max(np.abs(value[differs].astype(float) - want[differs].astype(float)), initial=0) / scale
            worst = max(worst, float("inf") if np.isnan(error) else float(error))
    return worst, ""


def _send(sender, task) -> None:
    sender.send(attempt(task))


def guarded(task) -> dict:
    """attempt() in a process of its own, since a crash must not end the sweep."""
    # A server without threads forks: a fork of this process could inherit a lock that another thread holds.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    receiver, sender = context.Pipe(False)
    process = context.Process(target=_send, args=(sender, task))
    process.start()
    sender.close()
    row = dict(zip(("family", "number"), task), text=f"{draw(*task[:3]).text()} {task[3:]}")
    try:
        if receiver.poll(120):
            return receiver.recv()
        process.kill()
        return row | {"result": "slow", "reason": "ran for more than 120 s"}
    except EOFError:
        process.join()
        return row | {"result": "crashed", "reason": f"exit code {process.exitcode}"}
    finally:
        process.join()


def tasks(
    families, count, seed, modes=("F32", "F16"), processors=("a3", "a5"), num_core=(1, 24), checked=False
) -> list[tuple]:
    """What guarded() takes: the families in turn, the rest drawn."""
    rng = np.random.default_rng(seed)
    return [
        (
            families[i % len(families)],
            i,
            seed,
            *(str(rng.choice(v)) for v in (modes, processors)),
            int(rng.choice(num_core)),
            checked,
        )
        for i in range(count)
    ]


def sweep(work, log=None) -> collections.Counter:
    counts: collections.Counter = collections.Counter()
    with multiprocessing.pool.ThreadPool(2) as pool:
        for row in pool.imap_unordered(guarded, work):
            counts[row["result"]] += 1
            if log:
                log.write(json.dumps(row) + "\n")
                log.flush()
            if row["result"] not in GOOD:
                print(f"{row['result']}: {row['text']}: {row['reason']}", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="graphs in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", default=",".join(FAMILIES), help="of " + ", ".join(FAMILIES))
    parser.add_argument("--modes", default="F32,F16")
    parser.add_argument("--processors", default="a3,a5")
    parser.add_argument("--num_core", default="1,24")
    parser.add_argument(
        "--checked", action="store_true", help="fail runs that race or read what nobody wrote; no times"
    )
    parser.add_argument("--log", type=Path, help="one JSON line per graph")
    options = parser.parse_args()
    families = options.families.split(",")
    modes, processors, cores = (v.split(",") for v in (options.modes, options.processors, options.num_core))
    work = tasks(families, options.count, options.seed, modes, processors, [int(n) for n in cores], options.checked)
    with options.log.open("w") if options.log else contextlib.nullcontext() as log:
        counts = sweep(work, log)
    print(", ".join(f"{count} {result}" for result, count in counts.most_common()))
    return int(any(result not in GOOD for result in counts))


if __name__ == "__main__":
    sys.exit(main())
