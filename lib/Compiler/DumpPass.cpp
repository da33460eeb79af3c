#include "DumpPass.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace pto_mlir {
namespace {

struct DumpPass : PassWrapper<DumpPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DumpPass)
  explicit DumpPass(std::string file) : file(std::move(file)) {}
  StringRef getName() const override { return "dump"; }
  void runOnOperation() override {
    std::error_code problem;
    llvm::ToolOutputFile output(file, problem, llvm::sys::fs::OF_None);
    if (problem) {
      getOperation().emitError() << file << ": " << problem.message();
      return signalPassFailure();
    }
    OpPrintingFlags flags;
    flags.elideLargeElementsAttrs();
    getOperation().print(output.os(), flags);
    output.keep();
  }
  std::string file;
};

} // namespace

std::unique_ptr<Pass> createDump(std::string file) { return std::make_unique<DumpPass>(std::move(file)); }

} // namespace pto_mlir
