// Kernels of users in .pto files.
#include "pto_mlir/Compiler/KernelBodies.h"

#include "Diagnostics.h"
#include "KernelTexts.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"
#include "mlir/Support/FileUtilities.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/ReadText.h"
#include "pto_mlir/Support/MLIRText.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace pto_mlir {
namespace {

KernelTensor tensorOf(RankedTensorType type) { return {debugString(type.getElementType()), type.getShape().vec()}; }

/// Checks the attributes of a kernel of an operator; an error otherwise.
FailureOr<TextKernel> readSignature(func::FuncOp func) {
  auto name = func->getAttrOfType<StringAttr>(kOpAttr);
  auto typed = func->getAttrOfType<TypeAttr>(kOpTypesAttr);
  auto types = typed ? dyn_cast<FunctionType>(typed.getValue()) : FunctionType();
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  if (!name || !types || !llvm::all_of(types.getInputs(), isStatic) || !llvm::all_of(types.getResults(), isStatic))
    return func.emitError("expects ") << kOpAttr << " = \"DOMAIN::OPERATOR\" and " << kOpTypesAttr
                                      << " = (tensor<..>) -> tensor<..>";
  SmallVector<Type> tensors(types.getInputs());
  llvm::append_range(tensors, types.getResults());
  bool fits = tensors.size() == func.getNumArguments();
  for (unsigned i = 0; fits && i < tensors.size(); ++i) {
    auto pointer = dyn_cast<pto::PtrType>(func.getArgumentTypes()[i]);
    fits = pointer && pointer.getElementType() == getElementTypeOrSelf(tensors[i]);
  }
  if (!fits)
    return func.emitError("expects a pointer for each operand and result of ")
           << types << ", takes " << func.getFunctionType();
  TextKernel kernel{name.str(), {}, {}};
  for (Type type : types.getInputs())
    kernel.inputs.push_back(tensorOf(cast<RankedTensorType>(type)));
  for (Type type : types.getResults())
    kernel.kernel.results.push_back(tensorOf(cast<RankedTensorType>(type)));
  return kernel;
}

/// Adds the bodies for `target`; false after an error.
bool readFor(const pto::Target &target, const std::string &file, StringRef text, std::vector<TextKernel> &kernels,
             Errors &errors) {
  DialectRegistry registry = registryFor(target);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  DiagnosticCollector collector(&context, errors);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, file), SMLoc());
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    return false;
  (*module)->setAttr(pto::kTargetArchAttr, StringAttr::get(&context, target.name));
  if (failed(verify(*module)))
    return false;
  std::vector<std::pair<TextKernel, std::string>> read;
  for (auto func : module->getOps<func::FuncOp>()) {
    if (!func->hasAttr(kOpAttr))
      continue;
    FailureOr<TextKernel> kernel = readSignature(func);
    if (failed(kernel))
      return false;
    read.emplace_back(std::move(*kernel), func.getSymName().str());
  }
  if (!lowerToFunctions(*module))
    return false;
  for (auto &[kernel, symbol] : read) {
    auto known = llvm::find_if(
        kernels, [&](const TextKernel &other) { return other.name == kernel.name && other.inputs == kernel.inputs; });
    if (known == kernels.end()) {
      kernel.kernel.steps.resize(1);
      for (size_t i = 0; i < kernel.inputs.size() + kernel.kernel.results.size(); ++i)
        (i < kernel.inputs.size() ? kernel.kernel.steps[0].reads : kernel.kernel.steps[0].writes).push_back(int64_t(i));
      known = kernels.insert(known, kernel);
    }
    KernelStep &step = known->kernel.steps[0];
    KernelBody body{printKernel(*module, symbol), step.reads, {}, {}};
    llvm::append_range(body.pointers, step.writes);
    body.offsets.assign(body.pointers.size(), 0);
    if (!step.bodies.emplace(target.name, std::move(body)).second) {
      errors.push_back(file + ": has two kernels for " + kernel.name + " with the same types");
      return false;
    }
  }
  return true;
}

} // namespace

std::optional<std::vector<TextKernel>> readTextKernels(const std::string &file, Errors &errors) {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(file, &problem);
  if (input)
    problem = textProblem(input->getBuffer());
  if (!problem.empty()) {
    errors.push_back(file + ": " + problem);
    return std::nullopt;
  }
  std::vector<TextKernel> kernels;
  bool isBound = input->getBuffer().contains(pto::kTargetArchAttr);
  Errors problems;
  for (const pto::Target &target : pto::allTargets()) {
    if (isBound ? &target != &pto::targetOfText(input->getBuffer()) : target.testOnly)
      continue;
    Errors found;
    if (!readFor(target, file, input->getBuffer(), kernels, found))
      llvm::append_range(problems, found);
  }
  if (!kernels.empty())
    return kernels;
  if (problems.empty())
    problems.push_back(file + ": has no function with " + kOpAttr.str() + " = \"DOMAIN::OPERATOR\"");
  // Several targets may say the same.
  for (std::string &line : problems)
    if (line = line.find(file) == std::string::npos ? file + ": " + line : line; !llvm::is_contained(errors, line))
      errors.push_back(line);
  return std::nullopt;
}

} // namespace pto_mlir
