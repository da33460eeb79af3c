"""Running a CompiledProgram by hand: arguments as a worker takes them; replays of folders."""

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pypto.ir.extents import extent_of, restored, stored
from pypto.pypto_core import DataType, ir

META = "compiled_meta.json"


@dataclass
class ParamInfo:
    """A parameter of what runs. `shape`: extents, -1 for those that each run decides; None for a number."""

    name: str
    direction: ir.ParamDirection
    shape: list[int] | None
    dtype: Any


def param_infos(compiled):
    """The parameters of a CompiledProgram, and behind them, as outputs, the tensors that it makes and returns."""
    kinds, infos = ir.ParamDirection, []
    for name, type_ in compiled.types.items():
        shape = None
        if isinstance(type_, ir.TensorType):
            extents = [extent_of(extent, compiled.sizes) for extent in type_.shape]
            shape = [-1 if extent is None else extent for extent in extents]
        written = kinds.Out if name in compiled._fresh else kinds.InOut
        infos.append(ParamInfo(name, written if name in compiled._outputs else kinds.In, shape, type_.dtype))
    for name, made in compiled._made.items():
        shape = [-1 if extent is None else extent for extent in made.shape]
        infos.append(ParamInfo(name, kinds.Out, shape, made_type(made)))
    return infos


def made_type(made):
    """numpy's and torch's name of the element type of an output of a session."""
    kind = made.type.removeprefix("tensor(").removesuffix(")")
    return "float32" if kind == "float" else kind


class Dispatch:
    """The part of a CompiledProgram for hand-written dispatch."""

    def build_call_config(self, config=None, **overrides):
        """A CallConfig like a RunConfig, with these fields in place of its own. TypeError for unknown ones."""
        from pypto.runtime.call_config import CallConfig

        return CallConfig.of(config, **overrides)

    def build_orch_args(self, *args, worker=None):
        """(TaskArgs, the arguments in order with the outputs that were not passed, whether there are such outputs) of a
        call: with inputs only the outputs are made. TypeError, ValueError as in a call; ValueError for tensors of
        another worker than `worker`."""
        from pypto.runtime.call_config import TaskArgs, TensorArgType

        if worker is not None:
            worker._check_owner(args)
        inputs = [name for name in self.param_names if name not in self._fresh]
        given, made, sizes = args, {}, self._sizes_of(args, {}, inputs)
        if self._fresh and len(args) == len(inputs):
            made = self._make_outputs(args, sizes)
            held = {**dict(zip(inputs, args, strict=True)), **made}
            given = [held[name] for name in self.param_names]
        self._read(given, {}, sizes)  # refuses what a call refuses
        packed = TaskArgs()
        for name, value in zip(self.param_names, given, strict=True):
            if not isinstance(self._types.get(name), ir.TensorType):
                packed.add_scalar(value)
            elif name in self._outputs:
                packed.add_tensor(value, TensorArgType.OUTPUT_EXISTING if name in self._fresh else TensorArgType.INOUT)
            else:
                packed.add_tensor(value)
        return packed, list(given), bool(made)

    def in_order(self, packed):
        """The arguments of TaskArgs in the order of the parameters. TypeError where their number is another."""
        tensors, numbers = list(packed.tensors), list(packed.scalars)
        kinds = [isinstance(self._types.get(name), ir.TensorType) for name in self.param_names]
        if kinds.count(True) != len(tensors) or kinds.count(False) != len(numbers):
            expected = f"{kinds.count(True)} tensors and {kinds.count(False)} numbers"
            raise TypeError(f"{self._name}: expects {expected}, not {len(tensors)} and {len(numbers)}")
        return [(tensors if is_tensor else numbers).pop(0) for is_tensor in kinds]


def checksums(folder):
    """Of the files of a folder that can run by themselves, so that edits are seen."""
    folder = Path(folder)
    files = [*sorted(folder.glob("ptoas/*.pto")), *sorted(folder.glob("orchestration/*"))]
    return {str(file.relative_to(folder)): zlib.crc32(file.read_bytes()) for file in files if file.is_file()}


def write_meta(compiled, folder):
    """Writes compiled_meta.json behind all other files: what `from_dir` has to know of a program beside its .pmodel. A
    program of several ranks, and one that is compiled for each set of sizes, is there as bytes of its IR, too."""
    from pypto.runtime.device_runner import kernel_names

    params = []
    for name, type_ in compiled.types.items():  # without numbers that were folded
        shape, direction = None, "in"
        if isinstance(type_, ir.TensorType):
            shape = [stored(extent, compiled.sizes) for extent in type_.shape]
        if name in compiled._outputs:
            direction = "out" if name in compiled._fresh else "inout"
        params.append({"name": name, "dtype": type_.dtype.name, "shape": shape, "direction": direction})
    meta = {
        "program": compiled.program.name,
        "name": compiled.name,
        "platform": compiled.platform,
        "model": f"{compiled.program.name}.pmodel",
        "kernels": kernel_names(compiled.program),
        "has_return": compiled.has_return,
        "params": params,
        "files": checksums(folder),
    }
    devices = getattr(compiled, "device_ids", None)
    if devices is not None:
        meta["device_ids"] = devices
    if devices is not None or compiled.pmodel is None:
        meta["ir"] = f"{compiled.program.name}.ir"
        (Path(folder) / meta["ir"]).write_bytes(ir.serialize(compiled.program))
        if compiled.pmodel is not None:
            meta["model_checksum"] = zlib.crc32(compiled.pmodel)
    (Path(folder) / META).write_text(json.dumps(meta, indent=1) + "\n")


def read_meta(folder):
    """What compiled_meta.json of a folder says, with the types of the parameters. ValueError for other folders."""
    file = Path(folder) / META
    if not file.is_file():
        raise ValueError(f"{folder}: holds no {META}; ir.compile writes one")
    try:
        meta = json.loads(file.read_text())
        meta["types"] = {
            each["name"]: ir.ScalarType(getattr(DataType, each["dtype"]))
            if each["shape"] is None
            else ir.TensorType([restored(extent) for extent in each["shape"]], getattr(DataType, each["dtype"]))
            for each in meta["params"]
        }
        meta["directions"] = {each["name"]: each["direction"] for each in meta["params"]}
        for name in ("program", "name", "platform", "model", "kernels", "has_return"):
            meta[name]
        if "ir" in meta:
            meta["ir"] = (Path(folder) / meta["ir"]).read_bytes()
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ValueError(f"{file}: is not what ir.compile wrote: {type(error).__name__}: {error}") from error
    return meta
