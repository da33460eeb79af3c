"""A batched matrix product with accumulation, C[g] = sum over k of A[g, k] @ B[g, k].

Two kernels are built, written as PTO-AS text, assembled again and compiled; a graph runs the products on CUBE cores and
the sums on VECTOR cores; the result is compared with numpy.

    python -m pto.examples.bgemm [--kind aicore|host] [--groups 4] [--steps 4] [--size 64]
        [--trace t.json] [--virtual-time]
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from pto_runtime import BinaryCompiler, CoreType, DeviceError, DeviceRunner, Graph

from pto import PTO, PTOModule


def build(size: int) -> PTOModule:
    """The kernels `gemm` (c = a @ b) and `accumulate` (y += x)."""
    module = PTOModule("bgemm")
    gemm = PTO("gemm")
    a, b, c = (gemm.tensor((size, size), name=name) for name in "abc")
    gemm.tile_matmul(c, a, b)
    module.add(gemm)
    accumulate = PTO("accumulate")
    x, y = (accumulate.tensor((size, size), name=name) for name in "xy")
    accumulate.tile_add(y, y, x)
    module.add(accumulate)
    return module


def run(kind: str, groups: int, steps: int, size: int, virtual_time: bool, trace: str | None) -> float:
    """The largest error against numpy, relative to the largest value."""
    text = build(size).build()
    print(text)
    binary = BinaryCompiler(text).compile(kind)
    runner = DeviceRunner()
    runner.init(cube=2, vector=2, virtual_time=virtual_time, trace=True)
    try:
        gemm = runner.register_kernel(binary, "gemm", cost_ns=20000)
        accumulate = runner.register_kernel(binary, "accumulate", cost_ns=4000)
        random = np.random.default_rng(0)
        a, b = (random.standard_normal((groups, steps, size, size)).astype(np.float32) for _ in range(2))
        sums = [runner.alloc((size, size)) for _ in range(groups)]
        graph = Graph("bgemm")
        last: list[int | None] = [None] * groups
        for k in range(steps):
            for g in range(groups):
                product = runner.alloc((size, size))
                multiply = graph.add_task([a[g, k], b[g, k], product], gemm, CoreType.CUBE, f"gemm {g}.{k}")
                add = graph.add_task([product, sums[g]], accumulate, CoreType.VECTOR, f"add {g}.{k}")
                graph.add_successor(multiply, add)
                if (before := last[g]) is not None:
                    graph.add_successor(before, add)
                last[g] = add
        runner.run(graph)
        runner.print_handshake_results()
        print(runner.report())
        if trace:
            runner.write_trace(trace)
        result = np.stack([runner.copyFromDevice(total) for total in sums])
    finally:
        runner.finalize()
    expected = np.einsum("gkij,gkjl->gil", a.astype(np.float64), b.astype(np.float64))
    return float(np.abs(result - expected).max() / np.abs(expected).max())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bgemm", description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument(
        "--kind", choices=("aicore", "host"), default="aicore", help="simulated cores, or this processor"
    )
    for name, default in (("--groups", 4), ("--steps", 4), ("--size", 64)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--trace", help="write a trace for Perfetto")
    parser.add_argument("--virtual-time", action="store_true", help="one thread and simulated time")
    options = parser.parse_args(argv)
    try:
        for name in ("groups", "steps", "size"):
            if getattr(options, name) < 1:
                raise ValueError(f"--{name}: expects at least 1, got {getattr(options, name)}")
        error = run(options.kind, options.groups, options.steps, options.size, options.virtual_time, options.trace)
    except (DeviceError, ValueError) as problem:
        print(f"bgemm: error: {problem}", file=sys.stderr)
        return 1
    print(f"largest error against numpy in float64: {error:.2e} of the largest value")
    return 0 if error < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
