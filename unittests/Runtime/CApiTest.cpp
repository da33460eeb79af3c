#include "pto_mlir/Runtime/CApi.h"
#include "TestModel.h"
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

} // namespace
