"""What a harness says of tensors and scalars before it makes them."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class TensorSpec:
    """A tensor that `create_tensor` makes: `init_value` is None (zeros), a number, a tensor, or a callable that takes
    the shape or nothing."""

    name: str
    shape: Any
    dtype: Any
    init_value: Any = None
    is_output: bool = False

    def create_tensor(self):
        """A tensor of torch for a type of torch, else a numpy array."""
        torch = sys.modules.get("torch")
        in_torch = torch is not None and isinstance(self.dtype, torch.dtype)
        shape, value = tuple(self.shape), self.init_value
        if callable(value):
            try:
                value = value()
            except TypeError:
                value = value(shape)
        zeros = torch.zeros if in_torch else np.zeros
        if value is None:
            return zeros(shape, dtype=self.dtype)
        if isinstance(value, (bool, int, float)):
            made = zeros(shape, dtype=self.dtype)
            made[...] = value
            return made
        made = value.to(self.dtype).contiguous() if in_torch else np.ascontiguousarray(value, self.dtype)
        if tuple(made.shape) != shape:
            raise ValueError(f"{self.name}: init_value has shape {list(made.shape)}, not {list(shape)}")
        return made


@dataclass
class ScalarSpec:
    """A number of a C type: int64, int32, uint64, uint32, float or double."""

    name: str
    value: Any
    ctype: str = "int64"

    def __post_init__(self):
        if self.ctype not in ("int64", "int32", "uint64", "uint32", "float", "double"):
            raise ValueError(
                f"{self.name}: ctype {self.ctype!r} is none of int64, int32, uint64, uint32, float, double"
            )
