// pto-run: runs one kernel of a .pmodel on .npy arguments, or a VM program.
#include "RunProgram.h"
#include "pto_mlir/Runtime/RunKernel.h"

#include <CLI/CLI.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <iostream>
#include <optional>

using namespace pto_mlir;
using namespace pto_mlir::runtime;

namespace {

int fail(const std::string &message) {
  std::cerr << "pto-run: error: " << message << "\n";
  return 1;
}

/// FILE, or FILE:3x37xf32: where an output goes and what it is (without a type: like the first argument).
struct OutputSpec {
  std::string path;
  bool typed = false;
  NpyArray array;
};

/// "3x37xf32", "f16".
bool parseType(std::string_view text, NpyArray &array) {
  for (size_t cross; (cross = text.find('x')) != std::string_view::npos;) {
    uint64_t size = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + cross, size);
    if (error != std::errc() || end != text.data() + cross)
      break;
    array.shape.push_back(size);
    text.remove_prefix(cross + 1);
  }
  auto type = parseElementType(text);
  if (type)
    array.type = *type;
  return type.has_value();
}

Result<OutputSpec> parseOutput(const std::string &text) {
  OutputSpec spec;
  size_t colon = text.rfind(':');
  spec.path = text.substr(0, colon);
  spec.typed = colon != std::string::npos;
  if (spec.typed && !parseType(std::string_view(text).substr(colon + 1), spec.array))
    return Failure{"--out '" + text + "': expects FILE or FILE:TYPE with a type such as 3x37xf32"};
  return spec;
}

/// An integer, or the bits of a decimal number as f32; nothing for any other text.
std::optional<int64_t> parseScalar(std::string_view text) {
  const char *begin = text.data(), *end = begin + text.size();
  int64_t integer = 0;
  if (auto [stop, error] = std::from_chars(begin, end, integer); error == std::errc() && stop == end)
    return integer;
  float number = 0;
  if (auto [stop, error] = std::from_chars(begin, end, number); error == std::errc() && stop == end)
    return std::bit_cast<uint32_t>(number);
  return std::nullopt;
}

/// Zero-filled buffers for the outputs behind the arguments.
Status addOutputs(KernelRun &run, std::vector<OutputSpec> &outputs) {
  size_t inputs = run.arguments.size();
  for (OutputSpec &output : outputs) {
    if (!output.typed) {
      if (inputs == 0)
        return Failure{"--out '" + output.path + "' needs a type, such as " + output.path +
                       ":3x37xf32, because there is no --arg"};
      output.array.type = run.arguments[0].type;
      output.array.shape = run.arguments[0].shape;
    }
    auto bytes = tensorBytes(output.array.type, output.array.shape);
    if (!bytes || *bytes > uint64_t(1) << 36)
      return Failure{"--out '" + output.path + "': is too large"};
    output.array.data.assign(*bytes, 0);
    run.arguments.push_back(output.array);
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs one kernel of a .pmodel on .npy arguments: the --arg files, then the --out files, in order. Or "
               "runs a VM program (.vm) on "
               "numbers and .npy files; the tensors it returns go to the --out files.",
               "pto-run");
  KernelRun run;
  ProgramRun program;
  std::vector<std::string> inputs, outputTexts;
  app.add_option("MODEL", run.model, "the .pmodel, or a .vm")->required();
  app.add_option("--kernel", run.kernel, "name of the kernel (pmodel_tool --disasm lists them)");
  app.add_flag("--trace", program.trace, "print every instruction of a .vm with its slots");
  app.add_flag("--list", program.list, "print the bytecode of a .vm instead of running it");
  app.add_option("--arg", inputs,
                 "an input argument: .npy, or a number (a scalar of the kernel or of the .vm); may be repeated")
      ->type_name("FILE|NUMBER")
      ->expected(1)
      ->take_all();
  app.add_option("--out", outputTexts,
                 "an output argument, written as .npy; its type is that of the first --arg, or given as FILE:3x37xf32")
      ->type_name("FILE[:TYPE]")
      ->expected(1)
      ->take_all();
  app.add_option("--blocks", run.blocks, "number of blocks (default: the file's)")->check(CLI::Range(1, 1024));
  app.add_option("--device", run.device.device, "cmodel, or the path of a device plug-in");
  app.add_option(
      "--mode", run.device.mode,
      "how the cmodel runs: functional, timing[:TRACE], checked (looks for races between engines), shuffled:SEED");
  app.add_option("--threads", run.device.threads, "host threads that simulate cores (0 = all)")
      ->check(CLI::Range(0, 4096));
  std::vector<OutputSpec> outputs;
  try {
    app.parse(argc, argv);
    program.path = run.model;
    bool isProgram = run.model.ends_with(".vm");
    if (isProgram && !run.kernel.empty())
      throw CLI::ValidationError("--kernel belongs to a .pmodel");
    if (!isProgram && (program.trace || program.list))
      throw CLI::ValidationError("--trace and --list belong to a .vm");
    program.arguments = inputs;
    program.outputs = outputTexts;
    if (isProgram)
      outputTexts.clear();
    for (const std::string &text : outputTexts) {
      auto spec = parseOutput(text);
      if (!spec)
        throw CLI::ValidationError(spec.error());
      outputs.push_back(spec.take());
    }
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    std::cerr << "pto-run: error: " << error.what() << " (--help lists the options)\n";
    return 2;
  }

  if (run.model.ends_with(".vm")) {
    Status status = runProgram(program);
    return status ? 0 : fail(status.error());
  }
  for (const std::string &path : inputs) {
    if (auto scalar = parseScalar(path)) {
      run.scalars.push_back(*scalar);
      continue;
    }
    auto array = readNpy(path);
    if (!array)
      return fail(array.error());
    run.arguments.push_back(array.take());
  }
  if (Status status = addOutputs(run, outputs); !status)
    return fail(status.error());
  auto profile = runKernel(run);
  if (!profile)
    return fail(profile.error());
  size_t firstOutput = run.arguments.size() - outputs.size();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status status = writeNpy(outputs[i].path, run.arguments[firstOutput + i]); !status)
      return fail(status.error());
  std::cout << run.kernel << ": " << profile->instructions << " instructions, " << profile->gm_bytes_read
            << " bytes read, " << profile->gm_bytes_written << " written";
  if (profile->cycles == 0) {
    std::cout << "\n";
    return 0;
  }
  std::cout << ", " << std::llround(profile->cycles) << " cycles, " << profile->seconds * 1e6 << " us\n";
  for (unsigned e = 0; e < PTO_NUM_ENGINES; ++e)
    if (profile->engine_busy[e] > 0)
      std::cout << "  " << kEngineNames[e] << ": busy " << std::llround(profile->engine_busy[e]) << " cycles, waiting "
                << std::llround(profile->engine_stalled[e]) << "\n";
  return 0;
}
