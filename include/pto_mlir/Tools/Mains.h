//===- Mains.h - The command-line drivers that see MLIR -----------*- C++ -*-===//
//
// The programs pto-opt and pto-compile call these; the code lies in the compiler library, which they share with Python.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_TOOLS_MAINS_H
#define PTO_MLIR_TOOLS_MAINS_H

namespace pto_mlir {

/// pto-opt: runs any pass by its name. Returns the exit code (mlir-opt's).
int ptoOptMain(int argc, char **argv);

/// pto-compile: compiles a .pto. Returns the exit code: 0, 1 (bad input) or 2 (wrong usage).
int ptoCompileMain(int argc, char **argv);

} // namespace pto_mlir

#endif // PTO_MLIR_TOOLS_MAINS_H
