//===- PrintCommands.cpp - pto-print-commands -----------------------------===//

#include "pto_mlir/Backend/Codegen.h"
#include "pto_mlir/Backend/CodegenOpInterface.h"
#include "pto_mlir/Backend/Passes.h"
#include "pto_mlir/ISA/Table.h"

#define DEBUG_TYPE "pto-print-commands"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::backend {

#define GEN_PASS_DEF_PTOPRINTCOMMANDS
#include "pto_mlir/Backend/Passes.h.inc"

namespace {

struct PrintCommands : impl::PTOPrintCommandsBase<PrintCommands> {
  using PTOPrintCommandsBase::PTOPrintCommandsBase;

  void getDependentDialects(mlir::DialectRegistry &registry) const override { registerCodegenInterfaces(registry); }

  void runOnOperation() override {
    LoadResult loaded = Backend::instance().load(processor.getValue());
    if (!loaded.processor) {
      getOperation().emitError(loaded.error);
      return signalPassFailure();
    }
    for (mlir::ModuleOp kernel : slicedKernels(getOperation())) {
      auto streams = generateKernel(kernel, *loaded.processor, {/*text=*/true, /*sources=*/false});
      if (failed(streams))
        return signalPassFailure();
      PTO_DEBUG("@" << streams->name << ": " << streams->streams.size() << " streams");
      print(*streams);
    }
  }

  static void print(const KernelStreams &kernel) {
    llvm::raw_ostream &out = llvm::outs();
    out << "kernel @" << kernel.name << ": " << kernel.numArgs << " arguments, " << kernel.numEvents << " events";
    for (const LocalMemoryUse &use : kernel.localMemory)
      out << ", " << isa::kMemoryNames[unsigned(use.memory)] << " " << use.bytes;
    out << "\n";
    for (const EngineStream &stream : kernel.streams)
      out << isa::kCoreKindNames[unsigned(stream.core)] << " " << isa::pipeName(stream.pipe) << ": "
          << stream.numCommands << " commands, " << stream.words.size() << " words\n"
          << stream.text;
  }
};

} // namespace

} // namespace pto_mlir::backend
