// Kernels as C++ of the ISA's library.
#ifndef PYPTO_CODEGEN_CODE_GENERATOR_H
#define PYPTO_CODEGEN_CODE_GENERATOR_H

#include "pypto/ir/program.h"

#include <map>
#include <string>

namespace pypto::backend {
class Backend;
}

namespace pypto::codegen {

/// How the C++ is written; what it means is the same but for what these options add.
struct CodeGeneratorOptions {
  bool today = false;       ///< in the order and the types of the public assembler, not of the seeds
  bool places = false;      ///< say before each statement from which line of the program it comes
  bool plan = false;        ///< give addresses to tiles whose MemRefs say none
  bool optimise = false;    ///< fold constants, drop what nobody uses, compute what is equal once
  bool debugPrints = false; ///< print each tile after the operation that writes it
  bool profiling = false;   ///< read the clock around each operation
  bool hints = false;       ///< ask for short loops of known length to be unrolled
};

/// The function with the tensors that it stores to and that nothing binds as further parameters.
ir::FunctionPtr WithOutputParameters(const ir::FunctionPtr &func);

/// The C++ of one function, which is not modified: prologue, body, epilogue, in the layout of the seeds. The emitter is
/// Target/Cpp. Flags and barriers are those of the program. A tile lies where its MemRef says; without an address it is
/// declared only.
class CodeGenerator {
public:
  explicit CodeGenerator(CodeGeneratorOptions options = {}, const backend::Backend *backend = nullptr)
      : options_(options), backend_(backend) {}

  /// A tensor that is stored to and is no parameter is the next argument after them. ValueError, with its place, for
  /// what a kernel may not hold and for what has no C++.
  std::string Generate(const ir::FunctionPtr &func) const;

private:
  CodeGeneratorOptions options_;
  const backend::Backend *backend_;
};

/// The name of January 2026.
using CceCodegen = CodeGenerator;

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_CODE_GENERATOR_H
