"""What fills a tile beside its valid part."""

import math

from pypto.pypto_core.ir import ConstFloat, ConstInt, Neg, PadValue

_HINT = "fillpad pad_value is a pl.PadValue, 0, math.inf or -math.inf"


def normalize_pad_value(value) -> PadValue:
    """A PadValue, or the numbers 0, inf and -inf, as a PadValue. TypeError, ValueError for others."""
    if isinstance(value, PadValue):
        if value == PadValue.null:
            raise ValueError(f"{_HINT}, not null")
        return value
    if isinstance(value, Neg):
        inner = value.operand
        if isinstance(inner, (ConstInt, ConstFloat)):
            value = -inner.value
    elif isinstance(value, (ConstInt, ConstFloat)):
        value = value.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{_HINT}, not {type(value).__name__}")
    if value == 0:
        return PadValue.zero
    if math.isinf(value):
        return PadValue.max if value > 0 else PadValue.min
    raise ValueError(f"{_HINT}, got {value!r}")
