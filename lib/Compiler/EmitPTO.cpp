// Writes the kernels of a model as .pto files.
#include "EmitPTO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Target/PTOText/PTOText.h"

using namespace mlir;

namespace pto_mlir {
namespace {

struct EmitPTO : PassWrapper<EmitPTO, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitPTO)
  EmitPTO(EmitOptions options, EmitResult &result) : options(std::move(options)), result(&result) {}

  StringRef getName() const override { return "emit-pto"; }

  void runOnOperation() override {
    DenseMap<StringAttr, func::FuncOp> twins, partners;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (auto of = kernel->getAttrOfType<StringAttr>(kWindowsOfAttr))
        twins[of] = kernel;
      if (auto of = kernel->getAttrOfType<StringAttr>(pto::kPartOfAttr); of && of != kernel.getSymNameAttr())
        partners[of] = kernel;
    }
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      StringAttr name = kernel.getSymNameAttr(), of = kernel->getAttrOfType<StringAttr>(pto::kPartOfAttr);
      if (kernel->hasAttr(pto::kKernelKindAttr) && !kernel.isExternal() && !kernel->hasAttr(kWindowsOfAttr) &&
          (!of || of == name) && failed(emit({kernel, partners.lookup(name)}, twins.lookup(name))))
        return signalPassFailure();
    }
    // Twins are never launched.
    for (auto [of, twin] : twins)
      twin.erase();
  }

  /// Writes the kernel, or its twin when the reader does not support the kernel.
  LogicalResult emit(ptotext::Kernel kernel, func::FuncOp twin) {
    ptotext::Reader reader = options.exact ? ptotext::Reader::Compiler : ptotext::Reader::Assembler;
    StringRef name = kernel.main.getName();
    ptotext::Kernel chosen = kernel;
    std::string reason = whyNot(kernel, reader), rewritten;
    if (!reason.empty()) {
      chosen = {twin, nullptr};
      if (!twin || !whyNot(chosen, reader).empty()) {
        result->left.push_back((name + ": " + reason).str());
        return success();
      }
    }
    OwningOpRef<ModuleOp> file = makeModule(chosen, name, options.processor, reader, rewritten);
    if (!reason.empty() || !rewritten.empty())
      result->rewritten.push_back((name + ": " + (reason.empty() ? rewritten : reason)).str());
    for (auto func : file->getOps<func::FuncOp>())
      func->removeAttr(kWindowsOfAttr);
    std::string path = (options.folder + "/" + name + ".pto").str();
    if (std::string problem = ptotext::writeFile(*file, path); !problem.empty())
      return kernel.main.emitError() << path << ": " << problem;
    ++result->written;
    return success();
  }

  EmitOptions options;
  EmitResult *result;
};

} // namespace

std::unique_ptr<Pass> createEmitPTO(EmitOptions options, EmitResult &result) {
  return std::make_unique<EmitPTO>(std::move(options), result);
}

} // namespace pto_mlir
