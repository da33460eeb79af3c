"""PyPTO programs: a Python DSL for tile kernels, held as an IR that is built, printed, compared and compiled."""

from pypto.pypto_core import DataType, InternalError, LogLevel, get_log_level, passes, set_log_level

__version__ = "0.1.0+pto_mlir"

DT_FP16 = DataType.FP16
DT_BF16 = DataType.BF16
DT_FP32 = DataType.FP32
DT_INT8 = DataType.INT8
DT_INT16 = DataType.INT16
DT_INT32 = DataType.INT32
DT_INT64 = DataType.INT64
DT_UINT8 = DataType.UINT8
DT_BOOL = DataType.BOOL


def _part_of_passes(name):
    if name == "l0_tile_chooser":
        import importlib

        return importlib.import_module("pypto.l0_tile_chooser")
    raise AttributeError(f"module 'pypto.pypto_core.passes' has no attribute {name!r}")


passes.__getattr__ = _part_of_passes
_PARTS = ("backend", "codegen", "ir", "language", "runtime")


def __getattr__(name):
    if name in _PARTS:  # loaded when they are needed
        import importlib

        return importlib.import_module(f"pypto.{name}")
    raise AttributeError(f"module 'pypto' has no attribute {name!r}")


__all__ = ["DataType", "InternalError", "LogLevel", "__version__", "get_log_level", "passes", "set_log_level"]
