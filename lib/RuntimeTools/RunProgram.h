// Runs a VM program given as text.
#ifndef PTO_MLIR_TOOLS_PTO_RUN_RUNPROGRAM_H
#define PTO_MLIR_TOOLS_PTO_RUN_RUNPROGRAM_H

#include "pto_mlir/Support/Result.h"

#include <string>
#include <vector>

namespace pto_mlir {

struct ProgramRun {
  std::string path;                   // .vm
  std::vector<std::string> arguments; // numbers, or .npy files
  std::vector<std::string> outputs;   // .npy files for the tensors among the results, in order
  bool trace = false;                 // print every instruction with its slots to stderr
  bool list = false;                  // print the ByteCodeModule instead of running it
};

/// Assembles and verifies the program and runs function 0 with the host kernels; prints the program's output, then its
/// results.
Status runProgram(const ProgramRun &run);

} // namespace pto_mlir

#endif
