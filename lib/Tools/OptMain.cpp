// Runs any pass by its name: upstream's that the pipelines use, and ours.
#include "ImportONNX.h"
#include "ToBytecode.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "pto_mlir/Dialect/PTO/IR/PTOExtra.h"
#include "pto_mlir/Dialect/PTO/IR/ReadText.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/PTO/Program/Passes.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "pto_mlir/Support/Nesting.h"
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
  static llvm::cl::opt<bool> seedText(
      "accept-seed-text",
      llvm::cl::desc(
          "Read the spelling of early code generators: no comma before strides, a type behind each operand"));
  DialectRegistry registry;
  pto_mlir::registerDialects(registry);
  registry.insert<cf::ControlFlowDialect, tosa::TosaDialect>();
  pto_mlir::vm::registerProgramOps(registry);
  func::registerInlinerExtension(registry);
  pto_mlir::pto::registerExtraOps(registry);
  pto_mlir::pto::registerInliner(registry);
  pto_mlir::registerPasses();
  pto_mlir::pto::registerPTOProgramPasses();
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
  if (problem = pto_mlir::nestingProblem(input->getBuffer()); !problem.empty())
    return fail(inputName + ": " + problem);
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputName, &problem);
  if (!output)
    return fail(problem);
  if (seedText)
    input = llvm::MemoryBuffer::getMemBufferCopy(pto_mlir::pto::acceptSeedText(input->getBuffer()),
                                                 input->getBufferIdentifier());
  // The architecture must be known before a `left` tile is parsed.
  pto_mlir::pto::setParseFor(registry, pto_mlir::pto::targetOfText(input->getBuffer()));
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return 1;
  output->keep();
  return 0;
}
