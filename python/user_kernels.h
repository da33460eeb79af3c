// Kernels of users, between Python and the compiler.
#ifndef PTO_MLIR_PYTHON_USER_KERNELS_H
#define PTO_MLIR_PYTHON_USER_KERNELS_H

#include "pto_mlir/Compiler/KernelBodies.h"
#include "pto_mlir/Support/Utf8.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>

struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const pto_mlir::Errors &errors) {
  std::string text;
  for (const std::string &line : errors)
    text += (text.empty() ? "" : "\n  ") + line;
  // Errors may quote names of the model that are not UTF-8, which Python strings must be.
  throw CompileError(text.empty() ? "failed without a message" : pto_mlir::escapeNonUtf8(text));
}

/// `find` is a Python function of name, inputs and attributes, which gives the kernel as kernel_of_program does;
/// what it raises is the reason why there is none.
pto_mlir::UserKernels kernelsOf(const std::set<std::string> &names, nanobind::object find);

/// read_text_kernels and kernel_of_program.
void defineKernels(nanobind::module_ &m);

#endif // PTO_MLIR_PYTHON_USER_KERNELS_H
