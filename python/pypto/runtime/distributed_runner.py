"""What SubWorkers get, as tensors."""


def _tensor_from_continuous(view):
    """The tensor of torch on the memory of an argument of a SubWorker."""
    import torch

    from pypto.jit.arguments import array_type

    kind = getattr(torch, array_type(view.dtype.name))
    return torch.frombuffer(view.data.reshape(-1).view("uint8"), dtype=kind).reshape(view.shape)
