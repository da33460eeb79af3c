// pto-compile: plans and synchronises a .pto; writes .pto, C++ or a .pmodel of kernels.
#include "pto_mlir/Compiler/CompilePTO.h"
#include "pto_mlir/ISA/Table.h"
#include "pto_mlir/Target/Cpp/Cpp.h"
#include "pto_mlir/Tools/Mains.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

int pto_mlir::ptoCompileMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  static cl::OptionCategory category("pto-compile");
  pto_mlir::ProgramOptions options;
  static cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("X.pto"), cl::cat(category));
  static cl::opt<std::string> output("o", cl::Required, cl::value_desc("X.pmodel | X.pto | X.cpp | X.py"),
                                     cl::desc("Output file"), cl::cat(category));
  static const std::string names = pto_mlir::isa::archNames(" | ");
  static cl::opt<std::string> processor("processor", cl::value_desc(names),
                                        cl::desc("Default: what the module says, else the default one"),
                                        cl::cat(category));
  static cl::opt<unsigned> level("level", cl::init(2), cl::desc("1, 2: addresses are planned; 3: the text has them"),
                                 cl::cat(category));
  static cl::opt<unsigned> blocks("blocks", cl::init(1), cl::desc("Blocks per launch, recorded in the .pmodel"),
                                  cl::cat(category));
  static cl::opt<bool> noSync("no-insert-sync", cl::desc("Do not insert flags into functions that have none"),
                              cl::cat(category));
  static cl::opt<std::string> cppStyle("cpp-style", cl::init("today"), cl::value_desc("today | seed"),
                                       cl::desc("Of X.cpp: as the public assembler or as PyPTO's generator wrote it"),
                                       cl::cat(category));
  static cl::opt<bool> cppPlaces("cpp-places", cl::desc("X.cpp says from which line each statement comes"),
                                 cl::cat(category));
  static cl::opt<bool> cppPrints("cpp-prints", cl::desc("X.cpp prints each tile after the op that writes it"),
                                 cl::cat(category));
  static cl::opt<bool> cppProfile("cpp-profile", cl::desc("X.cpp reads the clock around each op"), cl::cat(category));
  static cl::opt<bool> cppHints("cpp-hints", cl::desc("X.cpp asks for short loops to be unrolled"), cl::cat(category));
  static cl::opt<bool> cppOptimise("cpp-optimise", cl::desc("X.cpp has constants folded and nothing dead or twice"),
                                   cl::cat(category));
  static cl::opt<bool> relaxed(
      "relaxed-syntax", cl::desc("Also accept the older spelling: no comma before strides, a type after each operand"),
      cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Compiles a .pto.\n");
  auto usage = [](const llvm::Twine &what) {
    llvm::errs() << "pto-compile: error: " << what << "\n";
    return 2;
  };
  if (!processor.empty() && !pto_mlir::isa::findArch(processor.getValue()))
    return usage("--processor expects one of " + pto_mlir::isa::archNames() + ", got '" + processor + "'");
  if (level < 1 || level > 3)
    return usage("--level expects 1, 2 or 3, got " + llvm::Twine(level));
  if (blocks < 1 || blocks > 1024)
    return usage("--blocks expects 1 to 1024, got " + llvm::Twine(blocks));
  if (!pto_mlir::cpp::styleNamed(cppStyle))
    return usage("--cpp-style expects today or seed, got '" + cppStyle + "'");
  options.input = input;
  options.output = output;
  options.processor = processor;
  options.level = level;
  options.blocks = blocks;
  options.insertSync = !noSync;
  options.cppStyle = cppStyle;
  options.cppPlaces = cppPlaces;
  options.cppPrints = cppPrints;
  options.cppProfile = cppProfile;
  options.cppHints = cppHints;
  options.cppOptimise = cppOptimise;
  options.relaxed = relaxed;

  pto_mlir::Errors errors;
  auto summary = pto_mlir::compileProgram(options, errors);
  for (const std::string &line : errors)
    llvm::errs() << "pto-compile: error: " << line << "\n";
  if (!summary)
    return 1;
  llvm::outs() << options.output << ": " << summary->kernels << (summary->kernels == 1 ? " kernel" : " kernels");
  if (summary->streams)
    llvm::outs() << ", " << summary->streams << " streams, " << summary->commandBytes << " bytes of commands";
  llvm::outs() << "\n";
  return 0;
}
