//===- Mains.h - The command-line drivers that use MLIR -----------*- C++ -*-===//
//
// Called by pto-opt and pto-compile; implemented in the compiler library, which is shared with the Python module.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_TOOLS_MAINS_H
#define PTO_MLIR_TOOLS_MAINS_H

namespace pto_mlir {

/// pto-opt: runs any pass by name. Returns mlir-opt's exit code.
int ptoOptMain(int argc, char **argv);

/// pto-compile: compiles a .pto. Returns the exit code: 0, 1 (bad input) or 2 (wrong usage).
int ptoCompileMain(int argc, char **argv);

} // namespace pto_mlir

#endif // PTO_MLIR_TOOLS_MAINS_H
