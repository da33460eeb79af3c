#include "TestModel.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/PModel/KernelUse.h"
#include "pto_mlir/PModel/Reader.h"
#include "pto_mlir/PModel/Verifier.h"

#include <gmock/gmock.h>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using ::testing::HasSubstr;

namespace {

// Models refer to the bytes of their weights.
const std::vector<float> bias(2 * 5, 1.0f), zeros(2 * 3, 0.0f);

/// The bias-relu net, with a program that runs it twice.
ModelDesc twice(const std::string &net, const std::string &type = "tensor<2x5xf32>", const std::string &target = "a3") {
  ModelDesc model = pto_mlir::testing::biasReluModel(2, 5, bias);
  model.programs = {pto_mlir::testing::twiceProgram(net, type, target)};
  return model;
}

std::string verify(const ModelDesc &model) {
  Status status = verifyModel(model, layoutWeights(model.weights));
  return status ? "" : status.error();
}

TEST(HostProgram, IsVerifiedAgainstTheNets) {
  std::string net = pto_mlir::testing::biasReluModel(2, 5, bias).nets[0].name;
  EXPECT_EQ(verify(twice(net)), "");
  EXPECT_THAT(verify(twice("other")),
              HasSubstr("host program 'twice': calls @device.other, which is not a net of the file"));
  EXPECT_THAT(verify(twice(net, "tensor<2x6xf32>")), HasSubstr("with types that none of the net's variants has"));
  EXPECT_THAT(verify(twice(net, "tensor<2x5xf32>", "a5")), HasSubstr("is for 'a5', the model is for 'a3'"));
  ModelDesc model = twice(net);
  model.programs[0].inputs = {};
  EXPECT_THAT(verify(model), HasSubstr("has 1 inputs and 0 names for them"));
  model = twice(net);
  model.programs[0].code.resize(20);
  EXPECT_THAT(verify(model), HasSubstr("is not a VM program"));
}

/// The net that adds up its inputs, under two names, and a program that runs one after the other.
ModelDesc sums() {
  ModelDesc model = pto_mlir::testing::accumulatorModel(2, 3, zeros);
  const std::string type = "tensor<2x3xf32>", first = model.nets[0].name;
  model.nets.push_back(model.nets[0]);
  model.nets[1].name = "again";
  auto kernel = [&](const std::string &net) {
    return " = kernel @device." + net + " (" + type + ") -> (" + type + ")\n";
  };
  auto module = bytecode::assemble(".vm 1\n.target \"a3\"\n.const 0" + kernel(first) + ".const 1" + kernel("again") +
                                   ".func @main(" + type + ") -> (" + type + ") slots(" + type +
                                   ") {\n  aload_0\n  invokestatic 0\n  invokestatic 1\n  return\n}\n");
  EXPECT_TRUE(module);
  model.programs.push_back({"sums", bytecode::serialize(*module), {"in"}, {"out"}});
  return model;
}

// The nets of a program share one group of state, and a run adds its positions once.
TEST(HostProgram, CallsNetsThatUseStateAlike) {
  EXPECT_EQ(verify(sums()), "");
  ModelDesc model = sums();
  model.nets[1].variants[0].state->rows = 2;
  EXPECT_THAT(verify(model), HasSubstr("calls @device.again, a net whose state is not that of other nets"));
  model = sums();
  model.nets[1].variants[0].state->limit = 2;
  EXPECT_THAT(verify(model), HasSubstr("a net whose state is not that of other nets that it calls"));
}

/// The kernels of the bias-relu net, submitted with these directions.
ModelDesc submitting(const std::string &directions, const std::string &kernel = "") {
  ModelDesc model = pto_mlir::testing::biasReluModel(2, 5, bias);
  const KernelDesc &first = model.kernels[0];
  std::string types, loads;
  for (uint32_t i = 0; i < first.numArgs; ++i) {
    types += (i ? ", " : "") + std::string("tensor<2x5xf32>");
    loads += "  reserve tensor<2x5xf32>\n";
  }
  auto module = bytecode::assemble(".vm 1\n.target \"a3\"\n.const 0 = kernel @device." +
                                   (kernel.empty() ? first.name : kernel) + " (" + types + ") {\"directions\" = \"" +
                                   directions + "\"}\n.func @main(tensor<2x5xf32>, tensor<2x5xf32>) -> " +
                                   "(tensor<2x5xf32>) slots(tensor<2x5xf32>, tensor<2x5xf32>) {\n" + loads +
                                   "  submit 0, 0\n  pop\n  aload_1\n  return\n}\n");
  EXPECT_TRUE(module) << module.error();
  model.nets.clear();
  model.programs.push_back({"submits", bytecode::serialize(*module), {"in"}, {"out"}, {"out"}});
  return model;
}

TEST(HostProgram, SubmitsKernelsByWhatTheyDo) {
  ModelDesc model = pto_mlir::testing::biasReluModel(2, 5, bias);
  KernelUse use = kernelUse(model.kernels[0]);
  std::string right, wrong;
  for (const KernelUse::Argument &argument : use.arguments) {
    right += std::string(right.empty() ? "" : ",") + (argument.written ? "out" : "in");
    wrong += std::string(wrong.empty() ? "" : ",") + "in";
  }
  EXPECT_EQ(verify(submitting(right)), "");
  EXPECT_THAT(verify(submitting(wrong)), HasSubstr("an input by its direction"));
  EXPECT_THAT(verify(submitting(right, "other")),
              HasSubstr("submits @device.other, which is not a kernel of the file"));
  model = submitting(right);
  model.programs[0].presets = {"other"};
  EXPECT_THAT(verify(model), HasSubstr("presets 'other', which is no output"));
  model.programs[0].presets = {};
  EXPECT_THAT(verify(model), HasSubstr("has 2 inputs and 1 names for them"));
  model = submitting(right);
  std::string path = pto_mlir::testing::temporaryPath("submits.pmodel");
  auto written = writeModel(model, path);
  ASSERT_TRUE(written) << written.error();
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ((*file)->model().programs[0].presets, model.programs[0].presets);
}

/// Every launch of a program of several devices is on one of them.
TEST(HostProgram, SubmitsAllKernelsToDevicesOrNone) {
  ModelDesc model = pto_mlir::testing::biasReluModel(2, 5, bias);
  auto text = [&](bool first, bool second) {
    std::string code = ".vm 1\n.target \"a3\"\n", body;
    for (int i = 0; i < 2; ++i) {
      bool isRanked = i ? second : first;
      std::string types, directions;
      for (const KernelUse::Argument &argument : kernelUse(model.kernels[i]).arguments) {
        types += (types.empty() ? "" : ", ") + std::string("tensor<2x5xf32>");
        directions += (directions.empty() ? "" : ",") + std::string(argument.written ? "out" : "in");
        body += "  reserve tensor<2x5xf32>\n";
      }
      body += (isRanked ? "  iconst i64, 1\n" : "") + ("  submit " + std::to_string(i) + ", 0\n  pop\n");
      code += ".const " + std::to_string(i) + " = kernel @device." + model.kernels[i].name + " (" + types +
              (isRanked ? ", i64) {" : ") {") + "\"directions\" = \"" + directions +
              (isRanked ? "\", \"ranked\" = 1}\n" : "\"}\n");
    }
    auto module = bytecode::assemble(code + ".func @main() -> (tensor<2x5xf32>) slots() {\n" + body +
                                     "  reserve tensor<2x5xf32>\n  return\n}\n");
    EXPECT_TRUE(module) << module.error();
    ModelDesc other = model;
    other.nets.clear();
    other.programs.push_back({"submits", bytecode::serialize(*module), {}, {"out"}});
    return verify(other);
  };
  ASSERT_GE(model.kernels.size(), 2u);
  EXPECT_EQ(text(true, true), "");
  EXPECT_EQ(text(false, false), "");
  EXPECT_THAT(text(true, false), HasSubstr("on no device, and others on one of several"));
  EXPECT_THAT(text(false, true), HasSubstr("on no device, and others on one of several"));
}

TEST(HostProgram, SurvivesTheFile) {
  ModelDesc model = twice(pto_mlir::testing::biasReluModel(2, 5, bias).nets[0].name);
  std::string path = pto_mlir::testing::temporaryPath("twice.pmodel");
  auto written = writeModel(model, path);
  ASSERT_TRUE(written) << written.error();
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  ASSERT_EQ((*file)->model().programs.size(), 1u);
  EXPECT_EQ((*file)->model().programs[0].name, "twice");
  EXPECT_EQ((*file)->model().programs[0].code, model.programs[0].code);
  EXPECT_EQ((*file)->model().programs[0].outputs, model.programs[0].outputs);
}

} // namespace
