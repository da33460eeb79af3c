// Outputs that begin with contents: the input of their name, zeros, or the caller's memory.
#include "TestModel.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Verifier.h"
#include "pto_mlir/Runtime/Session.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <functional>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::runtime;
using namespace pto_mlir::testing;
using ::testing::Each;
using ::testing::HasSubstr;

namespace {

constexpr uint64_t half = 2 * 8 * 4; // bytes of x

TensorDesc tensor(const std::string &name, uint64_t rows, bool preset) {
  TensorDesc desc;
  desc.name = name;
  desc.shape = {rows, 8};
  desc.preset = preset;
  return desc;
}

/// relu(x) goes to the first half of y, which is an input as well, and to the second half of z.
ModelDesc presetModel() {
  ModelDesc model;
  model.producer = "test";
  model.processor = "a3";
  model.kernels.push_back(reluKernel("relu", 2, 8));
  VariantDesc variant;
  variant.inputs = {tensor("x", 2, false), tensor("y", 4, false)};
  variant.outputs = {tensor("y", 4, true), tensor("z", 4, true)};
  ProgramWriter writer;
  writer.callDevice(0, {{0, 0, half}, {2, 0, half}});
  writer.callDevice(0, {{0, 0, half}, {3, half, half}});
  writer.wait();
  writer.ret();
  variant.program = {"main", writer.take(), EntrySlots(2, 2).firstFree(), {}, {0}, "a3"};
  model.nets.push_back({"halves", {variant}, "", ""});
  return model;
}

std::vector<float> floats(const HostTensor &tensor) {
  std::vector<float> values(tensor.bytes / 4);
  std::memcpy(values.data(), tensor.data.get(), tensor.bytes);
  return values;
}

std::vector<float> firstHalf(const std::vector<float> &all) { return {all.begin(), all.begin() + 16}; }
std::vector<float> secondHalf(const std::vector<float> &all) { return {all.begin() + 16, all.end()}; }

class Presets : public ::testing::TestWithParam<Schedule> {
protected:
  std::string path = temporaryPath("preset.pmodel");
  void TearDown() override { std::filesystem::remove(path); }
  std::unique_ptr<Session> open() {
    auto written = writeModel(presetModel(), path);
    EXPECT_TRUE(written) << written.error();
    SessionOptions options;
    options.schedule = GetParam();
    auto session = Session::open(path, options);
    EXPECT_TRUE(session) << session.error();
    return session ? session.take() : nullptr;
  }
  std::vector<float> x = std::vector<float>(16, 3), y = std::vector<float>(32, 7), z = std::vector<float>(32, 9);
};

TEST_P(Presets, BeginWithTheInputOrZerosInEveryRun) {
  auto session = open();
  ASSERT_TRUE(session);
  for (int run = 0; run < 2; ++run) {
    auto outputs = session->run({{"x", ElementType::F32, {2, 8}, x.data()}, {"y", ElementType::F32, {4, 8}, y.data()}});
    ASSERT_TRUE(outputs) << outputs.error();
    EXPECT_THAT(firstHalf(floats((*outputs)[0])), Each(3.0f));
    EXPECT_THAT(secondHalf(floats((*outputs)[0])), Each(7.0f));
    EXPECT_THAT(firstHalf(floats((*outputs)[1])), Each(0.0f));
    EXPECT_THAT(secondHalf(floats((*outputs)[1])), Each(3.0f));
  }
}

TEST_P(Presets, AreTheCallersMemoryInPlace) {
  auto session = open();
  ASSERT_TRUE(session);
  std::vector<NamedMemory> memory = {{"x", x.data(), half}, {"y", y.data(), 2 * half}, {"z", z.data(), 2 * half}};
  for (int run = 0; run < 2; ++run) {
    Status status = session->runInPlace(memory);
    ASSERT_TRUE(status) << status.error();
    EXPECT_THAT(firstHalf(y), Each(3.0f));
    EXPECT_THAT(secondHalf(y), Each(7.0f));
    EXPECT_THAT(firstHalf(z), Each(9.0f));
    EXPECT_THAT(secondHalf(z), Each(3.0f));
  }
  auto failure = [&](std::vector<NamedMemory> given) { return session->runInPlace(given).error(); };
  EXPECT_THAT(failure({memory[0], memory[1]}), HasSubstr("'z' is missing"));
  EXPECT_THAT(failure({memory[0], memory[1], {"z", z.data(), 4}}), HasSubstr("'z' has 128 bytes, not 4"));
  EXPECT_THAT(failure({memory[0], memory[1], memory[2], {"w", z.data(), 4}}), HasSubstr("no input or output 'w'"));
}

INSTANTIATE_TEST_SUITE_P(Schedules, Presets, ::testing::Values(Schedule::Tasks, Schedule::InOrder));

TEST(PresetVerifier, FindsEveryMisuse) {
  auto verifyWith = [](const std::function<void(VariantDesc &)> &change) {
    ModelDesc model = presetModel();
    change(model.nets[0].variants[0]);
    Status status = verifyModel(model, layoutWeights(model.weights));
    return status ? "" : status.error();
  };
  EXPECT_EQ(verifyWith([](VariantDesc &) {}), "");
  EXPECT_THAT(verifyWith([](VariantDesc &v) { v.inputs[0].preset = true; }), HasSubstr("input 'x' is preset"));
  EXPECT_THAT(verifyWith([](VariantDesc &v) { v.inputs[1].shape = {2, 16}; }), HasSubstr("another type or shape"));
  EXPECT_THAT(verifyWith([](VariantDesc &v) { v.outputs[0].type = ElementType::I32; }),
              HasSubstr("sizes or a storage type of its own"));
}

TEST(PresetFile, IsMarkedForItsReaders) {
  std::string path = temporaryPath("preset_marked.pmodel");
  ASSERT_TRUE(writeModel(presetModel(), path));
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  EXPECT_THAT((*file)->metadataJson(), HasSubstr("\"min_reader_minor\": 3"));
  EXPECT_TRUE((*file)->model().nets[0].variants[0].outputs[1].preset);
  EXPECT_FALSE((*file)->model().nets[0].variants[0].inputs[1].preset);
  std::filesystem::remove(path);
}

} // namespace
