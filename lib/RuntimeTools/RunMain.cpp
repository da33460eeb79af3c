// pto-run: runs one kernel of a .pmodel on .npy arguments, or a VM program.
#include "Arguments.h"
#include "RunProgram.h"
#include "pto_mlir/Runtime/RunKernel.h"
#include "pto_mlir/RuntimeTools/Mains.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <iostream>

using namespace pto_mlir;
using namespace pto_mlir::runtime;

namespace {

int fail(const std::string &message) {
  std::cerr << "pto-run: error: " << message << "\n";
  return 1;
}

/// The options for kernel arguments; each may be repeated.
struct ArgumentOptions {
  std::vector<std::string> inputs, outputs, inOuts;
  CLI::Option *input = nullptr, *output = nullptr, *inOut = nullptr;

  explicit ArgumentOptions(CLI::App &app) {
    auto repeated = [&](const char *name, std::vector<std::string> &texts, const char *help, const char *type) {
      return app.add_option(name, texts, help)->type_name(type)->expected(1)->take_all();
    };
    input =
        repeated("--arg", inputs, "an argument that is read: .npy, or a number (a scalar of the kernel or of the .vm)",
                 "FILE|NUMBER");
    output =
        repeated("--out", outputs,
                 "an argument that is written as .npy and begins as zeros; its type is that of the first .npy that is "
                 "read, or given as FILE:3x37xf32",
                 "FILE[:TYPE]");
    inOut = repeated("--inout", inOuts, "an argument that is read from FILE and written to RESULT, or to FILE again",
                     "FILE[=RESULT]");
  }

  /// Parses the options in the order of the command line.
  std::vector<Argument> parse(const CLI::App &app) const {
    std::vector<Argument> arguments;
    size_t in = 0, out = 0, both = 0;
    for (const CLI::Option *option : app.parse_order()) {
      if (option == input && in < inputs.size())
        add(arguments, ArgumentRole::In, inputs[in++]);
      else if (option == output && out < outputs.size())
        add(arguments, ArgumentRole::Out, outputs[out++]);
      else if (option == inOut && both < inOuts.size())
        add(arguments, ArgumentRole::InOut, inOuts[both++]);
    }
    return arguments;
  }

  static void add(std::vector<Argument> &arguments, ArgumentRole role, const std::string &text) {
    auto argument = parseArgument(role, text);
    if (!argument)
      throw CLI::ValidationError(argument.error());
    arguments.push_back(argument.take());
  }
};

void printProfile(const std::string &kernel, const pto_profile &profile) {
  std::cout << kernel << ": " << profile.instructions << " instructions, " << profile.gm_bytes_read << " bytes read, "
            << profile.gm_bytes_written << " written";
  if (profile.cycles == 0) {
    std::cout << "\n";
    return;
  }
  std::cout << ", " << std::llround(profile.cycles) << " cycles, " << profile.seconds * 1e6 << " us\n";
  for (unsigned e = 0; e < PTO_NUM_ENGINES; ++e)
    if (profile.engine_busy[e] > 0)
      std::cout << "  " << kEngineNames[e] << ": busy " << std::llround(profile.engine_busy[e]) << " cycles, waiting "
                << std::llround(profile.engine_stalled[e]) << "\n";
}

/// Runs the kernel on its arguments and writes the results.
int runArguments(KernelRun &run, std::vector<Argument> &arguments) {
  if (Status status = loadArguments(arguments); !status)
    return fail(status.error());
  for (Argument &argument : arguments) {
    if (argument.isScalar)
      run.scalars.push_back(argument.scalar);
    else
      run.arguments.push_back(std::move(argument.array));
  }
  auto profile = runKernel(run);
  if (!profile)
    return fail(profile.error());
  size_t buffer = 0;
  for (const Argument &argument : arguments) {
    if (argument.isScalar)
      continue;
    const NpyArray &array = run.arguments[buffer++];
    if (!argument.destination.empty())
      if (Status status = writeNpy(argument.destination, array); !status)
        return fail(status.error());
  }
  printProfile(run.kernel, *profile);
  return 0;
}

} // namespace

int pto_mlir::ptoRunMain(int argc, char **argv) {
  CLI::App app(
      "Runs one kernel of a .pmodel: --arg, --out and --inout give its arguments in the kernel's order. Or runs "
      "a VM program (.vm) on numbers and .npy files; the tensors that it returns go to the --out files.",
      "pto-run");
  KernelRun run;
  ProgramRun program;
  app.add_option("MODEL", run.model, "the .pmodel, or a .vm")->required();
  app.add_option("--kernel", run.kernel, "name of the kernel (pmodel_tool --disasm lists them)");
  app.add_flag("--trace", program.trace, "print every instruction of a .vm with its slots");
  app.add_flag("--list", program.list, "print the bytecode of a .vm instead of running it");
  ArgumentOptions options(app);
  app.add_option("--blocks", run.blocks, "number of blocks (default: the file's)")->check(CLI::Range(1, 1024));
  app.add_option("--device", run.device.device, "cmodel, or the path of a device plug-in");
  app.add_option(
      "--mode", run.device.mode,
      "mode of the cmodel: functional, timing[:TRACE], checked (detects races between engines), shuffled:SEED");
  app.add_option("--threads", run.device.threads, "host threads that simulate cores (0 = all)")
      ->check(CLI::Range(0, 4096));
  std::vector<Argument> arguments;
  bool isProgram = false;
  try {
    app.parse(argc, argv);
    isProgram = run.model.ends_with(".vm");
    if (isProgram && !run.kernel.empty())
      throw CLI::ValidationError("--kernel belongs to a .pmodel");
    if (isProgram && !options.inOuts.empty())
      throw CLI::ValidationError("--inout belongs to a .pmodel");
    if (!isProgram && (program.trace || program.list))
      throw CLI::ValidationError("--trace and --list belong to a .vm");
    if (!isProgram)
      arguments = options.parse(app);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    std::cerr << "pto-run: error: " << error.what() << " (--help lists the options)\n";
    return 2;
  }
  if (!isProgram)
    return runArguments(run, arguments);
  program.path = run.model;
  program.arguments = options.inputs;
  program.outputs = options.outputs;
  Status status = runProgram(program);
  return status ? 0 : fail(status.error());
}
