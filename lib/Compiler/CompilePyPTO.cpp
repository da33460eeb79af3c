// PyPTO's IR to .pto text or to a .pmodel of kernels.
#include "pto_mlir/Compiler/CompilePyPTO.h"

#include "CompileModule.h"
#include "Diagnostics.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "pto_mlir/Target/PTOText/PTOText.h"
#include "pypto/codegen/pto/pto_codegen.h"
#include "pypto/core/error.h"
#include "pypto/ir/serialize.h"

using namespace mlir;

namespace pto_mlir {
namespace {

pypto::ir::ProgramPtr readProgram(const std::string &bytes) {
  auto program = pypto::ir::As<pypto::ir::Program>(pypto::ir::deserialize(bytes));
  CHECK(program) << "the bytes hold no program";
  return program;
}

/// What `body` gives; nothing and its error in `errors` where it throws.
template <class F> auto collect(Errors &errors, F &&body) -> std::optional<decltype(body())> {
  try {
    return body();
  } catch (const std::exception &error) {
    errors.emplace_back(error.what());
    return std::nullopt;
  }
}

} // namespace

std::optional<std::string> printPyPTO(const std::string &program, bool seed, Errors &errors) {
  return collect(errors, [&] {
    if (seed)
      return pypto::codegen::PTOCodegen().Generate(readProgram(program));
    MLIRContext context(MLIRContext::Threading::DISABLED);
    OwningOpRef<ModuleOp> module = lowerPyPTO(context, readProgram(program));
    std::string text;
    llvm::raw_string_ostream stream(text);
    ptotext::print(*module, stream);
    return text;
  });
}

std::optional<ProgramSummary> compilePyPTO(const std::string &program, const ProgramOptions &options, Errors &errors) {
  const pto::Target *arch = options.processor.empty() ? &pto::defaultTarget() : pto::findTarget(options.processor);
  if (!arch) {
    errors.push_back("unknown processor " + options.processor + ": one of " + pto::targetNames());
    return std::nullopt;
  }
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  auto module = collect(errors, [&] { return lowerPyPTOProgram(context, readProgram(program), {true, arch}); });
  if (!module)
    return std::nullopt;
  DiagnosticCollector collector(&context, errors);
  std::optional<ProgramSummary> summary =
      compileModule(*module->kernels, options, arch->name, errors, module->host ? *module->host : ModuleOp());
  if (!summary && errors.empty())
    errors.emplace_back("the compiler failed without a message");
  return summary;
}

} // namespace pto_mlir
