"""PTO-AS kernels for the simulated cores: each becomes an ONNX graph, which this project's compiler turns into a .pmodel."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from pto_as import NUMPY_DTYPES, Kernel, PTOError, Repeat

_ONNX = {
    "tile_copy": "Identity",
    "tile_exp": "Exp",
    "tile_sqrt": "Sqrt",
    "tile_abs": "Abs",
    "tile_relu": "Relu",
    "tile_neg": "Neg",
    "tile_add": "Add",
    "tile_sub": "Sub",
    "tile_mul": "Mul",
    "tile_div": "Div",
    "tile_max": "Max",
    "tile_min": "Min",
    "tile_adds": "Add",
    "tile_subs": "Sub",
    "tile_muls": "Mul",
    "tile_divs": "Div",
    "tile_maxs": "Max",
    "tile_mins": "Min",
    "tile_matmul": "MatMul",
}
MAX_OPS = 4096


class _Translator:
    """Follows the program: `current` is the ONNX value that each tile or tensor holds now."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.current: dict[str, str] = {}
        self.inputs: list[str] = []
        self.written: list[str] = []
        self.body(kernel.body)

    def body(self, body: list) -> None:
        for item in body:
            if isinstance(item, Repeat):
                for _ in range(item.count):
                    self.body(item.body)
            else:
                self.op(item)
            if len(self.nodes) > MAX_OPS:
                raise PTOError(f"@{self.kernel.name}: more than {MAX_OPS} operations when its loops are unrolled")

    def read(self, value) -> str:
        if value.kind == "scalar":
            if value.value is None:
                raise PTOError(f"@{self.kernel.name}: the scalar argument %{value.name} must be a constant on aicore")
            name = f"const_{value.name}"
            if all(constant.name != name for constant in self.constants):
                self.constants.append(numpy_helper.from_array(np.array(value.value, NUMPY_DTYPES[value.dtype]), name))
            return name
        if value.name not in self.current:
            if value.kind == "tile":
                raise PTOError(f"@{self.kernel.name}: %{value.name} is read before it is written")
            self.inputs.append(value.name)
            self.current[value.name] = value.name
        return self.current[value.name]

    def op(self, op) -> None:
        dst, *sources = op.operands
        if dst.dtype != "f32":
            raise PTOError(f"@{self.kernel.name}: aicore computes in f32 only, %{dst.name} is {dst.dtype}")
        result = f"v{len(self.nodes)}"
        if op.name == "tile_expands":
            shape = f"shape_{result}"
            self.constants.append(numpy_helper.from_array(np.array(dst.shape, np.int64), shape))
            self.nodes.append(helper.make_node("Expand", [self.read(sources[0]), shape], [result]))
        elif op.name == "tile_matmul_acc":
            before = self.read(dst)
            self.nodes.append(helper.make_node("MatMul", [self.read(source) for source in sources], [result]))
            self.nodes.append(helper.make_node("Add", [before, result], [f"v{len(self.nodes)}"]))
            result = f"v{len(self.nodes) - 1}"
        else:
            self.nodes.append(helper.make_node(_ONNX[op.name], [self.read(source) for source in sources], [result]))
        self.current[dst.name] = result
        if dst.kind == "tensor" and dst.name not in self.written:
            self.written.append(dst.name)

    def model(self) -> onnx.ModelProto:
        values = {value.name: value for value in self.kernel.values}
        if not self.written:
            raise PTOError(f"@{self.kernel.name} writes no tensor")
        # Names of arguments are kept on the outside: what is read is in_X, what is written is out_X.
        nodes = [helper.make_node("Identity", [f"in_{name}"], [name]) for name in self.inputs] + self.nodes
        nodes += [helper.make_node("Identity", [self.current[name]], [f"out_{name}"]) for name in self.written]

        def info(prefix: str, name: str) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(prefix + name, TensorProto.FLOAT, values[name].shape)

        graph = helper.make_graph(
            nodes,
            self.kernel.name,
            [info("in_", name) for name in self.inputs],
            [info("out_", name) for name in self.written],
            self.constants,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _compile(program: _Translator, folder: Path, emit_pto: str = "") -> tuple[Path, dict]:
    """Writes KERNEL.pmodel into `folder`, and its kernels as .pto into the folder `emit_pto`; says what was made."""
    from pto_mlir import compiler

    name = program.kernel.name
    source = folder / f"{name}.onnx"
    onnx.save(program.model(), source)
    mlir, target = folder / f"{name}.mlir", folder / f"{name}.pmodel"
    compiler.transform(str(source), name, [], [], str(mlir), "")
    return target, compiler.deploy(str(mlir), str(target), "F32", "a3", 1, False, "", emit_pto)


def write_kernel(kernel: Kernel, path: str | os.PathLike) -> list[Path]:
    """Compiles a kernel to a file: X.pmodel, whose net takes in_NAME of what the kernel reads and gives out_NAME of what it writes; or X.pto, the
    kernels that the compiler made of it as text for pto-compile, X.pto for one, X.NAME.pto for several. Returns what was written."""
    path = Path(path)
    if path.suffix not in (".pmodel", ".pto"):
        raise PTOError(f"@{kernel.name}: compiles to a .pmodel or a .pto, got {path.name}")
    if not path.parent.is_dir():
        raise PTOError(f"@{kernel.name}: there is no folder {path.parent}")
    with tempfile.TemporaryDirectory(prefix="pto_kernel_") as name:
        made = Path(name) / "pto"
        made.mkdir()
        model, result = _compile(_Translator(kernel), Path(name), str(made) if path.suffix == ".pto" else "")
        if path.suffix == ".pmodel":
            shutil.move(model, path)
            return [path]
        if result["not_emitted"]:
            raise PTOError(f"@{kernel.name}: cannot be written as .pto: {'; '.join(result['not_emitted'])}")
        files = sorted(made.glob("*.pto"))
        targets = [path] if len(files) == 1 else [path.with_suffix(f".{file.stem}.pto") for file in files]
        for file, target in zip(files, targets, strict=True):
            shutil.move(file, target)
        return targets


def compile_kernel(kernel: Kernel, folder: Path) -> Callable:
    """Writes KERNEL.pmodel into `folder` and returns a function of the kernel's arguments that runs it on the simulator."""
    from pto_mlir import runtime

    program = _Translator(kernel)
    target, _ = _compile(program, folder)
    session = runtime.InferenceSession(target)
    outputs = [f"out_{name}" for name in program.written]
    names = [value.name for value in kernel.arguments()]

    def call(*args):
        arrays = dict(zip(names, args, strict=True))
        results = session.run(outputs, {f"in_{name}": np.ascontiguousarray(arrays[name]) for name in program.inputs})
        for name, result in zip(program.written, results, strict=True):
            arrays[name][...] = result

    return call
