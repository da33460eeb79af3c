// Overhead of the VM: nanoseconds per simple instruction, per call of an empty kernel, per function call, per launch as
// a task.
#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/Runtime/QueuedProvider.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

using namespace pto_mlir;
using namespace pto_mlir::bytecode;

namespace {

struct Nothing : Kernel {
  Status run(std::span<const Value>, std::span<Value>) override { return {}; }
};
struct NothingProvider : KernelProvider {
  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &, const std::string &) override {
    return std::shared_ptr<Kernel>(std::make_shared<Nothing>());
  }
};

template <class T> T check(Result<T> result) {
  if (!result) {
    std::cerr << result.error() << "\n";
    std::exit(1);
  }
  return result.take();
}

constexpr int64_t trips = 10000;

/// Runs `body` in a counted loop of 9 instructions; `instructions` is the number in the body.
void measure(benchmark::State &state, const std::string &body, int64_t instructions, uint32_t threads = 0) {
  std::string text = ".vm 1\n.target \"host\", 1, 15\n.types i64, f32, tensor<4xf32>\n"
                     ".const 0 = kernel @device.nothing (tensor<4xf32>, tensor<4xf32>) -> ()\n.const 1 = 1.5 : f32\n"
                     ".func @main(i64, tensor<4xf32>) -> (f32) slots(i64, tensor<4xf32>, i64, f32) {\n  iconst i64, "
                     "0\n  istore_2\n  ldc scalar, 1\n  fstore_3\nL:\n" +
                     body +
                     "  iload_2\n  iconst i64, 1\n  iadd\n  istore_2\n  iload_2\n  iload_0\n  icmp 2\n  ifne L\n  "
                     "fload_3\n  return\n}\n"
                     ".func @empty() -> () slots() {\n}\n";
  std::shared_ptr<KernelProvider> provider = std::make_shared<NothingProvider>();
  if (threads)
    provider = check(runtime::QueuedProvider::make(provider, threads));
  auto machine = check(Machine::create(check(Program::load(check(assemble(text)))), provider));
  auto tensor = makeTensor(ElementType::F32, {4});
  for (auto _ : state)
    benchmark::DoNotOptimize(check(machine.run({Value::integer(trips), Value::of(tensor)})));
  double perTrip = double(instructions + 8);
  state.counters["instruction"] = benchmark::Counter(double(state.iterations()) * trips * perTrip,
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["trip"] =
      benchmark::Counter(double(state.iterations()) * trips, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Loop(benchmark::State &state) { measure(state, "", 0); }
void BM_Floats(benchmark::State &state) {
  measure(state, "  fload_3\n  fload_3\n  fmul\n  fload_3\n  fadd\n  fstore_3\n", 6);
}
void BM_Tensors(benchmark::State &state) { measure(state, "  aload_1\n  astore_1\n  aload_1\n  dim 0\n  pop\n", 5); }
void BM_Function(benchmark::State &state) { measure(state, "  call @empty\n", 2); }
void BM_Kernel(benchmark::State &state) { measure(state, "  aload_1\n  aload_1\n  invokestatic 0\n", 3); }
void BM_Launch(benchmark::State &state) { measure(state, "  aload_1\n  aload_1\n  launch 0, 0\n", 3); }
/// On one thread, so that the overhead is measured without overlap.
void BM_Task(benchmark::State &state) { measure(state, "  aload_1\n  aload_1\n  launch 0, 0\n", 3, 1); }

BENCHMARK(BM_Loop);
BENCHMARK(BM_Floats);
BENCHMARK(BM_Tensors);
BENCHMARK(BM_Function);
BENCHMARK(BM_Kernel);
BENCHMARK(BM_Launch);
BENCHMARK(BM_Task);

} // namespace

BENCHMARK_MAIN();
