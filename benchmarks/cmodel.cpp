// How fast the simulator executes: one kernel repeats one instruction; the rate is per host thread.
#include "../unittests/CModel/VectorHarness.h"

#include <benchmark/benchmark.h>
#include <dlfcn.h>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::Layout;
using isa::Memory;
using isa::Pipe;

namespace {

constexpr int repeats = 1000;

const pto_device_api *library() {
  void *handle = dlopen(PTO_LIBRARY_DIR "/libpto_cmodel.so", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<const pto_device_api *(*)()>(dlsym(handle, "pto_device_get_api"))();
}

/// Runs `insn` `repeats` times in a loop on one engine per launch; `setup` comes before.
template <class F> void repeat(benchmark::State &state, isa::CoreKind kind, Pipe pipe, double work, const char *unit, F insn) {
  TestDevice device(1, library());
  TestKernel k(kind, 2);
  k.add(pipe, isa::Loop{0, 0, repeats, 1});
  insn(k);
  k.add(pipe, isa::End{});
  uint32_t id = 0;
  if (device.load(k, id) != PTO_OK) {
    state.SkipWithError(device.error().c_str());
    return;
  }
  std::vector<pto_arg> args{device.upload(std::vector<float>(1 << 20)), device.upload(std::vector<float>(1 << 20))};
  double cores = kind == isa::CoreKind::AIV ? 2 : 1;
  for (auto _ : state)
    device.api->launch(device.context, id, 1, args.data(), args.size(), nullptr, 0);
  if (device.api->synchronize(device.context) != PTO_OK)
    state.SkipWithError(device.error().c_str());
  state.counters[unit] = benchmark::Counter(work * cores * repeats * double(state.iterations()), benchmark::Counter::kIsRate);
}

template <class T> void matmul(benchmark::State &state) {
  auto m = uint16_t(state.range(0)), k = uint16_t(state.range(1)), n = uint16_t(state.range(2));
  auto up = [](int v) { return uint16_t((v + 15) / 16 * 16); };
  auto type = typeOf<T>();
  repeat(state, isa::CoreKind::AIC, Pipe::M, 2.0 * m * k * n, "flop", [&](TestKernel &t) {
    t.add(Pipe::M, isa::TMatmul{tile(isa::ElementType::f32, Layout::NZ16, 0, up(m), up(n), m, n), tile(type, Layout::ZZ, 0, up(m), up(k), m, k),
                                tile(type, Layout::ZN, 0, up(k), up(n), k, n)});
  });
}
BENCHMARK(matmul<float>)->Args({128, 64, 128})->Args({96, 8, 8})->Args({96, 88, 16})->Args({96, 16, 88})->Args({1, 200, 56});
BENCHMARK(matmul<half>)->Args({128, 128, 128})->Args({96, 88, 16});

/// The right operand changes each time, so that it is packed each time.
void matmulWithNewWeights(benchmark::State &state) {
  auto m = uint16_t(state.range(0)), k = uint16_t(state.range(1)), n = uint16_t(state.range(2));
  TestDevice device(1, library());
  TestKernel t(isa::CoreKind::AIC, 2);
  auto f32 = isa::ElementType::f32;
  isa::Tile b = tile(f32, Layout::ZN, 0, k, n), l1 = tile(f32, Layout::NZ, 0, k, n);
  t.add(Pipe::MTE1, isa::SetFlag{Pipe::MTE1, Pipe::M, 1}).add(Pipe::M, isa::WaitFlag{Pipe::MTE1, Pipe::M, 1});
  t.add(Pipe::MTE1, isa::Loop{0, 0, repeats, 1}).add(Pipe::MTE1, isa::TExtractL0b{b, l1, 0, 0});
  t.add(Pipe::MTE1, isa::SetFlag{Pipe::MTE1, Pipe::M, 0}).add(Pipe::MTE1, isa::WaitFlag{Pipe::M, Pipe::MTE1, 0}).add(Pipe::MTE1, isa::End{});
  t.add(Pipe::M, isa::Loop{0, 0, repeats, 1}).add(Pipe::M, isa::WaitFlag{Pipe::MTE1, Pipe::M, 0});
  t.add(Pipe::M, isa::TMatmul{tile(f32, Layout::NZ16, 0, m, n), tile(f32, Layout::ZZ, 0, m, k), b});
  t.add(Pipe::M, isa::SetFlag{Pipe::M, Pipe::MTE1, 0}).add(Pipe::M, isa::End{});
  std::vector<pto_arg> args{device.upload(std::vector<float>(8)), device.upload(std::vector<float>(8))};
  uint32_t id = 0;
  if (device.load(t, id) != PTO_OK) {
    state.SkipWithError(device.error().c_str());
    return;
  }
  for (auto _ : state)
    device.api->launch(device.context, id, 1, args.data(), args.size(), nullptr, 0);
  if (device.api->synchronize(device.context) != PTO_OK)
    state.SkipWithError(device.error().c_str());
  state.counters["flop"] = benchmark::Counter(2.0 * m * k * n * repeats * double(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(matmulWithNewWeights)->Args({128, 64, 128})->Args({16, 64, 128});

template <class Insn, class T> void elementwise(benchmark::State &state) {
  auto rows = uint16_t(state.range(0)), cols = uint16_t(state.range(1));
  auto type = typeOf<T>();
  auto valid = int64_t(state.range(2));
  isa::Tile a = tile(type, Layout::ND, 0, rows, cols, rows, valid), b = a, d = a;
  b.address = 65536, d.address = 2 * 65536;
  repeat(state, isa::CoreKind::AIV, Pipe::V, double(rows) * double(valid), "elements", [&](TestKernel &k) {
    if constexpr (std::is_same_v<Insn, isa::TColexpandmul>)
      b.rows = 1, b.validRows = 1;
    if constexpr (requires(Insn i) { i.src1; })
      k.add(Pipe::V, Insn{d, a, b});
    else
      k.add(Pipe::V, Insn{d, a});
  });
}
BENCHMARK(elementwise<isa::TAdd, float>)->Args({1, 8, 8})->Args({64, 88, 88})->Args({64, 96, 90});
BENCHMARK(elementwise<isa::TAdd, half>)->Args({64, 128, 128});
BENCHMARK(elementwise<isa::TColexpandmul, float>)->Args({192, 8, 8})->Args({64, 88, 88});
BENCHMARK(elementwise<isa::TExp, float>)->Args({64, 88, 88});

void load(benchmark::State &state) {
  auto rows = uint16_t(state.range(0)), cols = uint16_t(state.range(1));
  bool toL1 = state.range(2);
  auto f32 = isa::ElementType::f32;
  repeat(state, toL1 ? isa::CoreKind::AIC : isa::CoreKind::AIV, Pipe::MTE2, 4.0 * rows * cols, "bytes", [&](TestKernel &k) {
    k.add(Pipe::MTE2, isa::TLoad{tile(f32, toL1 ? Layout::NZ : Layout::ND, 0, rows, cols), view(0, f32, rows, cols), toL1 ? Memory::L1 : Memory::UB});
  });
}
BENCHMARK(load)->Args({96, 88, 0})->Args({96, 88, 1})->Args({96, 8, 1});

void store(benchmark::State &state) {
  auto rows = uint16_t(state.range(0)), cols = uint16_t(state.range(1));
  auto f32 = isa::ElementType::f32;
  repeat(state, isa::CoreKind::AIC, Pipe::FIX, 4.0 * rows * cols, "bytes", [&](TestKernel &k) {
    isa::TStoreAcc s;
    s.dst = view(1, f32, rows, cols), s.src = tile(f32, Layout::NZ16, 0, rows, uint16_t((cols + 15) / 16 * 16), rows, cols);
    k.add(Pipe::FIX, s);
  });
}
BENCHMARK(store)->Args({96, 88})->Args({96, 8});

/// A launch of an empty kernel, and one scalar instruction.
void scalarLoop(benchmark::State &state) {
  repeat(state, isa::CoreKind::AIC, Pipe::M, 4.0, "instructions", [&](TestKernel &k) {
    k.add(Pipe::M, isa::Mul{1, isa::Value::reg(0), 64}).add(Pipe::M, isa::Add{2, isa::Value::reg(1), 64}).add(Pipe::M, isa::Min{3, isa::Value::reg(2), 64});
  });
}
BENCHMARK(scalarLoop);
void emptyLaunch(benchmark::State &state) {
  TestDevice device(1, library());
  TestKernel k(isa::CoreKind::AIV, 0);
  k.add(Pipe::V, isa::Mov{0, 0});
  uint32_t id = 0;
  device.load(k, id);
  for (auto _ : state)
    device.api->launch(device.context, id, 1, nullptr, 0, nullptr, 0);
}
BENCHMARK(emptyLaunch);

} // namespace

BENCHMARK_MAIN();
