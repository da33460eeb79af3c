// Kernel arguments on pto-run's command line.
#ifndef PTO_MLIR_TOOLS_PTO_RUN_ARGUMENTS_H
#define PTO_MLIR_TOOLS_PTO_RUN_ARGUMENTS_H

#include "pto_mlir/Runtime/Npy.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir {

/// The option of an argument.
enum class ArgumentRole { In, Out, InOut };

/// One argument of the kernel: a scalar, or a buffer with its input and output files.
struct Argument {
  ArgumentRole role = ArgumentRole::In;
  bool isScalar = false;
  int64_t scalar = 0;
  std::string source;      // .npy with the initial contents; empty: zeros
  std::string destination; // .npy that receives the result; empty: none
  bool typed = false;      // whether the option gave the type and shape of `array`
  runtime::NpyArray array;
};

/// Parses the value of one option: `--arg FILE|NUMBER`, `--out FILE[:TYPE]`, `--inout FILE[=RESULT]`. Opens no file.
Result<Argument> parseArgument(ArgumentRole role, const std::string &text);

/// Initialises the buffers: reads the sources, zeroes the outputs. An output without a type gets the type and shape of
/// the first buffer that is read.
Status loadArguments(std::vector<Argument> &arguments);

} // namespace pto_mlir

#endif
