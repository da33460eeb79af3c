// Sessions on the cmodel, with hand-assembled models.
#include "pto_mlir/Runtime/Session.h"
#include "TestModel.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/PModel/Program.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::runtime;
using namespace pto_mlir::testing;
using ::testing::HasSubstr;

namespace {

std::vector<float> ramp(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = scale * (static_cast<float>(i % 11) - 5);
  return values;
}

std::vector<float> floats(const HostTensor &tensor) {
  std::vector<float> values(tensor.bytes / 4);
  std::memcpy(values.data(), tensor.data.get(), tensor.bytes);
  return values;
}

class SessionOnCModel : public ::testing::Test {
protected:
  std::string path = temporaryPath("session.pmodel");
  void TearDown() override { std::filesystem::remove(path); }

  std::unique_ptr<Session> open(const ModelDesc &model, SessionOptions options = {}) {
    auto summary = writeModel(model, path);
    EXPECT_TRUE(summary) << summary.error();
    auto session = Session::open(path, options);
    EXPECT_TRUE(session) << session.error();
    return session ? session.take() : nullptr;
  }
  static InputTensor input(const std::vector<float> &values, std::vector<uint64_t> shape) {
    return {"x", ElementType::F32, std::move(shape), values.data()};
  }
};

TEST_F(SessionOnCModel, ComputesOnOneAndSeveralBlocks) {
  for (unsigned blocks : {1u, 2u, 5u}) {
    std::vector<float> bias = ramp(13 * 37, 0.25f), x = ramp(13 * 37, -1.5f);
    auto session = open(biasReluModel(13, 37, bias, blocks));
    ASSERT_TRUE(session);
    for (int run = 0; run < 3; ++run) { // buffers are reused
      auto outputs = session->run({input(x, {13, 37})});
      ASSERT_TRUE(outputs) << outputs.error();
      ASSERT_EQ(outputs->size(), 1u);
      EXPECT_EQ(outputs->front().name, "y");
      EXPECT_EQ(outputs->front().shape, (std::vector<uint64_t>{13, 37}));
      std::vector<float> y = floats(outputs->front());
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], std::max(x[i] + bias[i], 0.0f)) << i;
      x[run] += 1;
    }
    auto profile = session->profile();
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->launches, 6u);
  }
}

TEST_F(SessionOnCModel, AHostProgramRunsItsNets) {
  // y = max(x + bias, 0) applied n times, n an input.
  std::vector<float> bias = ramp(2 * 5, 1), x = ramp(2 * 5, -1);
  ModelDesc model = biasReluModel(2, 5, bias);
  std::string type = "tensor<2x5xf32>";
  auto module = bytecode::assemble(".vm 1\n.target \"a3\"\n.const 0 = kernel @device." + model.nets[0].name + " (" +
                                   type + ") -> (" + type + ")\n" + ".func @main(" + type + ", tensor<i64>) -> (" +
                                   type + ") slots(" + type + ", tensor<i64>, i64) {\n" +
                                   "  aload_1\n  tload\n  istore_2\nL:\n  aload_0\n  invokestatic 0\n  astore_0\n  "
                                   "iload_2\n  iconst i64, 1\n  isub\n" +
                                   "  dup\n  istore_2\n  ifne L\n  aload_0\n  return\n}\n");
  ASSERT_TRUE(module) << module.error();
  model.programs = {HostProgramDesc{"again", bytecode::serialize(*module), {"x", "n"}, {"z"}}};
  auto session = open(model);
  ASSERT_TRUE(session);
  EXPECT_EQ(session->net().name, "again");
  EXPECT_STREQ(session->deviceName(), "cmodel");
  for (int64_t n : {1, 4}) {
    auto outputs = session->run({input(x, {2, 5}), {"n", ElementType::I64, {}, &n}});
    ASSERT_TRUE(outputs) << outputs.error();
    EXPECT_EQ(outputs->front().name, "z");
    std::vector<float> expected = x, z = floats(outputs->front());
    for (int64_t k = 0; k < n; ++k)
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] = std::max(expected[i] + bias[i], 0.0f);
    EXPECT_EQ(z, expected);
  }
  EXPECT_EQ(session->profile()->launches, 2u * 5);
  EXPECT_THAT(session->run({input(x, {2, 5})}).error(), HasSubstr("input 'n' is missing"));
  EXPECT_THAT(session->run({input(x, {2, 5}), {"n", ElementType::I64, {}, x.data()}}, {"y"}).error(),
              HasSubstr("has no output 'y', it has 'z'"));
  // A net of the file can still be run by its name.
  SessionOptions options;
  options.net = model.nets[0].name;
  auto net = open(model, options);
  ASSERT_TRUE(net);
  EXPECT_TRUE(net->run({input(x, {2, 5})}));
}

TEST_F(SessionOnCModel, SizesAreKnownAtRunTime) {
  for (unsigned blocks : {1u, 3u})
    for (const char *mode : {"functional", "timing", "checked"})
      for (Schedule schedule : {Schedule::Tasks, Schedule::InOrder}) {
        std::vector<float> bias = ramp(16 * 5, 0.25f), x = ramp(17 * 5, -1.5f);
        SessionOptions options;
        options.device.mode = mode;
        options.schedule = schedule;
        auto session = open(sizedModel(1, 16, 1, 5, bias, blocks), options);
        ASSERT_TRUE(session);
        for (unsigned rows : {3u, 16u, 1u, 13u}) {
          auto outputs = session->run({input(x, {rows, 5})});
          ASSERT_TRUE(outputs) << mode << " " << rows << ": " << outputs.error();
          EXPECT_EQ(outputs->front().shape, (std::vector<uint64_t>{rows, 5}));
          std::vector<float> y = floats(outputs->front());
          ASSERT_EQ(y.size(), rows * 5);
          for (size_t i = 0; i < y.size(); ++i)
            ASSERT_EQ(y[i], std::max(x[i] + bias[i], 0.0f)) << mode << " " << rows << ": " << i;
        }
        EXPECT_THAT(session->run({input(x, {17, 5})}).error(),
                    HasSubstr("dimension 0 of input 'x' is 17, it must be 'rows', 1 to 16"));
        EXPECT_THAT(session->run({input(x, {4})}).error(), HasSubstr("input 'x': expects f32 16x5, got f32 4"));
      }
}

TEST_F(SessionOnCModel, DebugTensorsComeInTheirOnnxLayout) {
  std::vector<float> bias = ramp(3 * 4, 1), x = ramp(3 * 4, 2);
  auto session = open(biasReluModel(3, 4, bias));
  ASSERT_TRUE(session);
  auto tensors = session->runWithDebug({input(x, {3, 4})});
  ASSERT_TRUE(tensors) << tensors.error();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "y");
  EXPECT_EQ((*tensors)[1].name, "sum");
  EXPECT_EQ((*tensors)[1].shape, (std::vector<uint64_t>{1, 4, 3}));
  std::vector<float> sum = floats((*tensors)[1]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(sum[j * 3 + i], x[i * 4 + j] + bias[i * 4 + j]);
}

TEST_F(SessionOnCModel, BadInputsSayWhatIsExpected) {
  std::vector<float> bias = ramp(6, 1), x = ramp(6, 1);
  auto session = open(biasReluModel(2, 3, bias));
  ASSERT_TRUE(session);
  auto error = [&](std::vector<InputTensor> inputs, std::vector<std::string> names = {}) {
    auto outputs = session->run(inputs, names);
    return outputs ? "" : outputs.error();
  };
  EXPECT_EQ(error({}), "input 'x' is missing: expects f32 2x3");
  EXPECT_EQ(error({input(x, {3, 2})}), "input 'x': expects f32 2x3, got f32 3x2");
  EXPECT_EQ(error({{"x", ElementType::F64, {2, 3}, x.data()}}), "input 'x': expects f32 2x3, got f64 2x3");
  EXPECT_EQ(error({{"z", ElementType::F32, {2, 3}, x.data()}}), "the net has no input 'z', it expects 'x'");
  EXPECT_EQ(error({input(x, {2, 3}), input(x, {2, 3})}), "input 'x' is given twice");
  EXPECT_EQ(error({input(x, {2, 3})}, {"q"}), "the net has no output 'q', it has 'y'");
  EXPECT_EQ(error({input(x, {2, 3})}, {"y", "y"}), "");
}

TEST_F(SessionOnCModel, ADamagedWeightIsFoundAtUpload) {
  std::vector<float> bias = ramp(6, 1);
  open(biasReluModel(2, 3, bias));
  std::vector<char> bytes = readFile(path);
  bytes[bytes.size() - 64] ^= 1; // the only weight occupies the last 64 bytes
  writeFile(path, bytes);
  auto session = Session::open(path);
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error(), HasSubstr("weight 'bias' is damaged"));
}

TEST_F(SessionOnCModel, ShapesChooseTheVariant) {
  std::vector<float> bias = ramp(4 * 5, 1), x = ramp(4 * 5, -1);
  ModelDesc model = biasReluModel(4, 5, bias);
  ModelDesc small = biasReluModel(2, 5, bias);
  for (KernelDesc &kernel : small.kernels) {
    kernel.name += "_small";
    model.kernels.push_back(kernel);
  }
  small.nets[0].variants[0].program.kernels = {2, 3};
  model.nets[0].variants.push_back(small.nets[0].variants[0]);
  auto session = open(model);
  ASSERT_TRUE(session);
  for (uint64_t rows : {2, 4, 2}) {
    auto outputs = session->run({input(x, {rows, 5})});
    ASSERT_TRUE(outputs) << outputs.error();
    std::vector<float> y = floats(outputs->front());
    ASSERT_EQ(y.size(), rows * 5);
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], std::max(x[i] + bias[i], 0.0f));
  }
  auto outputs = session->run({input(x, {3, 5})});
  ASSERT_FALSE(outputs);
  EXPECT_THAT(outputs.error(), HasSubstr("none of the 2 variants"));
}

TEST_F(SessionOnCModel, HostOpsRunBetweenLaunches) {
  std::vector<float> bias = ramp(6, 1), x = ramp(6, 3);
  ModelDesc model = biasReluModel(2, 3, bias);
  VariantDesc &variant = model.nets[0].variants[0];
  EntrySlots slots(variant);
  ProgramWriter writer;
  writer.alloc(slots.firstFree(), 24);
  writer.callDevice(1, {{slots.input(0), 0, 24}, {slots.firstFree(), 0, 24}});
  writer.callHost(0, {slots.firstFree(), slots.output(0)});
  writer.ret();
  variant.program.code = writer.take();
  variant.program.constants = {1, 6, 4, 2, 2, 3, 1, 0}; // transpose of 2x3
  auto session = open(model);
  ASSERT_TRUE(session);
  auto outputs = session->run({input(x, {2, 3})});
  ASSERT_TRUE(outputs) << outputs.error();
  std::vector<float> y = floats(outputs->front());
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(y[j * 2 + i], std::max(x[i * 3 + j], 0.0f));
}

TEST_F(SessionOnCModel, NarrowedInputsAreCheckedForRange) {
  // The bits of small integers are tiny positive floats, which relu does not change: an identity on integers.
  ModelDesc model = biasReluModel(1, 3, std::vector<float>());
  model.weights.clear();
  VariantDesc &variant = model.nets[0].variants[0];
  EntrySlots slots(variant);
  ProgramWriter writer;
  writer.alloc(slots.firstFree(), 12);
  writer.callDevice(1, {{slots.input(0), 0, 12}, {slots.output(0), 0, 12}});
  writer.ret();
  variant.program.code = writer.take();
  for (TensorDesc *tensor : {&variant.inputs[0], &variant.outputs[0]}) {
    tensor->type = ElementType::I64;
    tensor->storageType = ElementType::I32;
  }
  auto session = open(model);
  ASSERT_TRUE(session);
  std::vector<int64_t> values = {1065353216, 0, 1073741824}; // the bits of 1.0f, 0.0f, 2.0f
  auto outputs = session->run({{"x", ElementType::I64, {1, 3}, values.data()}});
  ASSERT_TRUE(outputs) << outputs.error();
  EXPECT_EQ(outputs->front().type, ElementType::I64);
  EXPECT_EQ(std::memcmp(outputs->front().data.get(), values.data(), 24), 0);
  values[2] = int64_t(1) << 40;
  outputs = session->run({{"x", ElementType::I64, {1, 3}, values.data()}});
  ASSERT_FALSE(outputs);
  EXPECT_THAT(outputs.error(), HasSubstr("input 'x': element 2 has the value 1099511627776"));
}

TEST_F(SessionOnCModel, AFaultIsAnErrorAndTheSessionGoesOn) {
  std::vector<float> bias = ramp(6, 1), x = ramp(6, 1);
  ModelDesc model = biasReluModel(2, 3, bias);
  VariantDesc &variant = model.nets[0].variants[0];
  EntrySlots slots(variant);
  ProgramWriter writer;
  writer.alloc(slots.firstFree(), 24);
  writer.callDevice(1, {{slots.input(0), 0, 20}, {slots.output(0), 0, 24}}); // the kernel reads 24 bytes
  writer.ret();
  variant.program.code = writer.take();
  auto session = open(model);
  ASSERT_TRUE(session);
  for (int run = 0; run < 2; ++run) {
    auto outputs = session->run({input(x, {2, 3})});
    ASSERT_FALSE(outputs);
    EXPECT_THAT(outputs.error(), HasSubstr("kernel 'k1_y' faulted on AIV"));
  }
}

TEST_F(SessionOnCModel, ThreadsMayShareASession) {
  std::vector<float> bias = ramp(64, 1);
  auto session = open(biasReluModel(8, 8, bias));
  ASSERT_TRUE(session);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> x(64, static_cast<float>(t));
      for (int run = 0; run < 20; ++run) {
        auto outputs = session->run({input(x, {8, 8})});
        if (!outputs || floats(outputs->front())[63] != std::max(x[63] + bias[63], 0.0f))
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SessionOnCModel, MemoryThatNobodyHasIsAnError) {
  std::vector<float> bias = ramp(6, 1);
  ModelDesc model = biasReluModel(2, 3, bias);
  VariantDesc &variant = model.nets[0].variants[0];
  EntrySlots slots(variant);
  variant.workspaceBytes = uint64_t(1) << 45;
  ProgramWriter writer;
  writer.alloc(slots.firstFree(), variant.workspaceBytes);
  writer.ret();
  variant.program.code = writer.take();
  ASSERT_TRUE(writeModel(model, path));
  auto session = Session::open(path);
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error(), HasSubstr("cannot allocate 35184372088832 bytes for the workspace"));
}

TEST_F(SessionOnCModel, TheNetIsChosenByName) {
  std::vector<float> bias = ramp(6, 1);
  ModelDesc model = biasReluModel(2, 3, bias);
  model.nets.push_back(model.nets[0]);
  model.nets[1].name = "other";
  ASSERT_TRUE(writeModel(model, path));
  EXPECT_THAT(Session::open(path).error(), HasSubstr("has several nets, choose one of 'bias_relu', 'other'"));
  SessionOptions options;
  options.net = "third";
  EXPECT_THAT(Session::open(path, options).error(), HasSubstr("has no net 'third'"));
  options.net = "other";
  EXPECT_TRUE(Session::open(path, options));
}

} // namespace
