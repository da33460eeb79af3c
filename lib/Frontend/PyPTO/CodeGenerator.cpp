// Functions as C++: the lowering with the program's names, then the emitter of C++.
#include "pypto/codegen/code_generator.h"

#include "Types.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pto_mlir/Target/Cpp/Cpp.h"
#include "pypto/backend/common/backend.h"
#include "pypto/codegen/cce/cce_codegen.h"

using namespace mlir;

namespace pypto::codegen {

std::string CodeGenerator::Generate(const ir::FunctionPtr &func) const {
  CHECK(func) << "code generation needs a function";
  const pto_mlir::pto::Target *target = nullptr;
  if (backend_ && !backend_->GetProcessor().empty()) {
    target = pto_mlir::pto::findTarget(backend_->GetProcessor());
    CHECK(target) << "unknown processor " << backend_->GetProcessor() << ": one of " << pto_mlir::pto::targetNames();
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  pto_mlir::PyPTOOptions options;
  options.target = target;
  options.names = true;
  options.backend = backend_;
  auto program = std::make_shared<const ir::Program>(std::vector{WithOutputParameters(func)}, func->name_, func->span_);
  auto module = pto_mlir::lowerPyPTO(context, program, options);
  pto_mlir::pypto_frontend::FirstError error(context);
  std::string text;
  llvm::raw_string_ostream stream(text);
  pto_mlir::cpp::Options cpp;
  cpp.style = options_.today ? pto_mlir::cpp::Style::Today : pto_mlir::cpp::Style::Seed;
  cpp.places = options_.places;
  cpp.debugPrints = options_.debugPrints;
  cpp.profiling = options_.profiling;
  cpp.hints = options_.hints;
  PassManager pm(&context);
  if (options_.optimise) {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  }
  if (options_.plan)
    pm.addPass(pto_mlir::pto::createPTOPlanLocalMemory());
  if (failed(pm.run(*module)) || failed(pto_mlir::cpp::print(*module, cpp, stream)))
    error.raise();
  return text;
}

std::map<std::string, std::string> CCECodegen::Generate(const ir::ProgramPtr &program) const {
  std::map<std::string, std::string> files;
  for (const auto &[path, function] : KernelFiles(program))
    files[path] = generator_.Generate(function);
  return files;
}

} // namespace pypto::codegen
