// How fast the simulator executes each family of instructions: one kernel repeats one instruction on resident data. Rates are per host
// thread; `of_roofline` is the rate relative to plain code on this machine (Roofline.h): memcpy, a vectorised loop, multiply-adds.
#include "../unittests/CModel/VectorHarness.h"
#include "Roofline.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using namespace pto_mlir::benchmarks;
using isa::Layout;
using isa::Memory;
using isa::Pipe;

namespace {

constexpr int repeats = 1000;

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

uint16_t boxes(int64_t v) { return uint16_t((v + 15) / 16 * 16); }

/// Launches `kernel` again and again; `work` units in each launch, `roofline` units per second without a simulator (0: none to compare).
void launches(benchmark::State &state, const TestKernel &kernel, double work, const char *unit, double roofline) {
  TestDevice device(1, library());
  uint32_t id = 0;
  if (device.load(kernel, id) != PTO_OK)
    return state.SkipWithError(device.error().c_str());
  std::vector<pto_arg> args{device.upload(std::vector<float>(1 << 20)), device.upload(std::vector<float>(1 << 20))};
  args.resize(kernel.numArgs);
  std::clock_t begin = std::clock();
  for (auto _ : state)
    device.api->launch(device.context, id, 1, args.data(), args.size(), nullptr, 0);
  double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC, rate = work * double(state.iterations()) / seconds;
  if (device.api->synchronize(device.context) != PTO_OK)
    return state.SkipWithError(device.error().c_str());
  state.counters[unit] = benchmark::Counter(rate, benchmark::Counter::kDefaults);
  if (roofline > 0)
    state.counters["of_roofline"] = rate / roofline;
}

/// `insn` adds what is repeated on one engine; `work` is that of one repetition.
template <class F> void repeat(benchmark::State &state, isa::CoreKind kind, Pipe pipe, double work, const char *unit, double roofline, F insn) {
  TestKernel k(kind, 2);
  k.add(pipe, isa::Loop{0, 0, repeats, 1});
  insn(k);
  k.add(pipe, isa::End{});
  launches(state, k, work * repeats * (kind == isa::CoreKind::AIV ? 2 : 1), unit, roofline);
}

template <class T> void matmul(benchmark::State &state) {
  auto m = uint16_t(state.range(0)), k = uint16_t(state.range(1)), n = uint16_t(state.range(2));
  static const double peak = multiplyAddRate();
  repeat(state, isa::CoreKind::AIC, Pipe::M, 2.0 * m * k * n, "flop", peak, [&](TestKernel &t) {
    t.add(Pipe::M, isa::TMatmul{tile(isa::ElementType::f32, Layout::NZ16, 0, boxes(m), boxes(n), m, n),
                                tile(typeOf<T>(), Layout::ZZ, 0, boxes(m), boxes(k), m, k), tile(typeOf<T>(), Layout::ZN, 0, boxes(k), boxes(n), k, n)});
  });
}
BENCHMARK(matmul<float>)->Args({128, 64, 128})->Args({96, 8, 8})->Args({96, 88, 16})->Args({96, 16, 88})->Args({1, 200, 56});
BENCHMARK(matmul<half>)->Args({128, 128, 128})->Args({96, 88, 16});

/// Both operands are extracted from L1 each time, so that they are packed each time.
template <class T> void extractAndMatmul(benchmark::State &state) {
  auto m = uint16_t(state.range(0)), k = uint16_t(state.range(1)), n = uint16_t(state.range(2));
  static const double peak = multiplyAddRate();
  TestKernel t(isa::CoreKind::AIC, 2);
  auto type = typeOf<T>();
  isa::Tile a = tile(type, Layout::ZZ, 0, m, k), b = tile(type, Layout::ZN, 0, k, n);
  isa::Tile left = tile(type, Layout::NZ, 0, m, k), right = tile(type, Layout::NZ, 262144, k, n);
  t.add(Pipe::MTE1, isa::SetFlag{Pipe::MTE1, Pipe::M, 1}).add(Pipe::M, isa::WaitFlag{Pipe::MTE1, Pipe::M, 1});
  t.add(Pipe::MTE1, isa::Loop{0, 0, repeats, 1}).add(Pipe::MTE1, isa::TExtractL0a{a, left, 0, 0}).add(Pipe::MTE1, isa::TExtractL0b{b, right, 0, 0});
  t.add(Pipe::MTE1, isa::SetFlag{Pipe::MTE1, Pipe::M, 0}).add(Pipe::MTE1, isa::WaitFlag{Pipe::M, Pipe::MTE1, 0}).add(Pipe::MTE1, isa::End{});
  t.add(Pipe::M, isa::Loop{0, 0, repeats, 1}).add(Pipe::M, isa::WaitFlag{Pipe::MTE1, Pipe::M, 0});
  t.add(Pipe::M, isa::TMatmul{tile(isa::ElementType::f32, Layout::NZ16, 0, m, n), a, b});
  t.add(Pipe::M, isa::SetFlag{Pipe::M, Pipe::MTE1, 0}).add(Pipe::M, isa::End{});
  launches(state, t, 2.0 * m * k * n * repeats, "flop", peak);
}
BENCHMARK(extractAndMatmul<float>)->Args({128, 64, 128})->Args({16, 64, 128});
BENCHMARK(extractAndMatmul<half>)->Args({128, 128, 128});

/// 3 x 3 windows of a 32 x 32 image with 64 channels, a tile of 128 pixels by 64 columns at a time.
template <class T> void img2col(benchmark::State &state) {
  auto stride = uint32_t(state.range(0));
  auto type = typeOf<T>();
  static const double copies = memcpyRate(128 * 64 * sizeof(T));
  repeat(state, isa::CoreKind::AIC, Pipe::MTE1, 128.0 * 64 * sizeof(T), "bytes", copies, [&](TestKernel &k) {
    isa::TImg2col i;
    i.dst = tile(type, Layout::ZZ, 0, 128, 64), i.src = tile(type, Layout::NZ, 0, 1024, 64);
    i.posM = 0, i.posK = 64, i.height = 32, i.padTop = 1, i.padBottom = 1;
    i.width = 32, i.channels = 64, i.kernelH = i.kernelW = 3, i.strideH = i.strideW = stride;
    i.dilationH = i.dilationW = 1, i.padLeft = i.padRight = 1;
    k.add(Pipe::MTE1, i);
  });
}
BENCHMARK(img2col<float>)->Arg(1)->Arg(2);
BENCHMARK(img2col<half>)->Arg(1);

template <class T> double addRate(size_t n) { return std::is_same_v<T, float> ? addFloatRate(n) : addHalfRate(n); }

/// dst, a and b at 64 KiB from one another; the roofline is the plain addition of as many elements.
template <class Insn, class T> void vector(benchmark::State &state) {
  auto rows = uint16_t(state.range(0)), cols = uint16_t(state.range(1));
  auto type = typeOf<T>();
  auto valid = int64_t(state.range(2));
  isa::Tile a = tile(type, Layout::ND, 0, rows, cols, rows, valid), b = a, d = a, row = tile(type, Layout::ND, 65536, 1, cols, 1, valid);
  isa::Tile column = tile(type, Layout::DN, 65536, boxes(rows), 1, rows, 1), mask = tile(isa::ElementType::u8, Layout::ND, 131072, rows, 128);
  b.address = 65536, d.address = 131072;
  repeat(state, isa::CoreKind::AIV, Pipe::V, double(rows) * double(valid), "elements", addRate<T>(size_t(rows * valid)), [&](TestKernel &k) {
    if constexpr (std::is_same_v<Insn, isa::TColexpandmul>)
      k.add(Pipe::V, Insn{d, a, row});
    else if constexpr (std::is_same_v<Insn, isa::TRowexpandmul>)
      k.add(Pipe::V, Insn{d, a, column});
    else if constexpr (std::is_same_v<Insn, isa::TRowsum> || std::is_same_v<Insn, isa::TRowmax>)
      k.add(Pipe::V, Insn{column, a});
    else if constexpr (std::is_same_v<Insn, isa::TColsum>)
      k.add(Pipe::V, Insn{row, a});
    else if constexpr (std::is_same_v<Insn, isa::TCmp>)
      k.add(Pipe::V, Insn{mask, a, b, isa::CompareMode::lt});
    else if constexpr (std::is_same_v<Insn, isa::TSel>)
      k.add(Pipe::V, Insn{a, mask, a, b});
    else if constexpr (std::is_same_v<Insn, isa::TAdds>)
      k.add(Pipe::V, Insn{d, a, 0x3f800000});
    else if constexpr (std::is_same_v<Insn, isa::TCvt>) {
      isa::TCvt cvt{};
      cvt.dst = d, cvt.src = a;
      cvt.dst.type = type == isa::ElementType::f32 ? isa::ElementType::f16 : isa::ElementType::f32;
      k.add(Pipe::V, cvt);
    } else if constexpr (std::is_same_v<Insn, isa::TTrans>) {
      std::swap(d.rows, d.cols), std::swap(d.validRows, d.validCols);
      k.add(Pipe::V, Insn{d, a});
    } else if constexpr (requires(Insn i) { i.src1; })
      k.add(Pipe::V, Insn{d, a, b});
    else
      k.add(Pipe::V, Insn{d, a});
  });
}
#define PTO_VECTOR(Insn)                                                                                                                   \
  BENCHMARK(vector<isa::Insn, float>)->Args({64, 128, 128});                                                                                 \
  BENCHMARK(vector<isa::Insn, half>)->Args({64, 128, 128});
BENCHMARK(vector<isa::TAdd, float>)->Args({1, 8, 8})->Args({64, 88, 88})->Args({64, 96, 90});
PTO_VECTOR(TAdd)
PTO_VECTOR(TMul)
PTO_VECTOR(TMax)
PTO_VECTOR(TDiv)
PTO_VECTOR(TAdds)
PTO_VECTOR(TRelu)
PTO_VECTOR(TMuladddst)
PTO_VECTOR(TExp)
PTO_VECTOR(TLog)
PTO_VECTOR(TSqrt)
PTO_VECTOR(TRsqrt)
PTO_VECTOR(TColexpandmul)
PTO_VECTOR(TRowexpandmul)
PTO_VECTOR(TRowsum)
PTO_VECTOR(TRowmax)
PTO_VECTOR(TColsum)
PTO_VECTOR(TCmp)
PTO_VECTOR(TSel)
PTO_VECTOR(TCvt)
PTO_VECTOR(TTrans)
BENCHMARK(vector<isa::TColexpandmul, float>)->Args({192, 8, 8});

void load(benchmark::State &state) {
  auto rows = uint16_t(state.range(0)), cols = uint16_t(state.range(1));
  bool toL1 = state.range(2);
  auto f32 = isa::ElementType::f32;
  double bytes = 4.0 * rows * cols;
  repeat(state, toL1 ? isa::CoreKind::AIC : isa::CoreKind::AIV, Pipe::MTE2, bytes, "bytes", memcpyRate(size_t(bytes)), [&](TestKernel &k) {
    k.add(Pipe::MTE2, isa::TLoad{tile(f32, toL1 ? Layout::NZ : Layout::ND, 0, boxes(rows), cols, rows), view(0, f32, rows, cols), toL1 ? Memory::L1 : Memory::UB});
  });
}
BENCHMARK(load)->ArgNames({"rows", "cols", "nd2nz"})->Args({96, 88, 0})->Args({96, 88, 1})->Args({96, 8, 1})->Args({128, 512, 1});

template <class D> void store(benchmark::State &state) {
  auto rows = uint16_t(state.range(0)), cols = uint16_t(state.range(1));
  repeat(state, isa::CoreKind::AIC, Pipe::FIX, 4.0 * rows * cols, "bytes", memcpyRate(size_t(4) * rows * cols), [&](TestKernel &k) {
    isa::TStoreAcc s{};
    s.dst = view(1, typeOf<D>(), rows, cols), s.src = tile(isa::ElementType::f32, Layout::NZ16, 0, rows, boxes(cols), rows, cols);
    k.add(Pipe::FIX, s);
  });
}
BENCHMARK(store<float>)->Args({96, 88})->Args({96, 8})->Args({128, 256});
BENCHMARK(store<half>)->Args({128, 256});

/// Scalar instructions with the loop around them, and launches of an empty kernel.
void scalarLoop(benchmark::State &state) {
  repeat(state, isa::CoreKind::AIC, Pipe::M, 4.0, "instructions", 0, [&](TestKernel &k) {
    k.add(Pipe::M, isa::Mul{1, isa::Value::reg(0), 64}).add(Pipe::M, isa::Add{2, isa::Value::reg(1), 64}).add(Pipe::M, isa::Min{3, isa::Value::reg(2), 64});
  });
}
BENCHMARK(scalarLoop);
void emptyLaunch(benchmark::State &state) {
  TestKernel k(isa::CoreKind::AIV, 0);
  k.add(Pipe::V, isa::Mov{0, 0});
  launches(state, k, 1, "launches", 0);
}
BENCHMARK(emptyLaunch);

} // namespace

BENCHMARK_MAIN();
