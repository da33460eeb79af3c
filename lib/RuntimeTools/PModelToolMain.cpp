// pmodel_tool: inspects, verifies, combines and splits .pmodel files. Options only; implemented in lib/PModel.
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/PModel/Assembler.h"
#include "pto_mlir/PModel/Report.h"
#include "pto_mlir/RuntimeTools/Mains.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;

namespace {

int fail(const std::string &message) {
  std::cerr << "pmodel_tool: error: " << message << "\n";
  return 1;
}

/// Opens the file and prints the text returned by `report`.
template <class Report> int print(const std::string &path, Report report) {
  auto file = ModelFile::open(path);
  if (!file)
    return fail(file.error());
  Result<std::string> text = report(**file);
  if (!text)
    return fail(text.error());
  std::cout << *text << std::flush;
  return std::cout ? 0 : fail("cannot write to the standard output");
}

int verify(const std::string &path) {
  auto file = ModelFile::open(path);
  if (!file)
    return fail(file.error());
  if (Status status = (*file)->checkAllWeights(); !status)
    return fail(status.error());
  const ModelDesc &model = (*file)->model();
  std::cout << path << ": good: " << model.nets.size() << " net(s), " << model.kernels.size() << " kernels, "
            << model.weights.size() << " weights\n";
  return 0;
}

int extract(const std::string &path, const std::string &folder) {
  auto written = extractModels(path, folder);
  if (!written)
    return fail(written.error());
  for (const std::string &name : *written)
    std::cout << name << "\n";
  return 0;
}

/// The program of --program, from its text.
Result<HostProgramDesc> readProgram(const std::string &path, std::vector<std::string> inputs,
                                    std::vector<std::string> outputs) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return Failure{path + ": cannot be read"};
  auto module = bytecode::assemble(text.str());
  if (!module)
    return Failure{path + ": " + module.error()};
  return HostProgramDesc{std::filesystem::path(path).stem().string(), bytecode::serialize(*module), std::move(inputs),
                         std::move(outputs)};
}

int combine(const std::vector<std::string> &paths, const std::string &output, std::optional<HostProgramDesc> program) {
  auto summary = combineModels(paths, output, std::move(program));
  if (!summary)
    return fail(summary.error());
  std::cout << output << ": " << bytesText(summary->fileBytes) << ", " << summary->numKernels << " kernels\n";
  return 0;
}

} // namespace

int pto_mlir::pmodelToolMain(int argc, char **argv) {
  CLI::App app("Looks into .pmodel files, checks, combines and splits them.", "pmodel_tool");
  std::string info, json, disasm, weights, traffic, estimate, check, split, chip, output;
  std::vector<std::string> parts, programInputs, programOutputs;
  std::string programPath;
  CLI::Option_group *action = app.add_option_group("Actions", "exactly one is required");
  action->add_option("--info", info, "nets, tensors, engines, memory, sizes")->type_name("FILE");
  action->add_option("--print", json, "the metadata as JSON")->type_name("FILE");
  action->add_option("--disasm", disasm, "disassemble programs and command streams")->type_name("FILE");
  action->add_option("--weights", weights, "name, type, shape, offset and hash of every weight")->type_name("FILE");
  action->add_option("--traffic", traffic, "global memory traffic of every kernel launch")->type_name("FILE");
  action->add_option("--estimate", estimate, "estimated cycles of every kernel")->type_name("FILE");
  action->add_option("--verify", check, "verify the whole file, including the hashes of the weights")
      ->type_name("FILE");
  action->add_option("--extract", split, "write each variant of each net to a separate file")->type_name("FILE");
  action->add_option("--combine", parts, "combine the nets of several files (needs -o)")
      ->type_name("FILE")
      ->expected(1, 1 << 20);
  action->add_option("--chip", chip, "print the name of the processor")->type_name("FILE");
  app.add_option("-o,--output", output, "file of --combine, folder of --extract (default: here)")->type_name("PATH");
  app.add_option("--program", programPath, "with --combine: the VM program (.vm) that makes one model of the nets")
      ->type_name("FILE");
  app.add_option("--program-input", programInputs, "name of its next input; once per input")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option("--program-output", programOutputs, "name of its next output; once per output")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  try {
    app.parse(argc, argv);
    // Counted after parsing rather than by CLI11, so that a misspelt option is reported first.
    size_t given = 0;
    for (const CLI::Option *option : action->get_options())
      given += option->count() > 0;
    if (given != 1)
      throw CLI::ValidationError("expects exactly one action, got " + std::to_string(given));
    if (action->get_option("--combine")->count() && output.empty())
      throw CLI::ValidationError("--combine", "needs -o OUT");
    if (!action->get_option("--combine")->count() && !programPath.empty())
      throw CLI::ValidationError("--program", "is for --combine only");
    if (!action->get_option("--combine")->count() && !action->get_option("--extract")->count() && !output.empty())
      throw CLI::ValidationError("-o", "is for --combine and --extract only");
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    std::cerr << "pmodel_tool: error: " << error.what() << " (--help lists the options)\n";
    return 2;
  }

  if (!info.empty())
    return print(info, infoReport);
  if (!json.empty())
    return print(json, [](const ModelFile &file) { return file.metadataJson(); });
  if (!disasm.empty())
    return print(disasm, disassemblyReport);
  if (!weights.empty())
    return print(weights, weightsReport);
  if (!traffic.empty())
    return print(traffic, trafficReport);
  if (!estimate.empty())
    return print(estimate, estimateReport);
  if (!check.empty())
    return verify(check);
  if (!split.empty())
    return extract(split, output.empty() ? "." : output);
  if (!parts.empty()) {
    std::optional<HostProgramDesc> program;
    if (!programPath.empty()) {
      auto read = readProgram(programPath, std::move(programInputs), std::move(programOutputs));
      if (!read)
        return fail(read.error());
      program = read.take();
    }
    return combine(parts, output, std::move(program));
  }
  return print(chip, [](const ModelFile &file) { return file.model().processor + "\n"; });
}
