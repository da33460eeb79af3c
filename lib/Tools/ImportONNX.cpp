#include "ImportONNX.h"

#include "mlir/IR/MLIRContext.h"
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pto_mlir {

static int usage(const llvm::Twine &reason) {
  llvm::errs() << "pto-opt: error: " << reason << "\n";
  return 2;
}

bool wantsImport(int argc, char **argv) { return argc > 1 && llvm::StringRef(argv[1]) == "--import-onnx"; }

int runImport(int argc, char **argv) {
  std::string model, output, error;
  bool locations = false;
  onnx::ImportOptions options;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (arg == "--print-locs") {
      locations = true;
      continue;
    }
    bool known = arg == "--import-onnx" || arg == "--input-shapes" || arg == "--output-names" || arg == "-o";
    if (!known || i + 1 == argc)
      return usage((known ? "no value for " : "unknown option ") + arg);
    llvm::StringRef value = argv[++i];
    if (arg == "--import-onnx") {
      model = value;
    } else if (arg == "-o") {
      output = value;
    } else if (arg == "--output-names") {
      for (llvm::StringRef name : llvm::split(value, ','))
        options.outputNames.push_back(name.str());
    } else {
      auto shapes = onnx::parseShapes(value, error);
      if (!shapes) {
        llvm::errs() << "pto-opt: error: --input-shapes: " << error << "\n";
        return 1;
      }
      options.inputShapes = *shapes;
    }
  }
  MLIRContext context;
  std::vector<std::string> errors;
  OwningOpRef<ModuleOp> module = onnx::importONNX(model, options, context, errors);
  if (module && !output.empty() && failed(top::writeTopModule(*module, output, error)))
    errors.push_back(error);
  for (const std::string &line : errors)
    llvm::errs() << "pto-opt: error: " << line << "\n";
  if (!module || !errors.empty())
    return 1;
  if (output.empty())
    module->print(llvm::outs(), locations ? OpPrintingFlags().enableDebugInfo() : OpPrintingFlags());
  return 0;
}

} // namespace pto_mlir
