// State between runs, with the hand-assembled accumulator.
#include "TestModel.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/Runtime/CApi.h"
#include "pto_mlir/Runtime/Session.h"
#include "pto_mlir/Support/Safetensors.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::runtime;
using namespace pto_mlir::testing;
using ::testing::Each;
using ::testing::HasSubstr;

namespace {

std::vector<float> floats(const HostTensor &tensor) {
  std::vector<float> values(tensor.bytes / 4);
  std::memcpy(values.data(), tensor.data.get(), tensor.bytes);
  return values;
}

class StateOnCModel : public ::testing::TestWithParam<Schedule> {
protected:
  std::vector<float> begin = std::vector<float>(6, 7.0f);
  std::string path = temporaryPath("memory.pmodel"), saved = temporaryPath("memory.safetensors");
  void TearDown() override {
    std::filesystem::remove(path);
    std::filesystem::remove(saved);
  }
  std::unique_ptr<Session> open(const ModelDesc &model) {
    EXPECT_TRUE(writeModel(model, path));
    SessionOptions options;
    options.schedule = GetParam();
    auto session = Session::open(path, options);
    EXPECT_TRUE(session) << session.error();
    return session ? session.take() : nullptr;
  }
  /// Adds `value` to the total; the first element of y, or -1 after an error, which is in `error`.
  float step(Session &session, float value, ModelState *state = nullptr) {
    std::vector<float> x(6, value);
    auto outputs = session.run({{"x", ElementType::F32, {2, 3}, x.data()}}, {}, state);
    error = outputs ? "" : outputs.error();
    if (!outputs)
      return -1;
    EXPECT_THAT(floats(outputs->front()), Each(floats(outputs->front())[0]));
    return floats(outputs->front())[0];
  }
  float last(const ModelState &state) { return floats((*state.tensors())[1])[0]; }
  std::string error;
};

TEST_P(StateOnCModel, RunsContinueWhereTheStateIs) {
  auto session = open(accumulatorModel(2, 3, begin));
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->hasState());
  EXPECT_EQ(step(*session, 1), 1);
  EXPECT_EQ(step(*session, 2), 3);
  auto a = session->newState(), b = session->newState();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(last(**a), 7);
  EXPECT_EQ(step(*session, 10, a->get()), 10);
  EXPECT_EQ(step(*session, 20, b->get()), 20);
  EXPECT_EQ(step(*session, 11, a->get()), 21);
  EXPECT_EQ(step(*session, 3), 6); // the session's own
  EXPECT_EQ((*a)->position(), 2u);
  EXPECT_EQ((*b)->position(), 1u);
  EXPECT_EQ(last(**a), 11);
  auto copy = (*a)->fork();
  ASSERT_TRUE(copy);
  EXPECT_EQ(step(*session, 1, a->get()), 22);
  EXPECT_EQ(step(*session, 2, copy->get()), 23);
  EXPECT_EQ((*copy)->position(), 3u);
  EXPECT_EQ(step(*session, 1, copy->get()), -1);
  EXPECT_THAT(error, HasSubstr("state 'memory' has 3 positions, this run adds 1, and there is room for 3"));
  ASSERT_TRUE((*copy)->reset());
  EXPECT_EQ(last(**copy), 7);
  EXPECT_EQ(step(*session, 5, copy->get()), 5);
  session.reset();
  EXPECT_EQ((*a)->position(), 3u); // a state keeps the device
}

TEST_P(StateOnCModel, SavedStatesAreLoaded) {
  auto session = open(accumulatorModel(2, 3, begin));
  ASSERT_TRUE(session);
  auto state = session->newState(), other = session->newState();
  ASSERT_TRUE(state && other);
  step(*session, 4, state->get());
  ASSERT_TRUE((*state)->save(saved));
  step(*session, 4, state->get());
  Status loaded = (*other)->load(saved);
  ASSERT_TRUE(loaded) << loaded.error();
  EXPECT_EQ((*other)->position(), 1u);
  EXPECT_EQ(step(*session, 1, other->get()), 5);
  ASSERT_TRUE((*state)->load(saved));
  EXPECT_EQ(step(*session, 2, state->get()), 6);
}

TEST_P(StateOnCModel, FilesThatDoNotFitAreRefused) {
  auto session = open(accumulatorModel(2, 3, begin));
  auto state = session->newState();
  step(*session, 4, state->get());
  int64_t position = 1, far = 4;
  auto load = [&](std::vector<SafetensorsEntry> entries) {
    std::string failed;
    EXPECT_TRUE(writeSafetensors(saved, entries, failed)) << failed;
    Status status = (*state)->load(saved);
    EXPECT_EQ((*state)->position(), 1u);
    return status ? "" : status.error();
  };
  auto tensor = [&](const char *name, std::vector<int64_t> shape, const char *type = "F32") {
    return SafetensorsEntry{name, type, std::move(shape), reinterpret_cast<const char *>(begin.data()), 24};
  };
  auto place = [](const int64_t &at) {
    return SafetensorsEntry{"state.position", "I64", {1}, reinterpret_cast<const char *>(&at), 8};
  };
  EXPECT_THAT(load({tensor("total", {2, 3}), tensor("last", {2, 3})}), HasSubstr("has no position"));
  EXPECT_THAT(load({tensor("total", {2, 3}), place(position)}), HasSubstr("needs 'last', which is missing"));
  EXPECT_THAT(load({tensor("total", {2, 3}), tensor("last", {3, 2}), place(position)}),
              HasSubstr("'last' is f32 2x3, got f32 3x2"));
  EXPECT_THAT(load({tensor("total", {2, 3}), tensor("last", {2, 3}, "I32"), place(position)}),
              HasSubstr("'last' is F32 2x3, got I32 2x3"));
  EXPECT_THAT(load({tensor("total", {2, 3}), tensor("last", {2, 3}), tensor("more", {6}), place(position)}),
              HasSubstr("has no 'more'"));
  EXPECT_THAT(load({tensor("total", {2, 3}), tensor("last", {2, 3}), place(far)}),
              HasSubstr("has room for 3 positions, got 4"));
  EXPECT_EQ(load({tensor("total", {2, 3}), tensor("last", {2, 3}), place(position)}), "");
  EXPECT_THAT((*state)->load(path).error(), HasSubstr(path));
  EXPECT_EQ(step(*session, 1, state->get()), 8);
}

TEST_P(StateOnCModel, TruncationKnowsWhatCanGoBack) {
  ModelDesc model = accumulatorModel(2, 3, begin);
  auto session = open(model);
  auto state = session->newState();
  step(*session, 4, state->get());
  step(*session, 4, state->get());
  EXPECT_THAT((*state)->truncate(3).error(), HasSubstr("has 2 positions, cannot truncate it to 3"));
  EXPECT_THAT((*state)->truncate(1).error(), HasSubstr("every run replaces 'total'"));
  EXPECT_TRUE((*state)->truncate(2));
  EXPECT_TRUE((*state)->truncate(0));
  EXPECT_EQ(step(*session, 1, state->get()), 1);
  // Rows stay where they are.
  model.states[0].tensors[0].places = 1;
  for (StateTensorDesc &tensor : model.states[0].tensors)
    tensor.sequenceAxis = 0;
  VariantDesc &variant = model.nets[0].variants[0];
  EntrySlots slots(variant);
  ProgramWriter writer;
  writer.callDevice(1, {{slots.input(0), 0, 24}, {slots.state(), 512, 24}});
  writer.callDevice(1, {{slots.state(), 512, 24}, {slots.output(0), 0, 24}});
  writer.ret();
  variant.program.code = writer.take();
  auto rows = open(model);
  auto cache = rows->newState();
  step(*rows, 4, cache->get());
  step(*rows, 5, cache->get());
  EXPECT_TRUE((*cache)->truncate(1));
  EXPECT_EQ((*cache)->position(), 1u);
  EXPECT_EQ(floats((*(*cache)->tensors())[0])[0], 5);
}

TEST_P(StateOnCModel, ARunThatFailsLeavesThePosition) {
  ModelDesc model = accumulatorModel(2, 3, begin);
  VariantDesc &variant = model.nets[0].variants[0];
  std::vector<uint8_t> good = variant.program.code;
  EntrySlots slots(variant);
  auto program = [&](bool replaces) {
    ProgramWriter writer;
    writer.callDevice(0, {{slots.input(0), 0, 24}, {slots.state(), 512, 24}, {slots.state(), 1024, 24}});
    if (replaces)
      writer.callDevice(1, {{slots.input(0), 0, 24}, {slots.state(), 1536, 24}});
    writer.callDevice(1, {{slots.state(), 1024, 20}, {slots.output(0), 0, 24}}); // the kernel reads 24 bytes
    writer.ret();
    return writer.take();
  };
  // The good program and the one that fails are variants, told apart by the shape of x.
  for (bool replaces : {false, true}) {
    ModelDesc both = model;
    VariantDesc bad = variant;
    for (auto *list : {&bad.inputs, &bad.outputs})
      list->front().shape = {6};
    bad.program.code = program(replaces);
    both.nets[0].variants.push_back(bad);
    auto session = open(both);
    auto state = session->newState();
    EXPECT_EQ(step(*session, 4, state->get()), 4);
    std::vector<float> x(6, 9);
    auto outputs = session->run({{"x", ElementType::F32, {6}, x.data()}}, {}, state->get());
    ASSERT_FALSE(outputs);
    EXPECT_THAT(outputs.error(), HasSubstr("faulted"));
    EXPECT_EQ((*state)->position(), 1u);
    EXPECT_EQ(step(*session, 1, state->get()), replaces ? -1 : 5) << error;
    if (!replaces)
      continue;
    EXPECT_THAT(error, HasSubstr("was left half-written by a run that failed"));
    ASSERT_TRUE((*state)->reset());
    EXPECT_EQ(step(*session, 1, state->get()), 1);
  }
}

TEST_P(StateOnCModel, StatesBelongToTheirSession) {
  auto session = open(accumulatorModel(2, 3, begin));
  auto other = Session::open(path);
  ASSERT_TRUE(other);
  auto state = (*other)->newState();
  EXPECT_EQ(step(*session, 4, state->get()), -1);
  EXPECT_THAT(error, HasSubstr("was made by another session"));
  auto without = open(biasReluModel(2, 3, begin));
  EXPECT_FALSE(without->hasState());
  EXPECT_THAT(without->newState().error(), HasSubstr("has no state"));
  EXPECT_EQ(step(*without, 4, state->get()), -1);
  EXPECT_THAT(error, HasSubstr("net 'bias_relu' has no state"));
}

TEST_P(StateOnCModel, TwoRunsOnOneStateAreAnError) {
  ModelDesc model = accumulatorModel(2, 3, begin);
  model.nets[0].variants[0].state->limit = 0;
  auto session = open(model);
  auto state = session->newState();
  std::atomic<int> done = 0, refused = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<float> x(6, 1);
      for (int run = 0; run < 50; ++run) {
        auto outputs = session->run({{"x", ElementType::F32, {2, 3}, x.data()}}, {}, state->get());
        ++(outputs ? done : refused);
        if (!outputs)
          EXPECT_THAT(outputs.error(), HasSubstr("is in use by another run"));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(done + refused, 200);
  EXPECT_EQ((*state)->position(), uint64_t(done));
  EXPECT_EQ(floats((*(*state)->tensors())[0])[0], float(done));
}

INSTANTIATE_TEST_SUITE_P(Schedules, StateOnCModel, ::testing::Values(Schedule::Tasks, Schedule::InOrder));

TEST(StateCApi, HasTheSameFunctions) {
  std::string path = temporaryPath("memory_c.pmodel"), saved = temporaryPath("memory_c.safetensors");
  std::vector<float> begin(6, 7.0f);
  ASSERT_TRUE(writeModel(accumulatorModel(2, 3, begin), path));
  pto_session *session = nullptr;
  ASSERT_EQ(pto_session_open(path.c_str(), nullptr, 1, nullptr, &session), 0) << pto_last_error();
  pto_state *state = nullptr, *copy = nullptr;
  ASSERT_EQ(pto_state_new(session, &state), 0) << pto_last_error();
  float x[6] = {1, 1, 1, 1, 1, 1}, y[6];
  uint64_t shape[2] = {2, 3};
  pto_input input = {"x", "f32", shape, 2, x};
  pto_output output = {"y", y, 20};
  EXPECT_NE(pto_session_run_state(session, state, &input, 1, &output, 1), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("output 'y' has 24 bytes, its buffer 20"));
  EXPECT_EQ(pto_state_position(state), 0u);
  output.bytes = 24;
  ASSERT_EQ(pto_session_run_state(session, state, &input, 1, &output, 1), 0) << pto_last_error();
  ASSERT_EQ(pto_session_run_state(session, state, &input, 1, nullptr, 0), 0) << pto_last_error();
  EXPECT_EQ(pto_state_position(state), 2u);
  ASSERT_EQ(pto_state_save(state, saved.c_str()), 0) << pto_last_error();
  ASSERT_EQ(pto_state_fork(state, &copy), 0) << pto_last_error();
  ASSERT_EQ(pto_session_run_state(session, copy, &input, 1, &output, 1), 0);
  EXPECT_THAT(y, Each(3.0f));
  EXPECT_NE(pto_state_truncate(copy, 4), 0);
  EXPECT_THAT(pto_last_error(), HasSubstr("cannot truncate it to 4"));
  ASSERT_EQ(pto_state_reset(copy), 0);
  ASSERT_EQ(pto_state_load(copy, saved.c_str()), 0) << pto_last_error();
  EXPECT_EQ(pto_state_position(copy), 2u);
  ASSERT_EQ(pto_session_run(session, &input, 1, &output, 1), 0);
  EXPECT_THAT(y, Each(1.0f));
  pto_state_free(copy);
  pto_session_close(session);
  pto_state_free(state);
  std::filesystem::remove(path);
  std::filesystem::remove(saved);
}

} // namespace
