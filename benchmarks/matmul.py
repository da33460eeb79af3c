"""One whole cube kernel against onnxruntime's MatMul: x[n, n] times a constant [n, n], in a loaded process.

    PYTHONPATH=build/python .venv/bin/python benchmarks/matmul.py --size 1024 --threads 1

The rate of the simulator is compared to onnxruntime's f32 rate on one thread; each figure is the best of several runs,
in CPU time when one thread is used (robust on a busy machine), else in wall-clock time.
"""

import argparse
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform


def best_seconds(call, clock, least_seconds: float = 1.0) -> float:
    """Least seconds of a call, after one that does not count."""
    call()
    best, end, runs = float("inf"), time.perf_counter() + least_seconds, 0
    while time.perf_counter() < end or runs < 3:
        begin = clock()
        call()
        best = min(best, clock() - begin)
        runs += 1
    return best


def model(path: str, size: int) -> None:
    weight = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, size])  # noqa: E731
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "m",
        [tensor("x")],
        [tensor("y")],
        [numpy_helper.from_array(weight, "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def reference_rate(folder: str, n: int, feed: dict) -> float:
    """GFLOP/s of onnxruntime in f32 on one thread; leaves m.onnx and m.mlir in the folder."""
    model(f"{folder}/m.onnx", n)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(f"{folder}/m.onnx", options, providers=["CPUExecutionProvider"])
    shape = f"[[{n},{n}]]"
    if model_transform.main(
        ["--model_name", "m", "--model_def", f"{folder}/m.onnx", "--input_shapes", shape, "--mlir", f"{folder}/m.mlir"]
    ):
        raise SystemExit(1)
    return 2e-9 * n**3 / best_seconds(lambda: session.run(None, feed), time.process_time)


def simulator_rate(folder: str, n: int, feed: dict, mode: str, threads: int, cores: int, clock) -> float:
    """GFLOP/s of the simulator."""
    file = f"{folder}/{mode}_{cores}.pmodel"
    if model_deploy.main(["--mlir", f"{folder}/m.mlir", "--quantize", mode, "--num_core", str(cores), "--model", file]):
        raise SystemExit(1)
    session = InferenceSession(file, threads=threads)
    return 2e-9 * n**3 / best_seconds(lambda: session.run(None, feed), clock)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1, help="host threads of the simulator")
    parser.add_argument("--num_core", type=int, help="blocks of the kernel (default: as many as threads)")
    args = parser.parse_args()
    n, clock = args.size, time.process_time if args.threads == 1 else time.perf_counter
    feed = {"x": np.random.default_rng(1).standard_normal((n, n)).astype(np.float32)}
    with tempfile.TemporaryDirectory() as folder:
        reference = reference_rate(folder, n, feed)
        print(f"onnxruntime f32, 1 thread: {reference:.1f} GFLOP/s")
        for mode in ("F32", "F16", "BF16"):
            rate = simulator_rate(folder, n, feed, mode, args.threads, args.num_core or args.threads, clock)
            print(f"cmodel {mode}, {args.threads} thread(s): {rate:.1f} GFLOP/s, {rate / reference:.2f} of onnxruntime")


if __name__ == "__main__":
    main()
