// .pto to planned .pto, to C++ or to a .pmodel of kernels: files and diagnostics around the pipelines.
#include "pto_mlir/Compiler/CompilePTO.h"
#include "pto_mlir/Compiler/ModelBuilder.h"

#include "AddCode.h"
#include "CompileModule.h"
#include "Diagnostics.h"
#include "HostProgram.h"
#include "KernelTexts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "pto_mlir/Backend/Backend.h"
#include "pto_mlir/Dialect/PTO/IR/ReadText.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "pto_mlir/Frontend/PyPTO/RaisePyPTO.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/KernelUse.h"
#include "pto_mlir/Pipelines/Pipelines.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "pto_mlir/Support/MLIRText.h"
#include "pto_mlir/Target/Cpp/Cpp.h"
#include "pto_mlir/Target/PTOText/PTOText.h"
#include "pypto/ir/printer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace pto_mlir {
namespace {

bool endsWith(const std::string &path, std::initializer_list<StringRef> endings) {
  return llvm::any_of(endings, [&](StringRef ending) { return StringRef(path).ends_with(ending); });
}

/// Parses and verifies for the architecture, and records it in the module. For C++ values keep their names.
OwningOpRef<ModuleOp> parseProgram(const std::string &text, const ProgramOptions &options, const pto::Target &arch,
                                   MLIRContext &context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, options.input), SMLoc());
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = endsWith(options.output, {".cpp"}) ? cpp::parseWithNames(sources, config)
                                                                    : parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    return nullptr;
  if (!options.processor.empty() || !(*module)->hasAttr(pto::kTargetArchAttr))
    (*module)->setAttr(pto::kTargetArchAttr, StringAttr::get(&context, arch.name));
  return failed(verify(*module)) ? nullptr : std::move(module);
}

/// Prints the module to `path`, as the output's name says; nothing is written on failure.
std::optional<ProgramSummary> writeText(ModuleOp module, const ProgramOptions &options, Errors &errors) {
  std::string shown, problem;
  llvm::raw_string_ostream stream(shown);
  if (endsWith(options.output, {".py"})) {
    pypto::ir::ProgramPtr program = raisePyPTO(module);
    if (!program)
      return std::nullopt;
    stream << pypto::ir::python_print(program);
  } else if (!endsWith(options.output, {".cpp"}))
    ptotext::print(module, stream);
  else if (cpp::Style style = cpp::styleNamed(options.cppStyle).value_or(cpp::Style::Today); failed(cpp::print(
               module, {style, options.cppPlaces, options.cppPrints, options.cppProfile, options.cppHints}, stream)))
    return std::nullopt;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(options.output, &problem);
  if (!file) {
    errors.push_back(problem);
    return std::nullopt;
  }
  file->os() << shown;
  file->keep();
  ProgramSummary summary;
  module.walk([&](func::FuncOp func) { summary.kernels += !func.isExternal(); });
  return summary;
}

/// Whether the kernels write no input of the host program; emits errors.
bool writesNoInputs(vm::FuncOp program, ArrayRef<pmodel::KernelDesc> kernels) {
  llvm::StringMap<pmodel::KernelUse> uses;
  for (const pmodel::KernelDesc &kernel : kernels)
    uses[kernel.name] = pmodel::kernelUse(kernel);
  bool good = true;
  program.walk([&](vm::LaunchOp launch) {
    const pmodel::KernelUse &use = uses[launch.getKernelName()];
    for (auto [number, buffer] : llvm::enumerate(launch.getBuffers())) {
      auto port = dyn_cast<BlockArgument>(buffer);
      if (!port || port.getArgNumber() >= program.getInputs() || number >= use.arguments.size() ||
          !use.arguments[number].written)
        continue;
      auto input = cast<DictionaryAttr>(program->getAttrOfType<ArrayAttr>("vm.inputs")[port.getArgNumber()]);
      launch.emitError() << input.getAs<StringAttr>("name").getValue() << " is written by " << launch.getKernelName()
                         << ", but not declared as Out";
      good = false;
    }
  });
  return good;
}

/// The same for the kernels that a program submits, by the directions that it declares.
bool writesNoReads(ModuleOp host, ArrayRef<pmodel::KernelDesc> kernels) {
  llvm::StringMap<pmodel::KernelUse> uses;
  for (const pmodel::KernelDesc &kernel : kernels)
    uses[kernel.name] = pmodel::kernelUse(kernel);
  bool good = true;
  host.walk([&](vm::SubmitOp submit) {
    StringRef name = submit.getCallee().split('.').second;
    const pmodel::KernelUse &use = uses[name];
    SmallVector<StringRef> directions;
    submit.getDirections().split(directions, ',', -1, /*KeepEmpty=*/false);
    for (auto [number, direction] : llvm::enumerate(directions))
      if (direction == "in" && number < use.arguments.size() && use.arguments[number].written) {
        submit.emitError() << "tensor " << number << " of " << name << " is written, but not declared as Out";
        good = false;
      }
  });
  return good;
}

std::optional<ProgramSummary> writeKernels(ModuleOp module, const ProgramOptions &options,
                                           const backend::Processor &processor, Errors &errors, ModuleOp host) {
  auto kernels = generateKernels(module, processor, options.blocks, {/*text=*/false, /*sources=*/true});
  if (!kernels)
    return std::nullopt;
  if (kernels->empty()) {
    errors.push_back("has no kernel: a public function without results");
    return std::nullopt;
  }
  ProgramSummary summary;
  summary.kernels = kernels->size();
  for (const pmodel::KernelDesc &kernel : *kernels)
    summary.streams += kernel.streams.size();
  pmodel::ModelDesc model;
  model.producer = kProducer;
  model.processor = processor.name;
  model.numCore = options.blocks;
  model.kernels = std::move(*kernels);
  if (host && host.lookupSymbol<func::FuncOp>("main")) {
    auto program = writesNoReads(host, model.kernels) ? hostProgram(host, processor.name, errors, /*locations=*/true)
                                                      : std::nullopt;
    if (!program)
      return std::nullopt;
    model.programs.push_back(std::move(*program));
  } else if (host) {
    auto program = host.lookupSymbol<vm::FuncOp>("main");
    auto net =
        writesNoInputs(program, model.kernels) ? buildNet(host, program, model.kernels, processor.name) : std::nullopt;
    if (!net)
      return std::nullopt;
    model.nets.push_back(std::move(*net));
  }
  auto written = pmodel::writeModel(model, options.output);
  if (!written) {
    errors.push_back(written.error());
    return std::nullopt;
  }
  summary.commandBytes = written->commandBytes;
  return summary;
}

LogicalResult runToCommands(ModuleOp module, const ProgramOptions &options) {
  PassManager pm(module.getContext());
  TextPipelineOptions text;
  text.level = options.level;
  CommandsPipelineOptions commands;
  commands.insertSync = options.insertSync;
  commands.assemblerLimits = true;
  buildTextToFunctionsPipeline(pm, text);
  buildCommandsPipeline(pm, commands);
  return pm.run(module);
}

} // namespace

bool kernelsCompile(ModuleOp module, const ProgramOptions &options, StringRef processor) {
  auto loaded = backend::Backend::instance().load(processor.str());
  return loaded.processor && succeeded(runToCommands(module, options)) &&
         generateKernels(module, *loaded.processor, options.blocks, {/*text=*/false, /*sources=*/false});
}

std::optional<ProgramSummary> compileModule(ModuleOp module, const ProgramOptions &options, StringRef processor,
                                            Errors &errors, ModuleOp host) {
  PassManager pm(module.getContext());
  TextPipelineOptions text;
  text.level = options.level;
  text.forLibrary = endsWith(options.output, {".cpp"});
  if (endsWith(options.output, {".py"}))
    return writeText(module, options, errors);
  if (!endsWith(options.output, {".pmodel"})) {
    if (options.cppOptimise) {
      pm.addPass(createCanonicalizerPass());
      pm.addPass(createCSEPass());
    }
    buildPlannedTextPipeline(pm, text, options.insertSync);
    return succeeded(pm.run(module)) ? writeText(module, options, errors) : std::nullopt;
  }
  if (failed(runToCommands(module, options)))
    return std::nullopt;
  auto loaded = backend::Backend::instance().load(processor.str());
  if (!loaded.processor) {
    errors.push_back(loaded.error);
    return std::nullopt;
  }
  return writeKernels(module, options, *loaded.processor, errors, host);
}

std::optional<ProgramSummary> compileProgram(const ProgramOptions &options, Errors &errors) {
  if (!endsWith(options.output, {".pto", ".mlir", ".cpp", ".py", ".pmodel"})) {
    errors.push_back(options.output + ": expects an output named .pmodel, .pto, .cpp or .py");
    return std::nullopt;
  }
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(options.input, &problem);
  if (!input) {
    errors.push_back(problem);
    return std::nullopt;
  }
  if (std::string problem = textProblem(input->getBuffer()); !problem.empty()) {
    errors.push_back(options.input + ": " + problem);
    return std::nullopt;
  }
  std::string source = options.relaxed ? pto::acceptRelaxedText(input->getBuffer()) : input->getBuffer().str();
  const pto::Target &arch = options.processor.empty() ? pto::targetOfText(source) : pto::targetNamed(options.processor);

  DialectRegistry registry = registryFor(arch);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  DiagnosticCollector collector(&context, errors);
  std::optional<ProgramSummary> summary;
  if (OwningOpRef<ModuleOp> module = parseProgram(source, options, arch, context))
    summary = compileModule(*module, options, arch.name, errors);
  if (!summary) {
    if (errors.empty())
      errors.push_back("the compiler failed without a message");
    for (std::string &line : errors)
      if (line.find(options.input) == std::string::npos && line.find(options.output) == std::string::npos)
        line = options.input + ": " + line;
  }
  return summary;
}

} // namespace pto_mlir
