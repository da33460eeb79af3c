// Launches of VM programs as tasks.
#include "pto_mlir/Runtime/QueuedProvider.h"
#include "pto_mlir/ByteCode/Text.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

using namespace pto_mlir;
using namespace pto_mlir::bytecode;
using namespace pto_mlir::runtime;
using ::testing::HasSubstr;

namespace {

using Body = std::function<Status(const std::vector<float> &, float &)>;

/// Kernels by name, on one-element tensors.
class Kernels : public KernelProvider {
public:
  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) override {
    struct One : Kernel {
      explicit One(Body body) : body(std::move(body)) {}
      Status run(std::span<const Value> operands, std::span<Value> results) override {
        std::vector<float> numbers;
        for (const Value &operand : operands) {
          numbers.emplace_back();
          std::memcpy(&numbers.back(), operand.tensor->data.get(), 4);
        }
        float result = 0;
        if (Status status = body(numbers, result); !status)
          return status;
        results[0] = Value::of(makeTensor(ElementType::F32, {1}));
        std::memcpy(results[0].tensor->data.get(), &result, 4);
        return {};
      }
      Body body;
    };
    auto body = bodies.find(std::string(key.op()));
    if (body == bodies.end())
      return Failure{"no kernel " + name};
    return std::shared_ptr<Kernel>(std::make_shared<One>(body->second));
  }
  std::map<std::string, Body> bodies;
};

/// Runs a program whose slots hold one-element tensors; returns its result or its error.
Result<float> execute(std::shared_ptr<Kernels> kernels, const std::string &constants, const std::string &body) {
  auto module = assemble(".vm 1\n.target \"host\", 1, 15\n.const 0 = dense [1.0] : tensor<1xf32>\n" + constants +
                         ".func @main() -> (tensor<1xf32>) slots(tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {\n" +
                         body + "}\n");
  if (!module)
    return module.failure();
  auto program = Program::load(module.take());
  auto provider = QueuedProvider::make(kernels, 3);
  if (!program || !provider)
    return Failure{program ? provider.error() : program.error()};
  auto machine = Machine::create(program.take(), provider.take());
  if (!machine)
    return machine.failure();
  auto results = machine->run({});
  if (!results)
    return results.failure();
  float number;
  std::memcpy(&number, (*results)[0].tensor->data.get(), 4);
  return number;
}

std::string kernel(int number, const std::string &name, int operands) {
  std::string types = operands == 1 ? "tensor<1xf32>" : "tensor<1xf32>, tensor<1xf32>";
  return ".const " + std::to_string(number) + " = kernel @device." + name + " (" + types + ") -> (tensor<1xf32>)\n";
}

TEST(QueuedProvider, QueuesOverlapAndOperandsOrderThem) {
  auto kernels = std::make_shared<Kernels>();
  // Each kernel waits until the other has started, so they end only if they run concurrently.
  std::atomic<int> begun{0};
  auto meet = [&](float result) -> Body {
    return [&begun, result](const std::vector<float> &, float &made) -> Status {
      ++begun;
      auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (begun < 2 && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
      made = result;
      return begun >= 2 ? Status() : Status(Failure{"was alone"});
    };
  };
  kernels->bodies = {{"left", meet(3)}, {"right", meet(4)}, {"sum", [](const std::vector<float> &x, float &made) {
                                                               made = x[0] + 10 * x[1];
                                                               return Status();
                                                             }}};
  auto result = execute(kernels, kernel(1, "left", 1) + kernel(2, "right", 1) + kernel(3, "sum", 2),
                        "  ldc tensor, 0\n  launch 1, 0\n  astore_0\n  ldc tensor, 0\n  launch 2, 1\n  astore_1\n"
                        "  aload_0\n  aload_1\n  launch 3, 2\n  astore_2\n  aload_2\n  return\n");
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(*result, 43);
}

TEST(QueuedProvider, ABarrierOrdersQueues) {
  auto kernels = std::make_shared<Kernels>();
  std::atomic<bool> slept{false};
  kernels->bodies = {{"slow",
                      [&](const std::vector<float> &, float &) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(50));
                        slept = true;
                        return Status();
                      }},
                     {"look", [&](const std::vector<float> &, float &made) {
                        made = slept ? 1 : 0;
                        return Status();
                      }}};
  auto result =
      execute(kernels, kernel(1, "slow", 1) + kernel(2, "look", 1),
              "  ldc tensor, 0\n  launch 1, 0\n  astore_0\n  barrier\n  ldc tensor, 0\n  launch 2, 1\n  return\n");
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(*result, 1);
}

TEST(QueuedProvider, AFailureEndsTheRunAndTheNextOneWorks) {
  auto kernels = std::make_shared<Kernels>();
  kernels->bodies = {
      {"bad", [](const std::vector<float> &, float &) { return Status(Failure{"there is no such row"}); }},
      {"id", [](const std::vector<float> &x, float &made) {
         made = x[0];
         return Status();
       }}};
  std::string body = "  ldc tensor, 0\n  launch 1, 0\n  launch 1, 0\n  return\n";
  EXPECT_THAT(execute(kernels, kernel(1, "bad", 1), body).error(), HasSubstr("there is no such row"));
  auto result = execute(kernels, kernel(1, "id", 1), body);
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(*result, 1);
}

} // namespace
