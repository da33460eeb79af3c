// Compiles .pto to planned .pto, to C++ or to a .pmodel of kernels: the library behind pto-compile.
#ifndef PTO_MLIR_COMPILER_COMPILEPTO_H
#define PTO_MLIR_COMPILER_COMPILEPTO_H

#include "pto_mlir/Compiler/Compiler.h"

#include <map>

namespace pto_mlir {

/// Options of compileProgram, as those of pto-compile.
struct ProgramOptions {
  std::string input;              // .pto
  std::string output;             // .pto, .mlir, .cpp or .pmodel
  std::string processor;          // a row of the instruction table; empty: what the text says, else the default one
  unsigned level = 2;             // 1, 2: addresses are planned; 3: they are in the text
  unsigned blocks = 1;            // blocks of a launch, kept in the .pmodel
  bool insertSync = true;         // flags for functions without any
  std::string cppStyle = "today"; // of .cpp: "today" or "seed"
  bool cppPlaces = false;         // .cpp says from which line of the text a statement comes
  bool cppPrints = false;         // .cpp prints each tile after the op that writes it
  bool cppProfile = false;        // .cpp reads the clock around each op
  bool cppHints = false;          // .cpp asks for short loops to be unrolled
  bool cppOptimise = false;       // of .cpp: fold constants, drop what nobody uses, compute what is equal once
  std::map<std::string, int64_t> sizes; // of PyPTO: extents that the program leaves to the run, by name
  unsigned ranks = 1;                   // of PyPTO: devices that a program of the host level runs on
  bool relaxed = false;                 // read the older spelling, too (pto::acceptRelaxedText)
};

/// Numbers of a compiled program, for reports.
struct ProgramSummary {
  int64_t kernels = 0, streams = 0, commandBytes = 0;
};

/// Compiles `input` to `output`. Nullopt on failure, with `errors`; then nothing is written.
std::optional<ProgramSummary> compileProgram(const ProgramOptions &options, Errors &errors);

} // namespace pto_mlir

#endif
