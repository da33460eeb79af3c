"""Conversion time, simulator time and onnxruntime's time of one model, side by side in one run.

    PYTHONPATH=build/python .venv/bin/python benchmarks/first_light.py \\
        .cache/cls/cls.onnx --input_shapes "[[1,3,48,192]]"

Commands are timed as whole processes (start included), inferences inside a loaded process; every figure is the median.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pto_mlir import cli
from pto_mlir.runtime import InferenceSession

from regression import measure


def command(*arguments: str) -> float:
    """Seconds of one command as a process of its own."""
    run = measure.command(*arguments)
    if run.problem:
        sys.exit(run.problem)
    return run.seconds


def median_ms(call) -> float:
    return measure.medians([call], least=5)[0] * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("model")
    parser.add_argument("--input_shapes", required=True)
    parser.add_argument("--threads", type=int, default=1, help="host threads of the simulator")
    parser.add_argument("--num_core", type=int, default=1)
    parser.add_argument("--json", help="also write the figures to this file")
    args = parser.parse_args()
    dims = cli.shapes(args.input_shapes)
    onnx_session = measure.onnxruntime_session(args.model)
    rng = np.random.default_rng(0)
    feed = {i.name: rng.standard_normal(shape).astype(np.float32) for i, shape in zip(onnx_session.get_inputs(), dims)}
    reference = median_ms(lambda: onnx_session.run(None, feed))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        mlir = f"{folder}/m.mlir"
        transform = statistics.median(
            command(
                "model_transform",
                "--model_name",
                "m",
                "--model_def",
                args.model,
                "--input_shapes",
                args.input_shapes,
                "--mlir",
                mlir,
            )
            for _ in range(3)
        )
        for mode in ("F32", "F16"):
            file = f"{folder}/{mode}.pmodel"
            deploy = statistics.median(
                command(
                    "model_deploy",
                    "--mlir",
                    mlir,
                    "--quantize",
                    mode,
                    "--num_core",
                    str(args.num_core),
                    "--model",
                    file,
                )
                for _ in range(3)
            )
            session = InferenceSession(file, threads=args.threads)
            rows.append(
                {
                    "mode": mode,
                    "transform_s": transform,
                    "deploy_s": deploy,
                    "cmodel_ms": median_ms(lambda: session.run(None, feed)),
                    "onnxruntime_ms": reference,
                    "file_bytes": Path(file).stat().st_size,
                }
            )
    print(
        f"{args.model}: onnxruntime one thread {reference:.3f} ms; simulator on {args.threads} thread(s), "
        f"{args.num_core} core(s)"
    )
    print(f"{'mode':<5} {'transform s':>12} {'deploy s':>9} {'cmodel ms':>10} {'x onnxruntime':>14} {'file bytes':>11}")
    for r in rows:
        print(
            f"{r['mode']:<5} {r['transform_s']:>12.2f} {r['deploy_s']:>9.2f} {r['cmodel_ms']:>10.2f} "
            f"{r['cmodel_ms'] / r['onnxruntime_ms']:>14.1f} {r['file_bytes']:>11,}"
        )
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(cli.run("first_light", lambda _: main()))
