// Programs executed as tasks of the task runtime.
#include "TestModel.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/KernelUse.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/Runtime/Session.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::runtime;
using namespace pto_mlir::testing;
using ::testing::HasSubstr;

namespace {

using Edge = std::pair<std::string, std::string>;

class Tasks : public ::testing::Test {
protected:
  std::string path = temporaryPath("tasks.pmodel"), tracePath = temporaryPath("tasks.json");
  std::vector<float> bias = std::vector<float>(6), x = {1, -2, 3, -4, 5, -6};

  void TearDown() override {
    std::filesystem::remove(path);
    std::filesystem::remove(tracePath);
  }

  /// The 2x3 model with another program; kernels: add, relu, then two relus on other numbers of blocks (identical
  /// kernels would be merged).
  std::unique_ptr<Session> open(const std::function<void(ProgramWriter &, EntrySlots &)> &write,
                                SessionOptions options) {
    ModelDesc model = biasReluModel(2, 3, bias, 2);
    model.kernels.push_back(reluKernel("left", 2, 3, 3));
    model.kernels.push_back(reluKernel("right", 2, 3));
    VariantDesc &variant = model.nets[0].variants[0];
    variant.program.kernels = {0, 1, 2, 3};
    variant.debugTensors.clear();
    variant.workspaceBytes = 1024;
    EntrySlots slots(variant);
    ProgramWriter writer;
    writer.alloc(slots.firstFree(), 1024);
    write(writer, slots);
    writer.ret();
    variant.program.code = writer.take();
    auto summary = writeModel(model, path);
    EXPECT_TRUE(summary) << summary.error();
    auto session = Session::open(path, options);
    EXPECT_TRUE(session) << session.error();
    return session ? session.take() : nullptr;
  }

  std::vector<float> run(Session &session) {
    auto outputs = session.run({{"x", ElementType::F32, {2, 3}, x.data()}});
    EXPECT_TRUE(outputs) << outputs.error();
    std::vector<float> y(6);
    if (outputs)
      std::memcpy(y.data(), outputs->front().data.get(), 24);
    return y;
  }

  /// The dependencies between tasks, by kernel name, read from the trace.
  std::set<Edge> edges(Session &session) {
    Status written = session.writeTrace(tracePath);
    EXPECT_TRUE(written) << written.error();
    std::vector<char> text = readFile(tracePath);
    auto trace = nlohmann::json::parse(text.begin(), text.end());
    const auto &events = trace.is_array() ? trace : trace["traceEvents"];
    std::set<Edge> result;
    std::map<int64_t, std::string> from;
    // A flow starts at the end of its producer and ends at the start of its consumer, on their tracks.
    auto nameAt = [&](const nlohmann::json &flow, bool atEnd) -> std::string {
      double best = 1e300;
      std::string name;
      for (const auto &event : events)
        if (event["ph"] == "X" && event["pid"] == flow["pid"] && event["tid"] == flow["tid"]) {
          double time = event["ts"].get<double>() + (atEnd ? event["dur"].get<double>() : 0);
          if (double distance = std::abs(time - flow["ts"].get<double>()); distance < best)
            best = distance, name = event["name"];
        }
      return name;
    };
    for (const auto &event : events)
      if (event["ph"] == "s")
        from[event["id"]] = nameAt(event, true);
    for (const auto &event : events)
      if (event["ph"] == "f")
        result.insert({from[event["id"]], nameAt(event, false)});
    return result;
  }

  static SessionOptions traced() {
    SessionOptions options;
    options.device.threads = 2;
    options.trace = true;
    return options;
  }
};

TEST_F(Tasks, BranchesDependOnNothingButTheirInputs) {
  auto diamond = [](ProgramWriter &writer, EntrySlots &slots) {
    uint32_t work = slots.firstFree();
    writer.callDevice(2, {{slots.input(0), 0, 24}, {work, 0, 24}});
    writer.callDevice(3, {{slots.input(0), 0, 24}, {work, 512, 24}});
    writer.callDevice(0, {{work, 0, 24}, {work, 512, 24}, {slots.output(0), 0, 24}});
  };
  auto session = open(diamond, traced());
  ASSERT_TRUE(session);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(*session), (std::vector<float>{2, 0, 6, 0, 10, 0}));
  EXPECT_EQ(edges(*session), (std::set<Edge>{{"left", "k0_sum"}, {"right", "k0_sum"}}));
  auto report = session->traceReport();
  ASSERT_TRUE(report) << report.error();
  EXPECT_THAT(*report, HasSubstr("through 2 tasks"));
}

TEST_F(Tasks, ReusedMemoryOrdersThem) {
  // `right` overwrites the buffer that `k1_y` reads, and the sum reads it again.
  auto reuse = [](ProgramWriter &writer, EntrySlots &slots) {
    uint32_t work = slots.firstFree();
    writer.callDevice(2, {{slots.input(0), 0, 24}, {work, 0, 24}});
    writer.callDevice(1, {{work, 0, 24}, {work, 512, 24}});
    writer.callDevice(3, {{slots.input(0), 0, 24}, {work, 0, 24}});
    writer.callDevice(0, {{work, 0, 24}, {work, 512, 24}, {slots.output(0), 0, 24}});
  };
  auto session = open(reuse, traced());
  ASSERT_TRUE(session);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(*session), (std::vector<float>{2, 0, 6, 0, 10, 0}));
  std::set<Edge> found = edges(*session);
  for (const Edge &edge :
       {Edge{"left", "k1_y"}, Edge{"k1_y", "right"}, Edge{"k1_y", "k0_sum"}, Edge{"right", "k0_sum"}})
    EXPECT_TRUE(found.count(edge)) << edge.first << " -> " << edge.second;
}

TEST_F(Tasks, InOrderGivesTheSameAndHasNoTrace) {
  auto chain = [](ProgramWriter &writer, EntrySlots &slots) {
    writer.callDevice(1, {{slots.input(0), 0, 24}, {slots.output(0), 0, 24}});
  };
  SessionOptions options = traced();
  auto untraced = options, inOrder = options, checked = options;
  untraced.trace = false;
  inOrder.schedule = Schedule::InOrder;
  checked.device.mode = "checked"; // supports whole launches only
  for (const SessionOptions &some : {untraced, inOrder, checked}) {
    auto session = open(chain, some);
    ASSERT_TRUE(session);
    EXPECT_EQ(run(*session), (std::vector<float>{1, 0, 3, 0, 5, 0}));
    Status written = session->writeTrace(tracePath);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error(), HasSubstr(some.trace ? "there are no tasks to trace" : "open it with tracing on"));
    EXPECT_FALSE(std::filesystem::exists(tracePath));
  }
}

TEST_F(Tasks, AFaultSkipsWhatDependsOnIt) {
  auto faulty = [](ProgramWriter &writer, EntrySlots &slots) {
    uint32_t work = slots.firstFree();
    writer.callDevice(2, {{slots.input(0), 0, 20}, {work, 0, 24}}); // the kernel reads 24 bytes
    writer.callDevice(1, {{work, 0, 24}, {slots.output(0), 0, 24}});
  };
  auto session = open(faulty, traced());
  ASSERT_TRUE(session);
  for (int i = 0; i < 2; ++i) {
    auto outputs = session->run({{"x", ElementType::F32, {2, 3}, x.data()}});
    ASSERT_FALSE(outputs);
    EXPECT_THAT(outputs.error(), HasSubstr("kernel 'left' faulted on AIV"));
  }
  auto profile = session->profileKernels();
  ASSERT_TRUE(profile);
  for (const KernelProfile &kernel : *profile)
    EXPECT_EQ(kernel.counts.launches, kernel.name == "left" ? 2u : 0u) << kernel.name;
}

/// The time of each core of a launch in whole ns, dispatch included.
std::vector<uint64_t> coreTimes(const KernelDesc &desc, size_t cores) {
  DeviceOptions options;
  options.mode = "timing";
  auto device = Device::open(options);
  EXPECT_TRUE(device) << device.error();
  auto kernel = (*device)->loadKernel(desc);
  auto buffer = DeviceBuffer::make(**device, 4096, "tensors");
  std::vector<float> zeros(1024);
  EXPECT_TRUE((*device)->copyToDevice(buffer->address(), zeros.data(), 4096));
  std::vector<pto_arg> arguments;
  arguments.reserve(desc.numArgs);
  for (uint32_t i = 0; i < desc.numArgs; ++i)
    arguments.push_back({buffer->address() + 512 * i, 24});
  auto seconds = (*device)->timedLaunch(*kernel, desc.blocks, cores, arguments);
  EXPECT_TRUE(seconds) << seconds.error();
  std::vector<uint64_t> times;
  for (double s : *seconds)
    times.push_back(950 + uint64_t(std::llround(s * 1e9)));
  return times;
}

TEST_F(Tasks, MakespanInVirtualTime) {
  auto diamond = [](ProgramWriter &writer, EntrySlots &slots) {
    uint32_t work = slots.firstFree();
    writer.callDevice(2, {{slots.input(0), 0, 24}, {work, 0, 24}});
    writer.callDevice(3, {{slots.input(0), 0, 24}, {work, 512, 24}});
    writer.callDevice(0, {{work, 0, 24}, {work, 512, 24}, {slots.output(0), 0, 24}});
  };
  ModelDesc model = biasReluModel(2, 3, bias, 2);
  std::vector<uint64_t> left = coreTimes(reluKernel("left", 2, 3, 3), 6),
                        right = coreTimes(reluKernel("right", 2, 3), 2), sum = coreTimes(model.kernels[0], 4);
  auto longest = [](const std::vector<uint64_t> &times) { return *std::max_element(times.begin(), times.end()); };
  ASSERT_GT(longest(right), 1000u);

  // Two vector cores of one block: each takes the next task when it becomes free.
  auto onTwoCores = [&] {
    std::array<uint64_t, 2> free = {};
    auto place = [&](const std::vector<uint64_t> &times, uint64_t ready) {
      uint64_t end = ready;
      for (uint64_t time : times) {
        uint64_t &core = *std::min_element(free.begin(), free.end());
        end = std::max(end, core = std::max(core, ready) + time);
      }
      return end;
    };
    uint64_t both = place(left, 0);
    return place(sum, std::max(both, place(right, 0)));
  };
  // 8 blocks run both branches concurrently.
  const std::pair<uint32_t, uint64_t> expected[] = {{8, std::max(longest(left), longest(right)) + longest(sum)},
                                                    {1, onTwoCores()}};
  for (auto [blocks, makespan] : expected) {
    SessionOptions options = traced();
    options.device.mode = "timing";
    options.virtualBlocks = blocks;
    std::vector<char> first;
    for (int i = 0; i < 2; ++i) {
      auto session = open(diamond, options);
      ASSERT_TRUE(session);
      EXPECT_EQ(run(*session), (std::vector<float>{2, 0, 6, 0, 10, 0}));
      EXPECT_EQ(edges(*session), (std::set<Edge>{{"left", "k0_sum"}, {"right", "k0_sum"}}));
      std::vector<char> text = readFile(tracePath);
      EXPECT_TRUE(i == 0 || text == first) << "the same in every run";
      first = text;
    }
    double end = 0;
    auto trace = nlohmann::json::parse(first.begin(), first.end());
    for (const auto &event : trace["traceEvents"])
      if (event["ph"] == "X" && event["pid"] == 2)
        end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    EXPECT_NEAR(end * 1000, double(makespan), 2) << blocks << " blocks";
  }
}

TEST_F(Tasks, AFaultInVirtualTime) {
  auto faulty = [](ProgramWriter &writer, EntrySlots &slots) {
    uint32_t work = slots.firstFree();
    writer.callDevice(2, {{slots.input(0), 0, 20}, {work, 0, 24}}); // the kernel reads 24 bytes
    writer.callDevice(1, {{work, 0, 24}, {slots.output(0), 0, 24}});
  };
  SessionOptions options = traced();
  options.device.mode = "timing";
  auto session = open(faulty, options);
  ASSERT_TRUE(session);
  for (int i = 0; i < 2; ++i) {
    auto outputs = session->run({{"x", ElementType::F32, {2, 3}, x.data()}});
    ASSERT_FALSE(outputs);
    EXPECT_THAT(outputs.error(), HasSubstr("kernel 'left' faulted on AIV"));
  }
  options.virtualBlocks = 129;
  auto refused = Session::open(path, options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("a machine of 129 blocks: 1 to 128"));
}

TEST(KernelUse, SaysWhatArgumentsAreFor) {
  KernelUse use = kernelUse(addKernel("sum", 2, 3, 4));
  ASSERT_EQ(use.arguments.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(use.arguments[i].read, i < 2);
    EXPECT_EQ(use.arguments[i].written, i == 2);
  }
  EXPECT_FALSE(use.cube);
  EXPECT_TRUE(use.vector);
  EXPECT_FALSE(use.ordered);
  EXPECT_EQ(use.coresPerBlock(), 2u);
}

TEST_F(Tasks, OneCoreOfALaunch) {
  auto device = Device::open({});
  ASSERT_TRUE(device) << device.error();
  ASSERT_TRUE((*device)->runsCores());
  auto kernel = (*device)->loadKernel(reluKernel("relu", 4, 3));
  ASSERT_TRUE(kernel);
  auto in = DeviceBuffer::make(**device, 48, "x"), out = DeviceBuffer::make(**device, 48, "y");
  std::vector<float> values(12, 7), zeros(12), y(12);
  ASSERT_TRUE((*device)->copyToDevice(in->address(), values.data(), 48));
  ASSERT_TRUE((*device)->copyToDevice(out->address(), zeros.data(), 48));
  std::vector<pto_arg> arguments = {{in->address(), 48}, {out->address(), 48}};
  // Rows 1 and 3 belong to the second vector core.
  ASSERT_TRUE((*device)->runCore(*kernel, 1, 1, arguments));
  ASSERT_TRUE((*device)->copyFromDevice(y.data(), out->address(), 48));
  EXPECT_EQ(y, (std::vector<float>{0, 0, 0, 7, 7, 7, 0, 0, 0, 7, 7, 7}));

  Status none = (*device)->runCore(*kernel, 1, 2, arguments);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error(), HasSubstr("kernel 'relu' has no core 2"));
  arguments[0].bytes = 1 << 20;
  Status outside = (*device)->runCore(*kernel, 1, 1, arguments);
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error(), HasSubstr("argument 0 does not lie in device memory"));
}

} // namespace
