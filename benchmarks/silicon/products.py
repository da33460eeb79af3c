"""The timing mode beside published silicon: f16 products on A3, 24 cube cores (pto-isa's GEMM kernel README; reference pto-isa 5.1).

    python benchmarks/silicon/products.py [SIZE ...]

Each size goes from ONNX through the compiler's own cube kernels, with 24 blocks. Their tiles are ours (the published kernel has 128x64x256) and the
result leaves as f16 or f32, so the table compares what the two machines reach, engine by engine; a device time counts one launch.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform

# size: milliseconds, and the parts of them in which the cube, L1 -> L0, global -> L1 and L0C -> global were busy
PUBLISHED = {
    1536: (0.0388, 54.5, 42.2, 72.2, 7.7),
    3072: (0.2067, 79.0, 62.0, 90.9, 5.8),
    6144: (1.5060, 86.7, 68.1, 95.2, 3.1),
    7680: (3.1680, 80.6, 63.0, 98.4, 2.4),
}
ENGINES = ("AIC M", "AIC MTE1", "AIC MTE2", "AIC FIX")


def build(n: int, folder: Path) -> Path:
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [n, n]) for name in "abc"]
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["c"])], "product", tensors[:2], tensors[2:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(folder / "m.onnx"))
    mlir, model = folder / "m.mlir", folder / "m.pmodel"
    if model_transform.main(["--model_name", "m", "--model_def", str(folder / "m.onnx"), "--input_shapes", f"[[{n},{n}],[{n},{n}]]", "--mlir", str(mlir)]):
        sys.exit(1)
    if model_deploy.main(["--mlir", str(mlir), "--quantize", "F16", "--processor", "a3", "--num_core", "24", "--model", str(model)]):
        sys.exit(1)
    return model


def measure(model: Path, n: int) -> dict:
    """The profile of the one kernel that uses the cube."""
    session = InferenceSession(str(model), mode="timing")
    x = np.random.default_rng(0).standard_normal((n, n)).astype(np.float32)
    session.run(None, {"a": x, "b": x})
    return max(session.profile_kernels(), key=lambda kernel: kernel["busy"]["AIC M"])


def row(n: int, milliseconds: float, shares) -> str:
    return f"{milliseconds:9.4f} {2e-9 * n**3 / milliseconds:8.1f}  " + " ".join(f"{share:5.1f}" for share in shares)


def main(arguments):
    sizes = [int(a) for a in arguments] or list(PUBLISHED)
    lines = [f"{'m=n=k':>6} {'':10} {'ms':>9} {'TFLOPS':>8}  {'cube':>5} {'L0':>5} {'load':>5} {'store':>5}  time / published"]
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            kernel = measure(build(n, Path(folder)), n)
        milliseconds = kernel["seconds"] * 1e3
        shares = [100 * kernel["busy"][e] / kernel["cycles"] for e in ENGINES]
        lines.append(f"{n:>6} {'here':10} " + row(n, milliseconds, shares) + (f"  {milliseconds / PUBLISHED[n][0]:.3f}" if n in PUBLISHED else ""))
        if n in PUBLISHED:
            lines.append(f"{'':>6} {'published':10} " + row(n, PUBLISHED[n][0], PUBLISHED[n][1:]))
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
