"""Tensors of the host as arguments of tasks."""


def make_tensor_arg(worker, tensor):
    """What `simpler_setup.torch_interop` makes of it, asked for at each call."""
    from simpler_setup import torch_interop

    return torch_interop.make_tensor_arg(worker, tensor)
