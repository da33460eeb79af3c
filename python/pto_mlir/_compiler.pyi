"""The compiler (compiler.cpp). A problem is a CompileError with one line per problem."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Name, numpy type, shape, bytes.
_Tensor = tuple[str, str, list[int], bytes]
# Of a kernel's tensor: element type and shape.
_Shape = tuple[str, list[int]]
# Text, pointers, offsets, scalars.
_Body = tuple[str, list[int], list[int], list[int]]
# Results, slots, and of each launch bodies by processor, ports that it reads, ports that it writes.
_Kernel = tuple[list[_Shape], list[_Shape], list[tuple[dict[str, _Body], list[int], list[int]]]]

class CompileError(Exception): ...
class NotForThisCPU(CompileError): ...

def transform(
    model_file: str,
    model_name: str,
    input_shapes: Sequence[Sequence[int]],
    output_names: Sequence[str],
    mlir_file: str,
    preprocess: str,
    max_extent: int,
    sizes: Mapping[str, Sequence[int]],
    ranges: Mapping[str, tuple[int, int, int]],
    state: str,
    state_length: int,
    strict_f64: bool,
    input_values: Mapping[str, bytes],
    kernel_names: set[str],
    find_kernel: Callable[[str, list[_Shape], dict[str, Any]], _Kernel | None],
    /,
) -> dict: ...
def read_text_kernels(file: str, /) -> list[tuple[str, list[_Shape], _Kernel]]: ...
def kernel_of_program(program: bytes, processor: str, inputs: Sequence[str], outputs: Sequence[str], /) -> _Kernel: ...
def deploy(
    mlir_file: str,
    model_file: str,
    quantize: str,
    processor: str,
    num_core: int,
    debug: bool,
    dump_folder: str,
    emit_folder: str,
    emit_exact: bool,
    cost_remarks: bool,
    /,
) -> dict[str, Any]: ...
def supported_ops() -> list[tuple[str, int, int]]: ...
def version_nodes() -> int: ...
def describe(mlir_file: str, /) -> dict[str, Any]: ...
def processors() -> list[tuple[str, int, bool]]: ...
def lower_bound(
    processor: str,
    blocks: int,
    bytes_read: float,
    bytes_written: float,
    multiplications: float,
    wide: bool,
    operations: float,
    /,
) -> float: ...
def launch_seconds(processor: str, /) -> tuple[float, float]: ...

# `program` are the bytes of pypto.pypto_core.ir.serialize.
def print_pypto(program: bytes, seed: bool, processor: str = "") -> str: ...
def print_pypto_cpp(function: bytes, options: str = "", processor: str = "") -> str: ...
def orchestrate_pypto(
    program: bytes, function: str, today: bool = False, processor: str = ""
) -> tuple[str, list[str], list[bool], list[bool], bytes, bytes, list[str]]: ...
def form_pypto(program: bytes, processor: str = "") -> bytes: ...
def compile_pypto(
    program: bytes,
    output: str,
    processor: str = "",
    blocks: int = 1,
    sizes: Mapping[str, int] = ...,
    ranks: int = ...,
) -> None: ...
def expand_pypto(program: bytes, processor: str = "") -> bytes: ...
def trace_pypto(program: bytes, processor: str = "") -> list[tuple[str, bytes]]: ...
def list_pypto(program: bytes, processor: str = "", sizes: Mapping[str, int] = ..., ranks: int = 1) -> str: ...
def interpret(mlir_file: str, feed: Sequence[_Tensor], all_tensors: bool, /) -> list[_Tensor]: ...
