#include "ToBytecode.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "pto_mlir/Dialect/VM/Transforms/ProgramText.h"
#include "pto_mlir/Support/MLIRText.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pto_mlir {

static int usage(const llvm::Twine &reason) {
  llvm::errs() << "pto-opt: error: " << reason << "\n";
  return 2;
}

bool wantsBytecode(int argc, char **argv) { return argc > 1 && llvm::StringRef(argv[1]) == "--vm-to-bytecode"; }

int runToBytecode(int argc, char **argv, DialectRegistry &registry) {
  std::string input, passes;
  vm::ProgramTextOptions options;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (arg == "--reuse-slots" || arg == "--locations") {
      (arg == "--locations" ? options.locations : options.reuseSlots) = true;
      continue;
    }
    bool known = arg == "--vm-to-bytecode" || arg == "--target" || arg == "--passes";
    if (!known || i + 1 == argc)
      return usage((known ? "no value for " : "unknown option ") + arg);
    (arg == "--target" ? options.target : arg == "--passes" ? passes : input) = argv[++i];
  }
  std::string error;
  auto file = openInputFile(input, &error);
  if (!file) {
    llvm::errs() << "pto-opt: error: " << error << "\n";
    return 1;
  }
  if (error = textProblem(file->getBuffer()); !error.empty()) {
    llvm::errs() << "pto-opt: error: " << input << ": " << error << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  MLIRContext context(registry);
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return 1;
  PassManager manager(&context);
  if (failed(parsePassPipeline(passes, manager, llvm::errs())))
    return 2;
  if (failed(manager.run(*module)))
    return 1;
  auto text = vm::programText(*module, options);
  if (!text)
    return 1;
  llvm::outs() << *text;
  return 0;
}

} // namespace pto_mlir
