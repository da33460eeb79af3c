"""Kernels as files: .pto text, or a .pmodel by pto-compile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pto_as import Kernel, PTOError

from .emit import emit_module


def write_kernels(kernels: list[Kernel], path: str | os.PathLike, processor: str = "a3") -> Path:
    """Writes kernels as one file, X.pto or X.pmodel, for a3 or a5. The text compiles to what the .pmodel holds."""
    path = Path(path)
    name = kernels[0].name
    if path.suffix not in (".pmodel", ".pto"):
        raise PTOError(f"@{name}: compiles to a .pmodel or a .pto, got {path.name}")
    if not path.parent.is_dir():
        raise PTOError(f"@{name}: there is no folder {path.parent}")
    text = emit_module(kernels, processor)
    compile_text(text, name, path if path.suffix == ".pmodel" else None)
    if path.suffix == ".pto":
        path.write_text(text)
    return path


def compile_text(text: str, name: str, path: Path | None) -> None:
    """Compiles pto text to a .pmodel; without a path only to see that it compiles."""
    from pto_mlir.errors import UserError
    from pto_mlir.tools.native import program_output

    with tempfile.TemporaryDirectory(prefix="pto_kernel_") as folder:
        source = Path(folder) / f"{name}.pto"
        source.write_text(text)
        try:
            program_output("pto-compile", [str(source), "-o", str(path or source.with_suffix(".pmodel"))])
        except UserError as error:
            reason = str(error).removeprefix("pto-compile: error: ").replace(f"{folder}/", "")
            raise PTOError(f"@{name}: {reason}") from None
