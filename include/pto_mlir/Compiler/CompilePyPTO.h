// Compiles programs in PyPTO's IR: what PyPTO's Python package calls.
#ifndef PTO_MLIR_COMPILER_COMPILEPYPTO_H
#define PTO_MLIR_COMPILER_COMPILEPYPTO_H

#include "pto_mlir/Compiler/CompilePTO.h"

namespace pto_mlir {

/// The kernels of a program as `.pto`. `program` are the bytes of pypto::ir::serialize, which are not trusted. `seed`:
/// laid out and spelt as the first PTOCodegen did, else as the public assembler prints it. `slots`: those of one
/// allocation stay one (PyPTOOptions::slots), and must be some that the assembler guards (CheckSlotRegions).
/// `processor` may be empty: the default one, which the text does not name. Nullopt on failure, with one line in
/// `errors` that begins with the place in the source.
std::optional<std::string> printPyPTO(const std::string &program, bool seed, bool slots, const std::string &processor,
                                      Errors &errors);

/// One of its functions (bytes of a function) as C++; the options are fields of pypto::codegen::CodeGeneratorOptions,
/// as "places,profiling". Errors as above.
std::optional<std::string> printPyPTOCpp(const std::string &function, const std::string &options,
                                         const std::string &processor, Errors &errors);

/// An orchestrator as C++ (pypto::codegen::GenerateOrchestration).
struct PyPTOOrchestration {
  std::string code;
  std::vector<std::string> kernels; ///< by the numbers that the C++ calls them by
  std::vector<bool> isCube;
  std::vector<bool> withQueues; ///< whether a task has memory for queues behind its tensors
  std::string program;          ///< bytes of a program of these kernels
  std::string returned;         ///< bytes of a function whose parameters are the arguments behind the orchestrator's
  std::vector<std::string> extents; ///< variables of extents: arguments behind all others in the calls of March 2026
};

/// The orchestrator `function` of a program; `today`: in today's calls, else those of March 2026. Errors as above.
std::optional<PyPTOOrchestration> orchestratePyPTO(const std::string &program, const std::string &function, bool today,
                                                   const std::string &processor, Errors &errors);

/// The bytes of a program with scopes of both kinds of core as groups, where they are one task (formPyPTOGroups).
/// Errors as above.
std::optional<std::string> formPyPTO(const std::string &program, const std::string &processor, Errors &errors);

/// The bytes of a program as its kernels are compiled (expandPyPTO). Errors as above.
std::optional<std::string> expandPyPTOProgram(const std::string &program, const std::string &processor, Errors &errors);

/// The same step by step: (pass, bytes of the program behind it), to where it fails; `errors` then say why. The last
/// one has the kernels alone, as they are raised from `pto` once their tiles have addresses; one that has no such form
/// is left out.
std::vector<std::pair<std::string, std::string>> tracePyPTO(const std::string &program, const std::string &processor,
                                                            Errors &errors);

/// Compiles the kernels of such a program to `options.output`, a `.pto` or `.pmodel`; `options.input` is its name in
/// messages. Nullopt on failure, with `errors`; then nothing is written.
std::optional<ProgramSummary> compilePyPTO(const std::string &program, const ProgramOptions &options, Errors &errors);

/// What the host program of such a program launches, as JSON (listPyPTOLaunches). `options`: its processor, sizes and
/// ranks.
std::optional<std::string> listPyPTO(const std::string &program, const ProgramOptions &options, Errors &errors);

} // namespace pto_mlir

#endif
