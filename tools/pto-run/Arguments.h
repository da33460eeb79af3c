// The arguments of a kernel as pto-run's command line gives them.
#ifndef PTO_MLIR_TOOLS_PTO_RUN_ARGUMENTS_H
#define PTO_MLIR_TOOLS_PTO_RUN_ARGUMENTS_H

#include "pto_mlir/Runtime/Npy.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir {

/// The option that gave an argument.
enum class ArgumentRole { In, Out, InOut };

/// One argument of the kernel: a scalar, or a buffer with the file that its contents are read from or written to.
struct Argument {
  ArgumentRole role = ArgumentRole::In;
  bool isScalar = false;
  int64_t scalar = 0;
  std::string source;      // .npy that the buffer begins as; empty: zeros
  std::string destination; // .npy that the kernel's result goes to; empty: none
  bool typed = false;      // whether `array` has the type and shape that the option named
  runtime::NpyArray array;
};

/// Reads the text of one option: `--arg FILE|NUMBER`, `--out FILE[:TYPE]`, `--inout FILE[=RESULT]`. Opens no file.
Result<Argument> parseArgument(ArgumentRole role, const std::string &text);

/// Fills the buffers: reads the sources, zeroes the outputs. An output without a type is like the first buffer that is
/// read.
Status loadArguments(std::vector<Argument> &arguments);

} // namespace pto_mlir

#endif
