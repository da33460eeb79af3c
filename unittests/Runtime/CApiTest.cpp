#include "pto_mlir/Runtime/CApi.h"
#include "TestModel.h"
#include "pto_mlir/ByteCode/Program.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/PModel/Builder.h"

#include <gmock/gmock.h>

#include <filesystem>

using namespace pto_mlir;
using namespace pto_mlir::testing;
using ::testing::HasSubstr;

namespace {

TEST(CApi, RunsANet) {
  std::string path = temporaryPath("capi.pmodel");
  std::vector<float> bias = {1, 2, 3, -4, 5, -6};
  ASSERT_TRUE(pmodel::writeModel(biasReluModel(2, 3, bias), path));
  pto_session *session = nullptr;
  ASSERT_EQ(pto_session_open(path.c_str(), nullptr, 1, nullptr, &session), 0) << pto_last_error();
  ASSERT_EQ(pto_session_num_inputs(session), 1u);
  ASSERT_EQ(pto_session_num_outputs(session), 1u);
  pto_tensor_info info;
  ASSERT_EQ(pto_session_output_info(session, 0, &info), 0);
  EXPECT_STREQ(info.name, "y");
  EXPECT_STREQ(info.type, "f32");
  EXPECT_EQ(info.rank, 2u);
  EXPECT_EQ(info.bytes, 24u);
  EXPECT_NE(pto_session_input_info(session, 1, &info), 0);

  float x[6] = {0, 0, 0, 1, 1, 1}, y[6];
  uint64_t shape[2] = {2, 3};
  pto_input input = {"x", "f32", shape, 2, x};
  pto_output output = {"y", y, sizeof(y)};
  ASSERT_EQ(pto_session_run(session, &input, 1, &output, 1), 0) << pto_last_error();
  EXPECT_THAT(y, ::testing::ElementsAre(1, 2, 3, 0, 6, 0));

  output.bytes = 20;
  EXPECT_NE(pto_session_run(session, &input, 1, &output, 1), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("output 'y' has 24 bytes, its buffer 20"));
  input.type = "f33";
  EXPECT_NE(pto_session_run(session, &input, 1, &output, 1), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("unknown type 'f33'"));
  EXPECT_NE(pto_session_run(session, nullptr, 0, &output, 1), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("input 'x' is missing"));
  pto_session_close(session);
  std::filesystem::remove(path);
  EXPECT_NE(pto_session_open(path.c_str(), nullptr, 0, nullptr, &session), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("cannot open"));
}

/// A program on strings: y = x + x, and one that gives a number which no string has.
pmodel::ModelDesc stringModel() {
  std::string type = "tensor<2xstring>";
  auto module = bytecode::assemble(".vm 1\n.target \"a3\"\n.const 0 = kernel @host.string_concat (" + type + ", " +
                                   type + ") -> (" + type + ")\n.func @main(" + type + ") -> (" + type + ") slots(" +
                                   type + ") {\n  aload_0\n  aload_0\n  invokestatic 0\n  return\n}\n");
  EXPECT_TRUE(module) << module.error();
  static const std::vector<float> bias(6); // the model refers to it
  pmodel::ModelDesc model = biasReluModel(2, 3, bias);
  model.programs = {pmodel::HostProgramDesc{"twice", bytecode::serialize(*module), {"x"}, {"y"}}};
  return model;
}

/// y = relu(x) on the device whose number is the other input.
pmodel::ModelDesc modelOnDevices() {
  static const std::vector<float> bias(6); // the model refers to it
  pmodel::ModelDesc model = biasReluModel(2, 3, bias);
  model.kernels = {reluKernel("k", 2, 3)};
  model.weights.clear();
  model.nets.clear();
  auto module = bytecode::assemble(
      ".vm 1\n.target \"a3\"\n.const 0 = kernel @device.k (tensor<2x3xf32>, tensor<2x3xf32>, i64) {\"directions\" = "
      "\"in,out\", \"ranked\" = 1}\n.func @main(tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x3xf32>) "
      "slots(tensor<2x3xf32>, tensor<1xi64>, tensor<2x3xf32>) {\n  reserve tensor<2x3xf32>\n  astore_2\n  aload_0\n"
      "  aload_2\n  aload_1\n  iconst i64, 0\n  tload\n  submit 0, 0\n  pop\n  aload_2\n  return\n}\n");
  EXPECT_TRUE(module) << module.error();
  model.programs = {pmodel::HostProgramDesc{"ranked", bytecode::serialize(*module), {"x", "device"}, {"y"}}};
  return model;
}

TEST(CApi, RunsKernelsOnDevices) {
  std::string path = temporaryPath("ranked.pmodel");
  auto written = pmodel::writeModel(modelOnDevices(), path);
  ASSERT_TRUE(written) << written.error();
  pto_session *session = nullptr;
  ASSERT_EQ(pto_session_open(path.c_str(), nullptr, 1, nullptr, &session), 0) << pto_last_error();
  float x[6] = {1, -2, 3, -4, 5, -6}, y[6];
  int64_t device = 0;
  uint64_t shape[2] = {2, 3}, one = 1;
  pto_input inputs[2] = {{"x", "f32", shape, 2, x}, {"device", "i64", &one, 1, &device}};
  pto_output output = {"y", y, sizeof(y)};
  for (int64_t number : {0, 63, -1, 64, 1, 7}) {
    device = number;
    std::fill(y, y + 6, 0);
    bool isThere = number >= 0 && number < 64;
    ASSERT_EQ(pto_session_run(session, inputs, 2, &output, 1) == 0, isThere) << pto_last_error();
    if (isThere)
      EXPECT_THAT(y, ::testing::ElementsAre(1, 0, 3, 0, 5, 0));
    else
      EXPECT_THAT(pto_last_error(), HasSubstr("there is no device " + std::to_string(number)));
  }
  pto_session_close(session);
  std::filesystem::remove(path);
}

TEST(CApi, PassesStrings) {
  std::string path = temporaryPath("strings.pmodel");
  ASSERT_TRUE(pmodel::writeModel(stringModel(), path));
  pto_session *session = nullptr;
  ASSERT_EQ(pto_session_open(path.c_str(), nullptr, 1, "twice", &session), 0) << pto_last_error();
  pto_tensor_info info;
  ASSERT_EQ(pto_session_input_info(session, 0, &info), 0);
  EXPECT_STREQ(info.type, "string");
  EXPECT_EQ(info.bytes, 2 * sizeof(pto_string));
  pto_string x[2] = {{"a\0b", 3}, {"", 0}}, y[2];
  uint64_t shape[1] = {2};
  pto_input input = {"x", "string", shape, 1, x};
  pto_output output = {"y", y, sizeof(y)};
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(pto_session_run(session, &input, 1, &output, 1), 0) << pto_last_error();
    EXPECT_EQ(std::string(y[0].data, y[0].size), std::string("a\0ba\0b", 6));
    EXPECT_EQ(y[1].size, 0u);
  }
  output.bytes = 16;
  EXPECT_NE(pto_session_run(session, &input, 1, &output, 1), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("output 'y' has 32 bytes, its buffer 16"));
  input.type = "i64";
  EXPECT_NE(pto_session_run(session, &input, 1, &output, 1), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("expects string 2, got i64 2"));
  pto_session_close(session);
  std::filesystem::remove(path);
}

TEST(CApi, FilesHoldNoNumbersOfStrings) {
  std::string path = temporaryPath("strings.pmodel");
  pmodel::ModelDesc model = stringModel();
  model.nets[0].variants[0].inputs[0].type = ElementType::String;
  EXPECT_THAT(pmodel::writeModel(model, path).error(), HasSubstr("a net has no strings"));
  auto module = bytecode::assemble(".vm 1\n.target \"a3\"\n.const 0 = bytes \"0700000000000000\" : tensor<1xstring>\n"
                                   ".func @main() -> (tensor<1xstring>) slots() {\n  ldc tensor, 0\n  return\n}\n");
  if (module)
    EXPECT_THAT(bytecode::Program::load(module.take()).error(), HasSubstr("the numbers of strings"));
}

} // namespace
