// pto-sample-model OUT.pmodel [ROWS COLS [NET [state|sizes|program]]]: writes the model y = max(x + bias, 0) with
// bias[i] = i mod 5 - 2, with `state` the accumulator that begins there, with `sizes` for any number of rows up to
// ROWS, with `program` also a host program that runs the net twice, for the tests of the tools.
#include "TestModel.h"
#include "pto_mlir/PModel/Builder.h"

#include <charconv>
#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
  unsigned sizes[2] = {3, 37};
  bool hasState = argc == 6 && std::strcmp(argv[5], "state") == 0;
  bool hasSizes = argc == 6 && std::strcmp(argv[5], "sizes") == 0;
  bool hasProgram = argc == 6 && std::strcmp(argv[5], "program") == 0;
  bool good = argc == 2 || argc == 4 || argc == 5 || hasState || hasSizes || hasProgram;
  for (int i = 0; good && argc >= 4 && i < 2; ++i) {
    const char *text = argv[2 + i], *end = text + std::strlen(text);
    auto [rest, error] = std::from_chars(text, end, sizes[i]);
    good = error == std::errc() && rest == end && sizes[i] >= 1 && sizes[i] <= 1024;
  }
  if (!good) {
    std::fprintf(stderr, "usage: pto-sample-model OUT.pmodel [ROWS COLS [NET [state|sizes|program]]]\n");
    return 2;
  }
  std::vector<float> bias(sizes[0] * sizes[1]);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = static_cast<float>(i % 5) - 2;
  auto model = hasState   ? pto_mlir::testing::accumulatorModel(sizes[0], sizes[1], bias)
               : hasSizes ? pto_mlir::testing::sizedModel(1, sizes[0], 1, sizes[1], bias)
                          : pto_mlir::testing::biasReluModel(sizes[0], sizes[1], bias);
  if (argc >= 5)
    model.nets[0].name = argv[4];
  if (hasProgram)
    model.programs = {pto_mlir::testing::twiceProgram(argv[4], "tensor<" + std::to_string(sizes[0]) + "x" +
                                                                   std::to_string(sizes[1]) + "xf32>")};
  auto summary = pto_mlir::pmodel::writeModel(model, argv[1]);
  if (!summary)
    std::fprintf(stderr, "pto-sample-model: error: %s\n", summary.error().c_str());
  return summary ? 0 : 1;
}
