"""What a hand-written dispatch passes to a worker: how a call runs, and its arguments in order."""

import enum
from dataclasses import dataclass, fields, replace
from typing import Any

from pypto.jit.arguments import ELEMENT_TYPES, Buffer, read

DataType = enum.Enum("DataType", {name.upper(): ours for name, ours in ELEMENT_TYPES.items()})
DataType.__doc__ = "Element types by the names of the public runtime: FLOAT32, INT8; the value is that of pl."


@dataclass(frozen=True)
class CommBufferSpec:
    """Memory that each device of a group has a copy of: `count` bytes, `nbytes` where it lies among others."""

    name: str
    dtype: str
    count: int
    nbytes: int


@dataclass(frozen=True)
class WindowView:
    """A window of a buffer of a group (`pypto.runtime.host_orch.Domain`) as a tensor."""

    domain: Any
    buffer: str
    shapes: tuple
    dtype: DataType


@dataclass
class CallConfig:
    """How one call runs. The records (`enable_..`) go under `output_prefix`, else beside the program's files; the
    number of threads on the device's CPU has no effect on the simulated device."""

    aicpu_thread_num: Any = None
    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False
    output_prefix: Any = None

    @property
    def save_kernels_dir(self):
        return self.output_prefix

    @classmethod
    def of(cls, config=None, **overrides):
        """That of a RunConfig (or the default), with these fields in place of its own. TypeError for unknown ones."""
        made = cls()
        if config is not None:
            names = [each.name for each in fields(cls) if hasattr(config, each.name)]
            given = {"output_prefix": config.save_kernels_dir, **{name: getattr(config, name) for name in names}}
            made = cls(**given)
        return replace(made, **overrides)


class TensorArgType(enum.Enum):
    """What a task does with a tensor."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4


class TaskArgs:
    """The arguments of a call: tensors, then numbers, each in the order of the parameters; `args[i]` is a tensor."""

    def __init__(self):
        self.tensors, self.kinds, self.scalars = [], [], []

    def add_tensor(self, tensor, kind=TensorArgType.INPUT):
        """Adds a tensor, also one of `make_tensor_arg`, or a window. TypeError for numbers."""
        held = tensor if isinstance(tensor, WindowView) else read("add_tensor", tensor)
        if not isinstance(held, (Buffer, WindowView)):
            raise TypeError("add_tensor: expects a tensor; add_scalar takes numbers")
        self.tensors.append(held)
        self.kinds.append(TensorArgType(kind))

    def add_scalar(self, value):
        """Adds a number. TypeError for tensors."""
        held = read("add_scalar", value)
        if isinstance(held, Buffer):
            raise TypeError("add_scalar: expects a number; add_tensor takes tensors")
        self.scalars.append(held)

    def __len__(self):
        return len(self.tensors)

    def __getitem__(self, index):
        return self.tensors[index]
