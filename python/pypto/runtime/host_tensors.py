"""What the Python of a host level asks of torch, where that is not installed: zeros, and the types of elements."""

import numpy as np


class _Zeros(np.ndarray):
    def share_memory_(self):
        return self


def zeros(shape, dtype):
    return np.zeros(shape, dtype).view(_Zeros)


def __getattr__(name):
    """float32, int8, ..: numpy's."""
    return getattr(np, name)
