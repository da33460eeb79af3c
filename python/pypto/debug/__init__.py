"""Programs as PyTorch source, to look at what they compute."""

from pypto.debug.torch_codegen import torch_codegen

__all__ = ["torch_codegen"]
