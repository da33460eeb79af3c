"""The compiler in this process: thin functions over the native module, errors as UserError."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from .errors import NotForThisCPU, UserError
from .functions import import_with_bodies
from .input_values import serialized
from .state import POSITION, NetState, presents, run_session, split


def _native():
    try:
        from . import _compiler
    except ImportError as error:
        raise UserError(
            f"the compiler cannot be loaded: {error}; pto-mlir-runtime has none, pip install pto-mlir"
        ) from None
    return _compiler


def _call(function, *args):
    native = _native()
    for text in args:
        if isinstance(text, str) and any("\ud800" <= c <= "\udfff" for c in text):
            raise UserError(f"{text.encode('utf-8', 'surrogateescape')!r}: the name is not UTF-8 text; rename the file")
    try:
        return getattr(native, function)(*args)
    except native.NotForThisCPU as error:
        raise NotForThisCPU(str(error)) from None
    except native.CompileError as error:
        raise UserError(str(error)) from None
    except UnicodeDecodeError as error:
        raise UserError(f"{args[0]}: the name {error.object!r} is not UTF-8 text") from None


def native_call(function: str, *args):
    """A function of the native compiler; what it reports is a UserError."""
    return _call(function, *args)


def transform(
    model_def,
    model_name,
    input_shapes,
    output_names,
    mlir,
    preprocess,
    max_extent=32,
    sizes=None,
    ranges=None,
    state="",
    state_length=0,
    strict_f64=False,
    input_values=None,
    kernels=None,
) -> dict:
    """ONNX -> top .mlir + .safetensors. Returns nodes, ops, weight_bytes, bounded, remarks. `max_extent`: the largest
    extent that a run may bring forth; `sizes`: all sizes of dimensions that the model names; `ranges`: (least,
    greatest, multiple) of such dimensions whose size a run says, in one kernel where that is possible (`bounded`, with
    many sizes of a list likewise); `state`, `state_length`: docs/state.md; `strict_f64`: docs/types.md; `input_values`:
    arrays of inputs whose values are known, which the net has no more; `kernels`: kernels.UserKernels, for the
    operators that they name. Functions that are no operators of the importer are replaced by their bodies."""
    names = input_shapes or [], output_names, mlir, preprocess, max_extent
    options = *names, sizes or {}, ranges or {}, state, state_length, strict_f64
    values = serialized(model_def, input_values) if input_values else {}
    users = (kernels.names, kernels.find) if kernels else (set(), lambda *_: None)
    return import_with_bodies(model_def, lambda path: _call("transform", path, model_name, *options, values, *users))


def describe(mlir) -> dict:
    """Inputs and outputs (name, shape with None where a run says the size, numpy type), graph (compare.Graph), absorbed
    tensors, pre-processing, states (NetState), state_rows (that a run adds) and has_position of a top .mlir."""
    net = _call("describe", mlir)
    for ports in ("inputs", "outputs"):
        net[ports] = [(name, [size if size >= 0 else None for size in shape], kind) for name, shape, kind in net[ports]]
    net["states"] = [
        NetState(name, shape, kind, output, axis if axis >= 0 else None)
        for name, shape, kind, output, axis in net["states"]
    ]
    net["preprocess"] = json.loads(net["preprocess"]) if net["preprocess"] else {}
    return net


def interpret(mlir, feed: dict[str, np.ndarray], all_tensors: bool = False) -> dict[str, np.ndarray]:
    """Runs a top .mlir on the CPU through convert-top-to-linalg and MLIR's execution engine. A net with state takes and
    gives the rows that exist, as the ONNX model does. NotForThisCPU where it computes in types that only engines and
    the host program have: casts of unsigned integers, for instance."""
    net = describe(mlir)
    feed, states, position = split(net, feed)
    feed = feed | states | ({POSITION: np.array([position], np.int32)} if net["has_position"] else {})
    tensors = [(name, str(value.dtype), list(value.shape), value.tobytes()) for name, value in feed.items()]
    results = _call("interpret", mlir, tensors, all_tensors)
    values = {name: np.frombuffer(data, dtype).reshape(shape) for name, dtype, shape, data in results}
    return presents(net, values, position)


def simulate(mlir, feed: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], list[str]]:
    """All tensors of a top .mlir, computed on the cmodel in F32, and the names of those that became part of others."""
    from .runtime import InferenceSession

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "m.pmodel"
        absorbed = deploy(mlir, str(model), "F32", next(iter(processors())), 1, True)["absorbed"]
        return run_session(InferenceSession(model), describe(mlir), feed, True), absorbed


def processors() -> dict[str, int]:
    """What models can be compiled for, by name, the default first: how many blocks a chip has."""
    return {name: blocks for name, blocks, _ in _call("processors")}


def chips() -> list[str]:
    """The processors that are chips: those that only tests know are left out."""
    return [name for name, _, test_only in _call("processors") if not test_only]


def lower_bound(
    processor: str,
    blocks: int,
    *,
    bytes_read: float,
    bytes_written: float,
    multiplications: float = 0,
    wide: bool = False,
    operations: float = 0,
) -> float:
    """Seconds that no kernel is faster than (lib/Cost's lowerBound): bytes of global memory, each once, multiplications
    of products on cube cores (`wide`: of f32), elementwise f32 operations on vector cores; one dispatch."""
    return _call("lower_bound", processor, blocks, bytes_read, bytes_written, multiplications, wide, operations)


def launch_seconds(processor: str) -> tuple[float, float]:
    """What a launch takes beside its work: where the host waits for each, and as a task of a session."""
    return _call("launch_seconds", processor)


def deploy(
    mlir,
    model,
    quantize,
    processor,
    num_core,
    debug,
    dump_ir="",
    emit_pto="",
    emit_exact=False,
    cost_remarks=False,
) -> dict:
    """Top .mlir -> .pmodel. Returns kernels, launches, command_bytes, weight_bytes, file_bytes, and lists of texts:
    host_ops, absorbed, narrowed, clipped, remarks (where a pass takes a slow way; with `cost_remarks` also kernels that
    are slow beside their bytes, and many launches for one tensor)."""
    options = dump_ir, emit_pto, emit_exact, cost_remarks
    return _call("deploy", mlir, model, quantize, processor, num_core, debug, *options)


def supported_ops() -> list[tuple[str, int, int]]:
    """ONNX operators that are imported: name, first and last opset."""
    return _call("supported_ops")


def version_nodes() -> int:
    """Most nodes of all versions of a model together: no list of sizes is longer."""
    return _call("version_nodes")
