// pmodel_tool: looks into .pmodel files, checks, combines and splits them. Options only; the work is in lib/PModel.
#include "pto_mlir/PModel/Assembler.h"
#include "pto_mlir/PModel/Report.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;

namespace {

int fail(const std::string &message) {
  std::cerr << "pmodel_tool: error: " << message << "\n";
  return 1;
}

/// Opens the file and prints what `report` makes of it.
template <class Report>
int print(const std::string &path, Report report) {
  auto file = ModelFile::open(path);
  if (!file)
    return fail(file.error());
  std::cout << report(**file) << std::flush;
  return std::cout ? 0 : fail("cannot write to the standard output");
}

int verify(const std::string &path) {
  auto file = ModelFile::open(path);
  if (!file)
    return fail(file.error());
  if (Status status = (*file)->checkAllWeights(); !status)
    return fail(status.error());
  const ModelDesc &model = (*file)->model();
  std::cout << path << ": good: " << model.nets.size() << " net(s), " << model.kernels.size() << " kernels, " << model.weights.size()
            << " weights\n";
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

int combine(const std::vector<std::string> &paths, const std::string &output) {
  auto summary = combineModels(paths, output);
  if (!summary)
    return fail(summary.error());
  std::cout << output << ": " << bytesText(summary->fileBytes) << ", " << summary->numKernels << " kernels\n";
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Looks into .pmodel files, checks, combines and splits them.", "pmodel_tool");
  std::string info, json, disasm, weights, traffic, check, split, chip, output;
  std::vector<std::string> parts;
  CLI::Option_group *action = app.add_option_group("Actions", "exactly one is required");
  action->add_option("--info", info, "nets, tensors, engines, memory, sizes")->type_name("FILE");
  action->add_option("--print", json, "the metadata as JSON")->type_name("FILE");
  action->add_option("--disasm", disasm, "programs and command streams as assembly")->type_name("FILE");
  action->add_option("--weights", weights, "name, type, shape, offset and hash of every weight")->type_name("FILE");
  action->add_option("--traffic", traffic, "global memory traffic of every kernel launch")->type_name("FILE");
  action->add_option("--verify", check, "check everything, the weights' hashes included")->type_name("FILE");
  action->add_option("--extract", split, "write each net and variant as a file of its own")->type_name("FILE");
  action->add_option("--combine", parts, "join the nets of several files (needs -o)")->type_name("FILE")->expected(1, 1 << 20);
  action->add_option("--chip", chip, "print the processor, one word")->type_name("FILE");
  app.add_option("-o,--output", output, "file of --combine, folder of --extract (default: here)")->type_name("PATH");
  try {
    app.parse(argc, argv);
    // Counted here, so that a misspelt option is named first.
    size_t given = 0;
    for (const CLI::Option *option : action->get_options())
      given += option->count() > 0;
    if (given != 1)
      throw CLI::ValidationError("expects exactly one action, got " + std::to_string(given));
    if (action->get_option("--combine")->count() && output.empty())
      throw CLI::ValidationError("--combine", "needs -o OUT");
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
  if (!check.empty())
    return verify(check);
  if (!split.empty())
    return extract(split, output.empty() ? "." : output);
  if (!parts.empty())
    return combine(parts, output);
  return print(chip, [](const ModelFile &file) { return file.model().processor + "\n"; });
}
