"""The PTO back end under today's names."""

import importlib

from pypto.language.parser.diagnostics.exceptions import PlacedError


class PartialCodegenError(PlacedError, RuntimeError):
    """A part of the program could not be compiled: an output that nothing writes, or kernels (`failed`: name -> reason)
    of an output tree, whose other files are in `files`."""

    def __init__(self, message, *place, files=None, failed=None, **keywords):
        super().__init__(message, *place, **keywords)
        self.files, self.failed = files or {}, failed or {}


def generate(program, output_dir, skip_ptoas=False, *, today=True, **others) -> dict:
    """pypto.ir.pto_codegen.generate with an orchestration in today's calls."""
    from pypto.ir import pto_codegen

    return pto_codegen.generate(program, output_dir, skip_ptoas, today=today, **others)


_NAMES = ("_run_ptoas", "_preprocess_ptoas_output", "_generate_arg_unpacking", "_generate_kernel_wrapper")


def __getattr__(name):
    if name in _NAMES:
        return getattr(importlib.import_module("pypto.ir.pto_codegen"), name)
    raise AttributeError(f"module 'pypto.backend.pto_backend' has no attribute {name!r}")
