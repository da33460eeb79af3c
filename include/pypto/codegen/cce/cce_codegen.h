// Programs as files of C++: the generator's name and call of March 2026.
#ifndef PYPTO_CODEGEN_CCE_CCE_CODEGEN_H
#define PYPTO_CODEGEN_CCE_CCE_CODEGEN_H

#include "pypto/codegen/code_generator.h"

namespace pypto::codegen {

/// The kernels of a program by the paths of their files: "kernels/aiv/NAME.cpp", of the cube core
/// "kernels/aic/NAME.cpp". Orchestrators are none (GenerateOrchestration).
std::map<std::string, ir::FunctionPtr> KernelFiles(const ir::ProgramPtr &program);

class CCECodegen {
public:
  explicit CCECodegen(const backend::Backend *backend = nullptr) : generator_({}, backend) {}

  /// KernelFiles as text.
  std::map<std::string, std::string> Generate(const ir::ProgramPtr &program) const;

private:
  CodeGenerator generator_;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_CCE_CCE_CODEGEN_H
