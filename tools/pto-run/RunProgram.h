// Runs a VM program from its text.
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
  bool trace = false;                 // every instruction with slots on stderr
  bool list = false;                  // print the ByteCodeModule instead of running it
};

/// Assembles, verifies and runs function 0 with the host's kernels; prints what the program prints, then its results.
Status runProgram(const ProgramRun &run);

} // namespace pto_mlir

#endif
