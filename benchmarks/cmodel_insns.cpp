// Simulation speed of each family of instructions.
#include "InsnBench.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>

using namespace pto_mlir;
using namespace pto_mlir::benchmarks;

namespace {

const pto_device_api *library() {
  void *handle = dlopen(PTO_LIBRARY_DIR "/libpto_cmodel.so", RTLD_NOW | RTLD_LOCAL);
  auto entry = handle ? reinterpret_cast<const pto_device_api *(*)()>(dlsym(handle, "pto_device_get_api")) : nullptr;
  const pto_device_api *api = entry ? entry() : nullptr;
  if (!api) {
    std::fprintf(stderr, "no simulator in %s\n", PTO_LIBRARY_DIR);
    std::exit(1);
  }
  return api;
}

/// CPU time, which a busy machine affects little: the best of a few rounds of some milliseconds, all within one
/// iteration.
void launches(benchmark::State &state, const TestKernel &kernel, const Work &work, double times) {
  cmodel::test::TestDevice device(1, library());
  uint32_t id = 0;
  if (device.load(kernel, id) != PTO_OK)
    return state.SkipWithError(device.error().c_str());
  static const auto random = cmodel::test::randomFloats(1 << 20, 1);
  std::vector<pto_arg> args{device.upload(random), device.upload(random)};
  args.resize(kernel.numArgs);
  double best = 0; // launches per second
  for (auto _ : state)
    for (int round = 0; round < 4; ++round) {
      std::clock_t begin = std::clock(), now;
      double count = 0;
      do {
        device.api->launch(device.context, id, 1, args.data(), args.size(), nullptr, 0);
        ++count;
        now = std::clock();
      } while (now - begin < CLOCKS_PER_SEC / 200);
      if (device.api->synchronize(device.context) != PTO_OK)
        return state.SkipWithError(device.error().c_str());
      best = std::max(best, count * CLOCKS_PER_SEC / double(std::clock() - begin));
    }
  double rate = work.units * times * best;
  state.counters[work.unit] = benchmark::Counter(rate, benchmark::Counter::kDefaults);
  if (work.roofline)
    state.counters["of_roofline"] = rate / work.roofline();
}

} // namespace

void benchmarks::benchmarkInsn(const std::string &name, isa::CoreKind kind, Pipe pipe, Work work, Build insn,
                               Build before) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State &state) {
    TestKernel k(kind, 2);
    if (before)
      before(k);
    k.add(pipe, isa::Loop{0, 0, repeats, 1});
    insn(k);
    k.add(pipe, isa::End{});
    launches(state, k, work, repeats * (kind == isa::CoreKind::AIV ? 2 : 1));
  })->Iterations(1);
}

void benchmarks::benchmarkKernel(const std::string &name, Work work, std::function<TestKernel()> kernel) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State &state) {
    launches(state, kernel(), work, 1);
  })->Iterations(1);
}

int main(int argc, char **argv) {
  addVectorBenchmarks();
  addRearrangingBenchmarks();
  addCubeBenchmarks();
  // Scalar instructions including their loop, and launches of an empty kernel.
  benchmarkInsn("scalar/mul add min/M", isa::CoreKind::AIC, Pipe::M, {4.0, "instructions", {}}, [](TestKernel &k) {
    k.add(Pipe::M, isa::Mul{1, isa::Value::reg(0), 64})
        .add(Pipe::M, isa::Add{2, isa::Value::reg(1), 64})
        .add(Pipe::M, isa::Min{3, isa::Value::reg(2), 64});
  });
  benchmarkInsn("scalar/set_flag wait_flag/MTE2 V", isa::CoreKind::AIV, Pipe::V, {4.0, "instructions", {}},
                [](TestKernel &k) {
                  k.add(Pipe::MTE2, isa::Loop{0, 0, repeats, 1});
                  k.sync(Pipe::MTE2, Pipe::V).sync(Pipe::V, Pipe::MTE2);
                  k.add(Pipe::MTE2, isa::End{});
                });
  benchmarkKernel("launch/of one instruction/AIV", {1, "launches", {}}, [] {
    TestKernel k(isa::CoreKind::AIV, 0);
    return std::move(k.add(Pipe::V, isa::Mov{0, 0}));
  });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
