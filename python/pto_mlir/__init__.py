"""PTO-MLIR: ONNX models and tile programs to the PTO tile ISA, and a simulator to run them."""

__version__ = "0.1.0"
