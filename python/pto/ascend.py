"""Kernels as C++ with the uniform ABI: one pointer to 64-bit words, first the tensors' addresses, then the scalar arguments (their
bits), last the number of elements of the first tensor. The same text compiles for a core and, with the markers defined away, for
the host."""

from __future__ import annotations

import math

import pto_as
from pto_as import Kernel, Op, PTOError, Repeat

_TYPES = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t"}
_PRELUDE = """\
// Generated from PTO-AS.
#include <cmath>
#include <cstdint>
#include <cstring>
#ifndef __CCE_KT_TEST__
#ifndef __aicore__
#define __aicore__
#define __gm__
#endif
#endif

namespace {
template <class T> T from_word(int64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}
} // namespace
"""
_ELEMENT = {
    "tile_copy": "{0}",
    "tile_exp": "std::exp({0})",
    "tile_sqrt": "std::sqrt({0})",
    "tile_neg": "-{0}",
    "tile_abs": "({0} < 0 ? -{0} : {0})",
    "tile_relu": "({0} > 0 ? {0} : 0)",
    "tile_expands": "{0}",
    "tile_add": "{0} + {1}",
    "tile_sub": "{0} - {1}",
    "tile_mul": "{0} * {1}",
    "tile_div": "{0} / {1}",
    "tile_max": "({0} > {1} ? {0} : {1})",
    "tile_min": "({0} < {1} ? {0} : {1})",
}


def generate_ascend_code(source) -> str:
    """C++ of a kernel, of several, of a PTO builder or of PTO-AS text."""
    if hasattr(source, "kernel"):
        source = source.kernel()
    if isinstance(source, str):
        source = pto_as.parse(source)
    kernels = [source] if isinstance(source, Kernel) else list(source)
    if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
        raise PTOError("there is no kernel to generate code for")
    return _PRELUDE + "".join("\n" + _kernel(kernel) for kernel in kernels)


# Names that a C++ function cannot have; the variables have a prefix.
_RESERVED = set(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const constexpr
    continue decltype default delete do double else enum explicit export extern false float for friend goto if inline int long main
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register requires return short
    signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned using virtual void
    volatile while xor xor_eq""".split()
)


def _kernel(kernel: Kernel) -> str:
    if kernel.name in _RESERVED or kernel.name.startswith("__"):
        raise PTOError(f"'{kernel.name}' cannot name a function in C++")
    lines = [f'extern "C" __aicore__ void {kernel.name}(__gm__ int64_t *args) {{']
    arguments = kernel.arguments()
    for value in kernel.values:
        ctype = _TYPES[value.dtype]
        if value.kind == "tensor":
            lines.append(
                f"  auto *v_{value.name} = reinterpret_cast<__gm__ {ctype} *>(args[{arguments.index(value)}]);"
            )
        elif value.kind == "tile":
            # Static per thread: a core has one local memory and runs one kernel at a time.
            lines.append(f"  static thread_local {ctype} v_{value.name}[{math.prod(value.shape)}];")
        elif value.value is None:
            lines.append(f"  const {ctype} v_{value.name} = from_word<{ctype}>(args[{arguments.index(value)}]);")
        else:
            lines.append(f"  const {ctype} v_{value.name} = {_literal(value)};")
    lines.append("  (void)args;")
    _body(kernel.body, "  ", lines, 0)
    return "\n".join(lines) + "\n}\n"


def _literal(value: pto_as.Value) -> str:
    if value.dtype[0] == "i":
        return f"{_TYPES[value.dtype]}({value.value}ll)"
    if not math.isfinite(value.value):
        return "NAN" if math.isnan(value.value) else "INFINITY" if value.value > 0 else "-INFINITY"
    return f"{_TYPES[value.dtype]}({float(value.value).hex()})"


def _body(body: list, indent: str, lines: list[str], depth: int) -> None:
    for item in body:
        if isinstance(item, Repeat):
            lines.append(f"{indent}for (int r{depth} = 0; r{depth} < {item.count}; ++r{depth}) {{")
            _body(item.body, indent + "  ", lines, depth + 1)
            lines.append(indent + "}")
        else:
            lines += [indent + line for line in _op(item)]


def _op(op: Op) -> list[str]:
    dst, *sources = op.operands
    ctype = _TYPES[dst.dtype]
    if op.name.startswith("tile_matmul"):
        m, k, n = sources[0].shape[0], sources[0].shape[1], sources[1].shape[1]
        a, b, c = (f"v_{value.name}" for value in (*sources, dst))
        start = f"{c}[i * {n} + j]" if op.name.endswith("acc") else "0"
        return [
            f"for (int64_t i = 0; i < {m}; ++i)",
            f"  for (int64_t j = 0; j < {n}; ++j) {{",
            f"    {ctype} sum = {start};",
            f"    for (int64_t k = 0; k < {k}; ++k)",
            f"      sum += {a}[i * {k} + k] * {b}[k * {n} + j];",
            f"    {c}[i * {n} + j] = sum;",
            "  }",
        ]
    name = op.name if op.name in _ELEMENT else op.name[:-1]  # tile_adds computes as tile_add
    terms = [f"v_{source.name}" + ("" if source.kind == "scalar" else "[i]") for source in sources]
    return [
        f"for (int64_t i = 0; i < {math.prod(dst.shape)}; ++i)",
        f"  v_{dst.name}[i] = {_ELEMENT[name].format(*terms)};",
    ]
