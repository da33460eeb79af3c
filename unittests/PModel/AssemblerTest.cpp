#include "pto_mlir/PModel/Assembler.h"
#include "TestModel.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Report.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <list>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::testing;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class Assembler : public ::testing::Test {
protected:
  std::string folder = temporaryPath("assembler");
  void SetUp() override { fs::create_directory(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const std::string &name) { return folder + "/" + name; }

  std::string write(const std::string &name, const ModelDesc &model) {
    auto summary = writeModel(model, path(name));
    EXPECT_TRUE(summary) << summary.error();
    return path(name);
  }
  ModelDesc sample(unsigned rows, float value, const std::string &net) {
    biases.push_back(std::vector<float>(rows * 7, value));
    ModelDesc model = biasReluModel(rows, 7, biases.back());
    model.nets[0].name = net;
    return model;
  }
  /// The first weight element read by the first launch of a variant.
  static float firstBias(const ModelFile &file, const VariantDesc &variant) {
    auto program = decodeProgram(variant.program.code);
    uint64_t offset = (*program)[1].arguments[1].offset;
    for (size_t i = 0; i < file.layout().offsets.size(); ++i)
      if (file.layout().offsets[i] == offset) {
        float value;
        std::memcpy(&value, file.model().weights[i].data, 4);
        return value;
      }
    return -1;
  }
  std::list<std::vector<float>> biases;
};

TEST_F(Assembler, NetsAndVariantsAreJoinedAndTheirWeightsFollow) {
  std::vector<std::string> parts = {write("a.pmodel", sample(3, 1, "one")), write("b.pmodel", sample(3, 2, "two")),
                                    write("c.pmodel", sample(5, 3, "one"))};
  auto summary = combineModels(parts, path("all.pmodel"));
  ASSERT_TRUE(summary) << summary.error();
  EXPECT_EQ(summary->numKernels, 4u); // kernels for 3 rows are shared by two nets
  auto file = ModelFile::open(path("all.pmodel"));
  ASSERT_TRUE(file) << file.error();
  const ModelDesc &model = (*file)->model();
  ASSERT_EQ(model.nets.size(), 2u);
  ASSERT_EQ(model.nets[0].variants.size(), 2u);
  ASSERT_EQ(model.weights.size(), 3u);
  EXPECT_EQ(model.weights[1].name, "bias_2");
  EXPECT_EQ(firstBias(**file, model.nets[0].variants[0]), 1);
  EXPECT_EQ(firstBias(**file, model.nets[0].variants[1]), 3);
  EXPECT_EQ(firstBias(**file, model.nets[1].variants[0]), 2);

  auto written = extractModels(path("all.pmodel"), folder);
  ASSERT_TRUE(written) << written.error();
  ASSERT_EQ(written->size(), 3u);
  EXPECT_EQ((*written)[1], path("all_net0_variant1.pmodel"));
  auto part = ModelFile::open((*written)[1]);
  ASSERT_TRUE(part) << part.error();
  EXPECT_EQ((*part)->model().weights.size(), 1u);
  EXPECT_EQ((*part)->model().kernels.size(), 2u);
  EXPECT_EQ(firstBias(**part, (*part)->model().nets[0].variants[0]), 3);
}

TEST_F(Assembler, FilesThatDoNotFitAreRefused) {
  std::string a = write("a.pmodel", sample(3, 1, "one"));
  auto again = combineModels({a, a}, path("out.pmodel"));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error(), HasSubstr("two variants take the same input shapes"));
  ModelDesc wide = sample(5, 1, "two");
  wide.numCore = 2;
  auto cores = combineModels({a, write("b.pmodel", wide)}, path("out.pmodel"));
  ASSERT_FALSE(cores);
  EXPECT_THAT(cores.error(), HasSubstr("b.pmodel: is for a3 with 2 core(s), the first file for a3 with 1"));
  ModelDesc half = sample(5, 1, "one");
  half.nets[0].quantize = "F16";
  EXPECT_FALSE(combineModels({a, write("c.pmodel", half)}, path("out.pmodel")));
  EXPECT_FALSE(fs::exists(path("out.pmodel")));
}

TEST_F(Assembler, ReportsSayWhatIsInside) {
  auto file = ModelFile::open(write("a.pmodel", sample(3, 1, "one")));
  ASSERT_TRUE(file) << file.error();
  std::string info = infoReport(**file);
  for (const char *text : {"processor      a3, num_core 1", "net 'one', quantize F32", "f32   3x7", "2 kernel launches",
                           "none: all computation runs on the engines", "AIV MTE2", "1 kept, 1 absorbed"})
    EXPECT_THAT(info, HasSubstr(text));
  EXPECT_THAT(weightsReport(**file), HasSubstr("bias  f32      3x7"));
  EXPECT_THAT(disassemblyReport(**file), HasSubstr("trelu"));
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(uint64_t(3) << 30), "3.00 GiB");
}

} // namespace
