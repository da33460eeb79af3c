//===- Mains.h - The command-line drivers of the runtime ----------*- C++ -*-===//
//
// Called by pmodel_tool and pto-run; implemented in libpto_runtime.so, so that no program holds a copy of the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_RUNTIMETOOLS_MAINS_H
#define PTO_MLIR_RUNTIMETOOLS_MAINS_H

namespace pto_mlir {

/// pmodel_tool: inspects, verifies, combines and splits .pmodel files. Returns the exit code: 0, 1 (bad input) or 2
/// (wrong usage).
int pmodelToolMain(int argc, char **argv);

/// pto-run: runs one kernel of a .pmodel on .npy arguments, or a VM program. Returns the exit code: 0, 1 (bad input) or
/// 2 (wrong usage).
int ptoRunMain(int argc, char **argv);

} // namespace pto_mlir

#endif // PTO_MLIR_RUNTIMETOOLS_MAINS_H
