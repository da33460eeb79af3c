"""Tensors of torch (or numpy) as arguments of tasks."""

from pypto.jit.arguments import Buffer, read


def make_tensor_arg(worker, tensor) -> Buffer:
    """The memory of a tensor as an argument; it must live until the task has run. TypeError for what is none,
    ValueError for a tensor of another worker."""
    worker._check_owner([tensor])
    held = read("make_tensor_arg", tensor)
    if not isinstance(held, Buffer):
        raise TypeError(f"make_tensor_arg: expects a tensor, not {type(tensor).__name__}")
    return held
