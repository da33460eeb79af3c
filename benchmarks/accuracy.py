"""The greatest error of every elementwise function, in ulp of the result's type against float64, through the converter:
a model of one ONNX operator is converted and run in functional mode. F16 mode: all f16 values; F32 mode: so many f32
values, half of them spread evenly over all bit patterns, the others where functions bend.

    PYTHONPATH=build/python .venv/bin/python benchmarks/accuracy.py [--only Sinh,Erf] [--values 10000000] [--write]

--write puts the errors into the table of docs/accuracy.md, whose bounds are the one table that
test/python/test_accuracy.py holds the functions to. Ends with 1 where an error is above its bound.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
import onnx
from onnx import TensorProto, helper
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

from regression.measure import command

TABLE = ROOT / "docs/accuracy.md"
CHUNK = 1 << 18
F64 = np.ndarray


@np.errstate(all="ignore")
def erfc(x: F64) -> F64:
    return np.frompyfunc(math.erfc, 1, 1)(x).astype(np.float64)


def gelu_tanh(x: F64) -> F64:
    # x / 2 (1 + tanh(u)) = x / (1 + exp(-2 u))
    y = np.maximum(x, -40)
    return y / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))


def expm1_branch(x: F64, scale: float, inner: float = 1.0) -> F64:
    return np.maximum(x, 0) + scale * np.expm1(np.minimum(x, 0) / inner)


F32 = lambda value: float(np.float32(value))  # noqa: E731 (attributes of ONNX are f32)
TAIL = 2.0**-96  # where functions that fall exponentially may have lost digits
CIRCLE = 2.0**15 * math.pi / 2  # the reduction by multiples of pi / 2 is exact up to here
LEAST = -1e30  # -inf to a power that is no whole number is left out
SELU = (F32(1.67326319217681884765625), F32(1.05070102214813232421875))


@dataclass(frozen=True)
class Function:
    """One ONNX operator as a function of one value, or of several inputs that are computed from it."""

    op: str
    exact: Callable[..., F64]
    attributes: dict = field(default_factory=dict)
    constants: tuple = ()  # further inputs, which hold these values
    opset: int = 24
    pairs: bool = False  # a second input with random values
    floor: float = 0.0  # smaller results count with the unit of this one
    lowest: float = -math.inf  # no smaller arguments
    highest: float = math.inf  # no greater ones


FUNCTIONS = {
    "Exp": Function("Exp", np.exp),
    "Log": Function("Log", np.log),
    "Sqrt": Function("Sqrt", np.sqrt),
    "Reciprocal": Function("Reciprocal", lambda x: 1 / x),
    "Div (x / y)": Function("Div", lambda x, y: x / y, pairs=True),
    "Sigmoid": Function("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), floor=TAIL),
    "Tanh": Function("Tanh", np.tanh),
    "Erf": Function("Erf", np.frompyfunc(math.erf, 1, 1)),
    "Sinh": Function("Sinh", np.sinh),
    "Cosh": Function("Cosh", np.cosh),
    "Softplus": Function("Softplus", lambda x: np.logaddexp(0, x)),
    "Softsign": Function("Softsign", lambda x: x / (1 + np.abs(x))),
    "Mish": Function("Mish", lambda x: x * np.tanh(np.logaddexp(0, x)), floor=TAIL),
    "Swish": Function("Swish", lambda x: x / (1 + np.exp(-x)), floor=TAIL),
    "HardSwish": Function("HardSwish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "HardSigmoid": Function("HardSigmoid", lambda x: np.clip(F32(0.2) * x + 0.5, 0, 1)),
    "LeakyRelu": Function("LeakyRelu", lambda x: np.where(x < 0, F32(0.01) * x, x)),
    "Elu": Function("Elu", lambda x: expm1_branch(x, 1)),
    "Celu (alpha 1.5)": Function("Celu", lambda x: expm1_branch(x, 1.5, 1.5), {"alpha": 1.5}),
    "Selu": Function("Selu", lambda x: SELU[1] * (np.maximum(x, 0) + SELU[0] * np.expm1(np.minimum(x, 0))), {}),
    "Gelu": Function("Gelu", lambda x: np.where(x < -40, -0.0, 0.5 * x * erfc(-x / math.sqrt(2)))),
    "Gelu (tanh)": Function("Gelu", gelu_tanh, {"approximate": "tanh"}, floor=TAIL),
    "Sin": Function("Sin", np.sin, lowest=-CIRCLE, highest=CIRCLE),
    "Cos": Function("Cos", np.cos, lowest=-CIRCLE, highest=CIRCLE, floor=2.0**-24),
    "Tan": Function("Tan", np.tan, lowest=-CIRCLE, highest=CIRCLE),
    "Asin": Function("Asin", np.arcsin),
    "Acos": Function("Acos", np.arccos),
    "Atan": Function("Atan", np.arctan),
    "Asinh": Function("Asinh", np.arcsinh),
    "Acosh": Function("Acosh", np.arccosh),
    "Atanh": Function("Atanh", np.arctanh),
    "Round": Function("Round", np.round),
    "Floor": Function("Floor", np.floor),
    "Ceil": Function("Ceil", np.ceil),
    "Sign": Function("Sign", np.sign),
    "Pow (x^3)": Function("Pow", lambda x: x**3, constants=(3.0,)),
    "Pow (x^-2)": Function("Pow", lambda x: x**-2.0, constants=(-2.0,)),
    "Pow (x^1.5)": Function("Pow", lambda x: x**1.5, constants=(1.5,), lowest=LEAST),
    "Pow (x^0.75)": Function("Pow", lambda x: x**0.75, constants=(0.75,), lowest=LEAST),
    "Pow (x^6)": Function("Pow", lambda x: x**6, constants=(6.0,)),
    "Pow (x^-3)": Function("Pow", lambda x: x**-3.0, constants=(-3.0,)),
    "Pow (x^-5)": Function("Pow", lambda x: x**-5.0, constants=(-5.0,)),
    "Pow (x^7)": Function("Pow", lambda x: x**7, constants=(7.0,)),
    "Pow (x^1000)": Function("Pow", lambda x: x**1000, constants=(1000.0,)),
    "Pow (x^0.3)": Function("Pow", lambda x: x ** F32(0.3), constants=(0.3,), lowest=LEAST),
    "Pow (x^y)": Function("Pow", lambda x, y: x**y, pairs=True, lowest=LEAST),
}


@dataclass
class Error:
    """The greatest error, and the argument that has it."""

    ulp: float = 0.0
    at: tuple = ()

    def text(self) -> str:
        ulp = "inf" if math.isinf(self.ulp) else f"{self.ulp:.2f}" if self.ulp < 1e4 else f"{self.ulp:.1e}"
        return f"{ulp} at {', '.join(f'{float(x):.6g}' for x in self.at)}" if self.at else ulp


def values_of(dtype: type, count: int) -> Iterator[np.ndarray]:
    """All f16 values, or `count` f32 values, in chunks: f32 values are every so many bit patterns, ordinary arguments
    and arguments near 0."""
    if dtype == np.float16:
        bits = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        yield bits[~np.isnan(bits)].astype(np.float32)
        return
    rng = np.random.default_rng(0)
    edges = np.float32([0, -0.0, np.inf, -np.inf, np.finfo(np.float32).max, np.finfo(np.float32).tiny])
    step = ((1 << 32) // max(count // 2, 1)) | 1
    for begin in range(0, count, CHUNK):
        n = min(CHUNK, count - begin) // 2
        first = (begin // 2 * step) & 0xFFFFFFFF
        bits = (first + np.arange(n, dtype=np.uint64) * step) & 0xFFFFFFFF
        spread = bits.astype(np.uint32).view(np.float32)
        ordinary = rng.uniform(-20, 20, n // 2).astype(np.float32)
        wide = rng.uniform(-110, 110, n // 4).astype(np.float32)
        small = (rng.choice([-1, 1], n // 4) * 2.0 ** rng.uniform(-30, 3, n // 4)).astype(np.float32)
        chunk = np.concatenate([edges, spread, ordinary, wide, small])
        yield chunk[~np.isnan(chunk)]


def exponents(dtype: type, count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return (
        rng.uniform(-8, 8, count).astype(np.float16).astype(np.float32)
        if dtype == np.float16
        else rng.uniform(-8, 8, count).astype(np.float32)
    )


@np.errstate(all="ignore")
def ulps(got: np.ndarray, exact: F64, dtype: type, floor: float = 0.0) -> np.ndarray:
    """The error in units of the last place of the exact result in `dtype`, whose subnormals have the least unit. What
    is beyond the greatest value counts as the value behind it, in both. `floor`: results below it have its unit."""
    info = np.finfo(dtype)
    beyond = float(info.max) * (1 + 2.0 ** -(info.nmant + 1))
    overflow = lambda x: np.clip(x, -beyond, beyond)  # noqa: E731
    a, b = overflow(got.astype(np.float64)), overflow(exact.astype(np.float64))
    least = max(float(info.tiny), floor)
    unit = 2.0 ** (np.frexp(np.maximum(np.abs(b), least))[1] - 1.0 - info.nmant)
    error = np.abs(a - b) / unit
    return np.where(np.isnan(a) & np.isnan(b), 0, np.where(np.isnan(error), np.inf, error))


def model_of(function: Function, count: int) -> onnx.ModelProto:
    names = ["x"] + ["y"] * function.pairs + [f"c{i}" for i in range(len(function.constants))]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [count]) for n in names[: 1 + function.pairs]]
    constants = [
        helper.make_tensor(f"c{i}", TensorProto.FLOAT, [1], [value]) for i, value in enumerate(function.constants)
    ]
    node = helper.make_node(function.op, names, ["z"], name="f", **function.attributes)
    result = helper.make_tensor_value_info("z", TensorProto.FLOAT, [count])
    graph = helper.make_graph([node], "g", inputs, [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", function.opset)], ir_version=10)


def convert(function: Function, mode: str, count: int, folder: Path) -> InferenceSession:
    """The one-op model through the commands of the package, for `count` values at a time."""
    file, mlir, result = folder / "f.onnx", folder / "f.mlir", folder / f"f_{mode}.pmodel"
    onnx.save(model_of(function, count), str(file))
    for run in (
        command("model_transform", "--model_name", "f", "--model_def", file, "--mlir", mlir),
        command("model_deploy", "--mlir", mlir, "--quantize", mode, "--model", result),
    ):
        if run.code:
            raise UserError(run.problem)
    return InferenceSession(str(result))


def measure(function: Function, mode: str, count: int, folder: Path) -> Error:
    """The greatest error of a function in one mode over `count` values (F16: all of them)."""
    dtype = np.float16 if mode == "F16" else np.float32
    size = 1 << 16 if mode == "F16" else min(CHUNK, count) + 8
    session, worst = convert(function, mode, size, folder), Error()
    for x in values_of(dtype, count):
        x = x[(x >= function.lowest) & (x <= function.highest)]
        feed = [np.resize(x, size)] + [exponents(dtype, size)] * function.pairs
        names = [i.name for i in session.get_inputs()]
        got = session.run(None, dict(zip(names, feed)))[0]
        if mode == "F16":
            with np.errstate(over="ignore"):
                got = got.astype(np.float16)
        with np.errstate(all="ignore"):
            exact = np.asarray(function.exact(*(f.astype(np.float64) for f in feed))).astype(np.float64)
        error = ulps(got, exact, dtype, function.floor if mode == "F32" else 0.0)
        at = int(np.argmax(error))
        if error[at] > worst.ulp:
            worst = Error(float(error[at]), tuple(f[at] for f in feed))
    return worst


ROW = re.compile(r"^\| ([^|]+?) \| (F32|F16) \| ([\d.]+) \| ([^|]*) \| ([^|]*) \|$", re.M)


def bounds() -> dict[tuple[str, str], float]:
    """The bound in ulp by function and mode, from the table in docs/accuracy.md."""
    return {(name, mode): float(bound) for name, mode, bound, *_ in ROW.findall(TABLE.read_text())}


def write(found: dict[tuple[str, str], Error]) -> None:
    """Puts measured errors into the table."""

    def row(match: re.Match) -> str:
        name, mode, bound, _, note = match.groups()
        error = found.get((name, mode))
        return f"| {name} | {mode} | {bound} | {error.text()} | {note} |" if error else match[0]

    TABLE.write_text(ROW.sub(row, TABLE.read_text()))


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", help="functions, comma-separated")
    p.add_argument("--modes", default="F32,F16")
    p.add_argument("--values", type=int, default=10_000_000, help="f32 values of each function")
    p.add_argument("--write", action="store_true", help="put the errors into docs/accuracy.md")
    args = p.parse_args()
    limit = bounds() if TABLE.exists() else {}
    found: dict[tuple[str, str], Error] = {}
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only.split(",") if args.only else FUNCTIONS:
            for mode in args.modes.split(","):
                error = found[name, mode] = measure(FUNCTIONS[name], mode, args.values, Path(folder))
                bound = limit.get((name, mode), math.inf)
                missed += error.ulp > bound
                print(
                    f"{name:<18} {mode}  {error.text():<40} bound {bound:g}{'  MISSED' * (error.ulp > bound)}",
                    flush=True,
                )
    if args.write:
        write(found)
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"accuracy.py: error: {error}")
