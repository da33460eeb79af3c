// pto-opt: runs any registered pass by name.
#include "ImportONNX.h"
#include "ToBytecode.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "pto_mlir/Dialect/DebugLog.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/ReadText.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "pto_mlir/Support/MLIRText.h"
#include "pto_mlir/Tools/Mains.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "pto-opt: error: " << message << "\n";
  return 1;
}

int pto_mlir::ptoOptMain(int argc, char **argv) {
  if (pto_mlir::wantsImport(argc, argv))
    return pto_mlir::runImport(argc, argv);
  llvm::InitLLVM init(argc, argv);
  static llvm::cl::opt<bool> relaxed(
      "relaxed-syntax", llvm::cl::desc("Also read no comma before strides, and a type behind each operand"));
  // Debian's LLVM, built without assertions, has no such option.
  static llvm::cl::list<std::string> debugOnly(
      "debug-only", llvm::cl::CommaSeparated, llvm::cl::value_desc("pass,pass"),
      llvm::cl::desc("Print the debug output of these passes"),
      llvm::cl::callback([](const std::string &pass) { pto_mlir::debuggedPasses.push_back(pass); }));
  DialectRegistry registry;
  pto_mlir::registerDialects(registry);
  registry.insert<tosa::TosaDialect>();
  pto_mlir::vm::registerProgramOps(registry);
  pto_mlir::registerPasses();
  if (pto_mlir::wantsBytecode(argc, argv))
    return pto_mlir::runToBytecode(argc, argv, registry);
  auto [inputName, outputName] = registerAndParseCLIOptions(argc, argv, "PTO-MLIR optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects())
    return asMainReturnCode(MlirOptMain(llvm::outs(), nullptr, registry, config));

  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &problem);
  if (!input)
    return fail(problem);
  if (problem = pto_mlir::textProblem(input->getBuffer()); !problem.empty())
    return fail(inputName + ": " + problem);
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputName, &problem);
  if (!output)
    return fail(problem);
  if (relaxed)
    input = llvm::MemoryBuffer::getMemBufferCopy(pto_mlir::pto::acceptRelaxedText(input->getBuffer()),
                                                 input->getBufferIdentifier());
  // The architecture must be known before a `left` tile is parsed.
  pto_mlir::pto::setParseFor(registry, pto_mlir::pto::targetOfText(input->getBuffer()));
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return 1;
  output->keep();
  return 0;
}
