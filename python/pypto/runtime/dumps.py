"""The arguments of each task of a run (`RunConfig.enable_dump_args`): before and after each task the tensors that it
gets are written down. On one device the tasks run one after another; several ranks run as always, and are watched."""

import json
import math
import tempfile
from pathlib import Path

import numpy as np

from pypto.ir import errors
from pypto.jit.arguments import array_type
from pypto.pypto_core import DataType, ir

_WHEN = {"input": ("before_dispatch",), "output": ("after_completion",)}
_WHEN["inout"] = ("before_dispatch", "after_completion")


def launches_of(compiled):
    """What a program launches: `ports`, `workspace` and `launches` (listPyPTOLaunches), the same for each of its runs.
    ParserError where the run decides it; ValueError for a program that was read from a folder."""
    from pto_mlir import _compiler

    if compiled._launches is not None:
        return compiled._launches
    if compiled.program is None:
        raise ValueError(f"{compiled.name}: arguments are recorded of programs, and this one was read from a folder")
    try:
        text = _compiler.list_pypto(
            ir.serialize(compiled.program), compiled.processor, compiled.sizes, getattr(compiled, "ranks", 1)
        )
    except _compiler.CompileError as error:
        raised = errors.of_compiler(str(error))
    else:
        compiled._launches = json.loads(text)
        return compiled._launches
    raise raised


class Dump:
    """args_dump.json and args_dump.bin of a folder, while a run writes them."""

    def __init__(self, folder):
        self.folder, self.entries, self.offset = Path(folder) / "args_dump", [], 0
        self.folder.mkdir(parents=True, exist_ok=True)
        self._bin = open(self.folder / "args_dump.bin", "wb")  # noqa: SIM115  (closed by `close`)

    def add(self, task, kernel, stage, tensor, memory, origin=0):
        """One tensor of a task; `memory`: the bytes of its buffer, from `origin` on."""
        kind = np.dtype(_stored(tensor["dtype"]))
        strides = [stride * kind.itemsize for stride in tensor["strides"]]
        begin = begin_of(tensor) - origin
        shape = tuple(tensor["shape"])
        data = np.ndarray(shape, kind, memory.data, begin, strides).tobytes()
        dense = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        self._bin.write(data)
        self.entries.append(
            {
                "task_id": f"0x{task:016x}",
                "kernel": kernel,
                "role": tensor["role"],
                "stage": stage,
                "arg_index": tensor["index"],
                "arg_name": tensor["name"],
                "dtype": array_type(tensor["dtype"]),
                "shape": list(shape),
                "strides": tensor["strides"],
                "start_offset": tensor["offset"],
                "bin_offset": self.offset,
                "bin_size": len(data),
                "is_contiguous": tensor["strides"] == dense,
            }
        )
        self.offset += len(data)

    def close(self):
        self._bin.close()
        manifest = {"bin_file": "args_dump.bin", "args": self.entries}
        (self.folder / "args_dump.json").write_text(json.dumps(manifest, indent=1) + "\n")


def _stored(name):
    """numpy's type of the bits of an element type."""
    return f"u{getattr(DataType, name).get_byte()}"


def begin_of(tensor):
    """The first byte of a tensor in its buffer."""
    return tensor["base"] + tensor["offset"] * np.dtype(_stored(tensor["dtype"])).itemsize


def run_ranks(compiled, memory, level, folder):
    """Runs once on several devices, and writes args_dump.json and args_dump.bin for each call of the host level, under
    `folder`/rank{r}/d{k} for the k-th one on rank r. A window is the device's own copy."""
    launches, dumps = launches_of(compiled)["launches"], {}

    def seen(number, ended, parts):
        launch = launches[number]
        where = launch["rank"], launch["dispatch"]
        if where not in dumps:
            dumps[where] = Dump(Path(folder) / f"rank{where[0]}" / f"d{where[1]}")
        stage = "after_completion" if ended else "before_dispatch"
        for tensor in launch["tensors"]:
            if stage not in _WHEN[tensor["role"]] or not (level > 1 or tensor["dumped"]):
                continue
            begin = begin_of(tensor)
            for pointer, part in zip(launch["pointers"], parts, strict=True):
                if pointer["buffer"] == tensor["buffer"] and 0 <= begin - pointer["offset"] < pointer["bytes"]:
                    held = np.frombuffer(part, np.uint8)
                    dumps[where].add(number, launch["kernel"], stage, tensor, held, pointer["offset"])
                    break

    compiled._session.watch_launches(seen)
    try:
        errors.of_run(compiled.program, compiled._session.run_in_place, memory)
    finally:
        compiled._session.watch_launches(None)
        for dump in dumps.values():
            dump.close()


def run(compiled, memory, level, folder):
    """Runs once, functionally, and writes args_dump.json and args_dump.bin under `folder`. Level 1: tensors that the
    program marks (pl.dump_tag, `dumps=`); 2: all of them."""
    from pto_mlir import runtime

    listed = launches_of(compiled)
    held = {name: data.view(np.uint8).reshape(-1) for name, data in memory.items()}
    workspace = np.zeros(max(listed["workspace"], 1), np.uint8)
    buffers = [workspace if name is None else held[name] for name in listed["ports"]]
    dump, kernels = Dump(folder), {}
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "k.pmodel"
        file.write_bytes(compiled.pmodel)
        try:
            for task, launch in enumerate(listed["launches"]):
                shown = [each for each in launch["tensors"] if level > 1 or each["dumped"]]
                name = launch["kernel"]
                if name not in kernels:
                    kernels[name] = runtime.Kernel(file, name)
                for stage, act in (("before_dispatch", None), ("after_completion", kernels[name])):
                    if act is not None:
                        parts = [
                            buffers[each["buffer"]][each["offset"] : each["offset"] + each["bytes"]]
                            for each in launch["pointers"]
                        ]
                        errors.of_run(compiled.program, act.run, *parts, *launch["scalars"])
                    for each in shown:
                        if stage in _WHEN[each["role"]]:
                            dump.add(task, name, stage, each, buffers[each["buffer"]])
        finally:
            dump.close()
