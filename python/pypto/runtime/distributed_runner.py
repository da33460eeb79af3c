"""What the Python of a host level calls: launches on a device, and what SubWorkers get, as tensors."""


def _submit_chip(orch, function, args, config, worker):
    """A launch on that device; on device 0 where none is said."""
    return orch.submit_next_level(function, args, config, worker=0 if worker is None else worker)


def _tensor_from_continuous(view):
    """The tensor of torch on the memory of an argument of a SubWorker."""
    import torch

    from pypto.jit.arguments import array_type

    kind = getattr(torch, array_type(view.dtype.name))
    return torch.frombuffer(view.data.reshape(-1).view("uint8"), dtype=kind).reshape(view.shape)
