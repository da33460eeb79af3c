"""ONNX's backend interface over the compiler and the simulator: what onnx.backend.test drives.

    rep = pto_mlir.backend.prepare(model)
    y, = rep.run([x])

Sizes that follow from values of an input (the shape of a Reshape) are compiled once for each set of such values;
`Rep.specialised` names these inputs, `Rep.host_ops` the operations that no engine computes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep, namedtupledict

from . import compiler, sequences
from .errors import UserError
from .runtime import InferenceSession, InvalidArgument

# The first opset that the compiler reads; older models go through onnx's version converter.
FIRST_OPSET = 7
# Most elements of an input whose values a model may be compiled for.
MAX_FIXED = 64
NEEDS_VALUES = re.compile(
    "must be constant|must be a constant|must be one constant|run time|not compiled for|constant scalars"
)


def _fixed_inputs(feed: dict[str, np.ndarray]) -> list[list[str]]:
    """Sets of inputs to compile the values of, the least first: integers behind the first input, anything flat behind
    it, anything flat."""
    first, *rest = feed
    flat = [name for name, value in feed.items() if value.ndim <= 1 and value.size <= MAX_FIXED]
    integers = [name for name in flat if feed[name].dtype.kind in "iu" and name in rest]
    choices: list[list[str]] = [integers, [name for name in flat if name != first], flat]
    return [choice for i, choice in enumerate(choices) if choice and choice not in choices[:i]]


def _with_values(model: onnx.ModelProto, values: dict[str, np.ndarray], feed: dict[str, np.ndarray]) -> onnx.ModelProto:
    """A copy with inputs `values` as initializers, and the other inputs of the shapes in `feed`."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for info in list(copy.graph.input):
        if info.name in values:
            copy.graph.input.remove(info)
            copy.graph.initializer.append(numpy_helper.from_array(values[info.name], info.name))
        elif info.name in feed and info.type.HasField("tensor_type"):
            kind = info.type.tensor_type
            info.CopyFrom(helper.make_tensor_value_info(info.name, kind.elem_type, feed[info.name].shape))
    return copy


class _Compiled:
    """A model for one set of shapes and values: its session, in a folder that is gone when it is loaded."""

    def __init__(self, model: onnx.ModelProto, quantize: str, threads: int):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            onnx.save(model, path)
            compiler.transform(str(path), "model", None, [], str(path.with_suffix(".mlir")), "")
            made = compiler.deploy(
                str(path.with_suffix(".mlir")), str(path.with_suffix(".pmodel")), quantize, "a3", 1, False
            )
            self.host_ops: list[str] = made["host_ops"]
            self.session = InferenceSession(path.with_suffix(".pmodel"), threads=threads)


class Rep(BackendRep):
    """A prepared model. After a run, `specialised` holds the inputs whose values it was compiled for, `host_ops` the
    operations of the host with their reasons."""

    def __init__(self, model: onnx.ModelProto, quantize: str = "F32", threads: int = 1):
        self._model, self._options = model, (quantize, threads)
        weights = {weight.name for weight in model.graph.initializer}
        self._inputs = [info for info in model.graph.input if info.name not in weights]
        self.output_names = [info.name for info in model.graph.output]
        self._types = [_numpy_type(info) for info in model.graph.output]
        self._compiled: dict[tuple, tuple[_Compiled, list[str]]] = {}
        self.host_ops: list[str] = []
        self.specialised: list[str] = []
        if all(_is_static(info) for info in self._inputs):
            try:
                self._compile({}, [])
            except UserError as error:
                if not NEEDS_VALUES.search(str(error)):
                    raise

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs, by position and by name, for inputs in the model's order (or by name)."""
        names = [info.name for info in self._inputs]
        if isinstance(inputs, dict):
            feed = {name: _array(name, value) for name, value in inputs.items()}
        else:
            if len(inputs) > len(names):
                raise InvalidArgument(f"the model has {len(names)} inputs, got {len(inputs)}")
            feed = {name: _array(name, value) for name, value in zip(names, inputs, strict=False)}
        results = self._answer(feed)
        arrays = [_as_type(array, dtype) for array, dtype in zip(results, self._types, strict=True)]
        return namedtupledict("Outputs", self.output_names)(*arrays)

    def _answer(self, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        try:
            return self._run_with(feed, [])
        except UserError as error:
            first = error
        for fixed in _fixed_inputs(feed) if feed and NEEDS_VALUES.search(str(first)) else []:
            try:
                return self._run_with(feed, fixed)
            except UserError as error:
                if not NEEDS_VALUES.search(str(error)):
                    raise
        raise first

    def _run_with(self, feed: dict[str, np.ndarray], fixed: list[str]) -> list[np.ndarray]:
        compiled = self._compile(feed, fixed)
        results = compiled.session.run(None, {name: value for name, value in feed.items() if name not in fixed})
        self.specialised, self.host_ops = fixed, compiled.host_ops
        return results

    def _compile(self, feed: dict[str, np.ndarray], fixed: list[str]) -> _Compiled:
        """The model for the feed's shapes and the values of `fixed`, compiled at the first call for these."""
        shapes = tuple(feed[info.name].shape for info in self._inputs if not _is_static(info) and info.name in feed)
        key = shapes, tuple((name, feed[name].tobytes()) for name in fixed)
        if key not in self._compiled:
            values = {name: feed[name] for name in fixed}
            shaped = {info.name: feed[info.name] for info in self._inputs if not _is_static(info) and info.name in feed}
            model = _with_values(self._model, values, shaped) if values or shaped else self._model
            self._compiled[key] = _Compiled(model, *self._options), fixed
        return self._compiled[key][0]


class ListRep(BackendRep):
    """A model with sequences and optionals: compiled at a run, for the numbers of elements that are given."""

    def __init__(self, model: onnx.ModelProto, quantize: str = "F32", threads: int = 1):
        self._model, self._options = model, (quantize, threads)
        weights = {weight.name for weight in model.graph.initializer}
        self._inputs = [info.name for info in model.graph.input if info.name not in weights]
        self._made: dict[tuple, tuple[Rep, dict[str, sequences.Meaning]]] = {}
        self.host_ops: list[str] = []
        self.specialised: list[str] = []

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """As Rep.run; sequences are lists, an optional without a value is None."""
        feed = dict(inputs) if isinstance(inputs, dict) else dict(zip(self._inputs, inputs, strict=False))
        tensors = {name: np.asarray(v) for name, v in feed.items() if v is not None and not isinstance(v, list)}
        problem: UserError | None = None
        for fixed in ([], *(_fixed_inputs(tensors) if tensors else [])):
            try:
                return self._run_with(feed, {name: tensors[name] for name in fixed})
            except UserError as error:
                problem = error
                if not NEEDS_VALUES.search(str(error)):
                    break
        raise problem or UserError("no inputs")

    def _run_with(self, feed: dict[str, Any], values: dict[str, np.ndarray]) -> tuple[Any, ...]:
        flat = sequences.flat_feed({name: value for name, value in feed.items() if name not in values})
        key = tuple((n, v.shape) for n, v in flat.items()), tuple((n, v.tobytes()) for n, v in values.items())
        if key not in self._made:
            shaped = {name: value for name, value in feed.items() if isinstance(value, np.ndarray)}
            model, meanings = sequences.flatten(_with_values(self._model, values, shaped), feed)
            self._made[key] = Rep(model, *self._options), meanings
        rep, meanings = self._made[key]
        made = rep.run(flat)
        results = dict(zip(rep.output_names, made, strict=True))
        self.host_ops, self.specialised = rep.host_ops, list(dict.fromkeys([*values, *rep.specialised]))
        grouped: list[Any] = [
            [results[part] for part in meaning] if isinstance(meaning, list) else meaning and results[meaning]
            for meaning in meanings.values()
        ]
        return namedtupledict("Outputs", list(meanings))(*grouped)


def _array(name: str, value: Any) -> np.ndarray:
    if value is None or isinstance(value, list):
        raise InvalidArgument(f"input '{name}': only tensors are supported")
    return np.asarray(value)


def _is_static(info: onnx.ValueInfoProto) -> bool:
    """Whether the shape is known; sequences and optionals have none."""
    kind = info.type.tensor_type
    known = kind.HasField("shape") and all(dim.HasField("dim_value") for dim in kind.shape.dim)
    return known or not info.type.HasField("tensor_type")


def _numpy_type(info: onnx.ValueInfoProto) -> np.dtype | None:
    kind = info.type.tensor_type.elem_type
    return helper.tensor_dtype_to_np_dtype(kind) if kind else None


def _as_type(array: np.ndarray, dtype: np.dtype | None) -> np.ndarray:
    """Of types that numpy lacks, sessions return the bits of floats, and integers of a byte."""
    if dtype is None or array.dtype == dtype:
        return array
    return array.astype(dtype) if "int" in dtype.name else array.view(dtype)


def _with_slopes_of_channels(model: onnx.ModelProto) -> onnx.ModelProto:
    """Before opset 7 the slopes of a PRelu are those of the channels; later they broadcast to the last dimensions. The
    slopes get dimensions of 1, which onnx's converter does not add."""
    model = onnx.shape_inference.infer_shapes(model)
    infos = (*model.graph.input, *model.graph.value_info, *model.graph.output)
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in infos}
    ranks |= {weight.name: len(weight.dims) for weight in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type == "PRelu" and ranks.get(node.input[1]) == 1 and (rank := ranks.get(node.input[0], 0)) > 2:
            name = f"{node.output[0]}_slopes"
            nodes.append(helper.make_node("Unsqueeze", [node.input[1]], [name], axes=list(range(1, rank - 1))))
            node.input[1] = name
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


class Backend(OnnxBackend):
    """onnx.backend.base.Backend; the device "CPU" is the simulator."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> Rep | ListRep:
        """Compiles a model. quantize: F32 (default), F16, BF16; threads: of the simulator. Models of older opsets than
        the compiler reads are converted by onnx."""
        super().prepare(model, device)
        return cls._compile(model, device, **kwargs)

    @classmethod
    def _compile(cls, model: onnx.ModelProto, device: str, **kwargs: Any) -> Rep | ListRep:
        if not cls.supports_device(device):
            raise UserError(f"device '{device}': only 'CPU' is there, the simulator")
        opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), None)
        if opset is not None and opset < FIRST_OPSET:
            model = onnx.version_converter.convert_version(_with_slopes_of_channels(model), FIRST_OPSET)
        kind = ListRep if sequences.is_needed(model) else Rep
        return kind(model, kwargs.get("quantize", "F32"), kwargs.get("threads", 1))

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one node; `opset_version`: of its operator, the newest where absent."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        names = [name for name in node.input if name]
        arrays = [np.asarray(value) for value in inputs]
        if len(arrays) != len(names):
            raise InvalidArgument(f"the node has {len(names)} inputs, got {len(arrays)}")
        infos = [_info(name, array.dtype, array.shape) for name, array in zip(names, arrays, strict=True)]
        if outputs_info:
            results = [_info(name, *info) for name, info in zip(node.output, outputs_info, strict=True)]
        else:
            results = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        model = helper.make_model(
            helper.make_graph([node], "node", infos, results), opset_imports=[helper.make_opsetid(node.domain, opset)]
        )
        # Checked above; the checker of models asks for shapes of results that follow from values.
        rep = cls._compile(onnx.shape_inference.infer_shapes(model), device, **kwargs)
        return rep.run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU" or device.startswith("CPU:")


def _info(name: str, dtype: np.dtype, shape: Sequence[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
