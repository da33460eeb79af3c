#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/ByteCode/Text.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

using namespace pto_mlir;
using namespace pto_mlir::bytecode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct Outcome {
  std::vector<std::string> printed;
  std::vector<Value> results;
  std::string error;
};

Outcome execute(const std::string &text, std::vector<Value> arguments = {}, MachineOptions options = {}) {
  Outcome run;
  auto module = assemble(text);
  if (!module)
    return {{}, {}, module.error()};
  auto program = Program::load(module.take());
  if (!program)
    return {{}, {}, program.error()};
  auto provider = std::make_shared<HostProvider>([&](const std::string &line) { run.printed.push_back(line); });
  auto machine = Machine::create(program.take(), provider, options);
  if (!machine)
    return {{}, {}, machine.error()};
  auto results = machine->run(std::move(arguments));
  if (results)
    run.results = results.take();
  else
    run.error = results.error();
  return run;
}

std::string program(const std::string &signature, const std::string &slots, const std::string &body,
                    const std::string &head = "") {
  return ".vm 1\n.target \"host\", 1, 15\n.types i1, i8, i16, i32, i64, f32, f64\n" + head + ".func @main" + signature +
         " slots" + slots + " {\n" + body + "\n}\n";
}

TEST(Machine, AddsAndPrints) {
  Outcome run = execute(program("() -> ()", "(i32)", "iconst_3\nldc scalar, 0\niadd\nistore_0\niload_0\ninvokestatic 1",
                                ".const 0 = 40 : i32\n.const 1 = kernel @host.print (i32) -> ()\n"));
  EXPECT_EQ(run.error, "");
  EXPECT_THAT(run.printed, ElementsAre("43"));
}

/// Evaluates x OP y on two parameters of a type.
Value binary(const std::string &op, const std::string &type, Value x, Value y, const std::string &result = "") {
  char kind = type[0] == 'f' ? 'f' : 'i';
  std::string load = std::string(1, kind) + "load_";
  Outcome run = execute(program("(" + type + ", " + type + ") -> (" + (result.empty() ? type : result) + ")",
                                "(" + type + ", " + type + ")", load + "0\n" + load + "1\n" + op + "\nreturn"),
                        {x, y});
  EXPECT_EQ(run.error, "") << op;
  return run.results.empty() ? Value() : run.results[0];
}
int64_t integers(const std::string &op, const std::string &type, int64_t x, int64_t y, const std::string &result = "") {
  return binary(op, type, Value::integer(x), Value::integer(y), result).bits;
}
double floats(const std::string &op, const std::string &type, double x, double y) {
  return binary(op, type, Value::number(x), Value::number(y)).asDouble();
}

TEST(Machine, IntegersWrapAtTheirWidth) {
  EXPECT_EQ(integers("iadd", "i8", 127, 1), -128);
  EXPECT_EQ(integers("iadd", "i32", INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(integers("imul", "i64", INT64_MAX, 2), -2);
  EXPECT_EQ(integers("isub", "i16", -32768, 1), 32767);
  EXPECT_EQ(integers("idiv", "i32", INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(integers("idiv", "i64", INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(integers("irem", "i64", INT64_MIN, -1), 0);
  EXPECT_EQ(integers("idiv", "i32", -7, 2), -3);
  EXPECT_EQ(integers("irem", "i32", -7, 2), -1);
  EXPECT_EQ(integers("ifloordiv", "i32", -7, 2), -4);
  EXPECT_EQ(integers("iceildiv", "i32", -7, 2), -3);
  EXPECT_EQ(integers("iceildiv", "i32", 7, 2), 4);
  EXPECT_EQ(integers("idivu", "i8", -1, 2), 127);
  EXPECT_EQ(integers("iremu", "i8", -1, 16), 15);
  EXPECT_EQ(integers("imin", "i8", -1, 1), -1);
  EXPECT_EQ(integers("iminu", "i8", -1, 1), 1);
  EXPECT_EQ(integers("imaxu", "i8", -1, 1), -1);
  EXPECT_EQ(integers("ishl", "i8", 1, 7), -128);
  EXPECT_EQ(integers("ishl", "i8", 1, 8), 0);
  EXPECT_EQ(integers("ishr", "i8", -128, 100), -1);
  EXPECT_EQ(integers("ishru", "i8", -128, 7), 1);
  EXPECT_EQ(integers("iand", "i1", 1, 1), 1);
  EXPECT_EQ(integers("ixor", "i1", 1, 1), 0);
  EXPECT_EQ(integers("icmp 2", "i32", -1, 1, "i1"), 1);
  EXPECT_EQ(integers("icmp 6", "i32", -1, 1, "i1"), 0);
}

TEST(Machine, FloatsRoundToTheirType) {
  EXPECT_EQ(floats("fadd", "f32", 0.1f, 0.2f), double(0.1f + 0.2f));
  EXPECT_EQ(floats("fadd", "f64", 0.1, 0.2), 0.1 + 0.2);
  EXPECT_EQ(floats("fdiv", "f32", 1, 3), double(1.0f / 3.0f));
  EXPECT_EQ(floats("frem", "f64", -7.5, 2), -1.5);
  EXPECT_TRUE(std::isnan(floats("fmin", "f32", NAN, 1)));
  EXPECT_TRUE(std::signbit(floats("fmin", "f32", 0.0, -0.0)));
  EXPECT_FALSE(std::signbit(floats("fmax", "f32", -0.0, 0.0)));
}

TEST(Machine, Converts) {
  auto convert = [](const std::string &op, const std::string &from, Value value, const std::string &to) {
    Outcome run = execute(program("(" + from + ") -> (" + to + ")", "(" + from + ")",
                                  std::string(from[0] == 'f' ? "f" : "i") + "load_0\n" + op + " " + to + "\nreturn"),
                          {value});
    return run.error.empty() ? run.results[0] : Value::integer(-999);
  };
  EXPECT_EQ(convert("conv", "i1", Value::integer(1), "i32").bits, -1);
  EXPECT_EQ(convert("convu", "i1", Value::integer(1), "i32").bits, 1);
  EXPECT_EQ(convert("conv", "i32", Value::integer(300), "i8").bits, 44);
  EXPECT_EQ(convert("convu", "i8", Value::integer(-1), "i64").bits, 255);
  EXPECT_EQ(convert("conv", "i64", Value::integer((int64_t(1) << 24) + 1), "f32").asDouble(), double(1 << 24));
  EXPECT_EQ(convert("convu", "i8", Value::integer(-1), "f64").asDouble(), 255.0);
  EXPECT_EQ(convert("conv", "f64", Value::number(-2.9), "i32").bits, -2);
  EXPECT_EQ(convert("convu", "f64", Value::number(4294967295.0), "i32").bits, -1);
  EXPECT_EQ(convert("conv", "f64", Value::number(1e20), "i64").bits, -999);
  EXPECT_EQ(convert("conv", "f64", Value::number(NAN), "i64").bits, -999);
  EXPECT_EQ(convert("conv", "f64", Value::number(0.1), "f32").asDouble(), double(0.1f));
}

TEST(Machine, CallsAndLoops) {
  // Recursive Fibonacci, and a sum in a loop.
  std::string text = program("(i64) -> (i64)", "(i64)", "iload_0\ncall @fib\nreturn") + R"(
.func @fib(i64) -> (i64) slots(i64) {
  iload_0
  iconst i64, 2
  icmp 2
  ifeq deep
  iload_0
  return
deep:
  iload_0
  iconst i64, 1
  isub
  call @fib
  iload_0
  iconst i64, 2
  isub
  call @fib
  iadd
  return
}
)";
  Outcome run = execute(text, {Value::integer(20)});
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.results[0].bits, 6765);
  EXPECT_THAT(execute(text, {Value::integer(2000)}, {0, 100}).error, HasSubstr("calls are nested deeper than 100"));
  EXPECT_THAT(execute(program("() -> ()", "()", "L:\ngoto L"), {}, {1000}).error,
              HasSubstr("@main, instruction 0 (goto): ran longer than 1000 jumps"));
}

TEST(Machine, Tensors) {
  // t[i] = i * i for a size given by the caller, then a 2-D view of it.
  Outcome run = execute(R"(.vm 1
.target "host", 1, 15
.types i64, tensor<?xi64>, tensor<?x2xi64>
.func @main(i64) -> (tensor<?x2xi64>, i64) slots(i64, tensor<?xi64>, i64) {
  iload_0
  newtensor tensor<?xi64>
  astore_1
  iconst i64, 0
  istore_2
L:
  iload_2
  iload_0
  icmp 2
  ifeq E
  aload_1
  iload_2
  iload_2
  iload_2
  imul
  tstore
  iload_2
  iconst i64, 1
  iadd
  istore_2
  goto L
E:
  aload_1
  iload_0
  iconst i64, 2
  idiv
  reshape tensor<?x2xi64>
  aload_1
  iconst i64, 3
  tload
  return
}
)",
                        {Value::integer(6)});
  ASSERT_EQ(run.error, "");
  EXPECT_THAT(run.results[0].tensor->shape, ElementsAre(3, 2));
  int64_t data[6];
  std::memcpy(data, run.results[0].tensor->data.get(), sizeof data);
  EXPECT_THAT(data, ElementsAre(0, 1, 4, 9, 16, 25));
  EXPECT_EQ(run.results[1].bits, 9);
}

/// Adds a number to each element, in place.
class AddTo : public Kernel {
public:
  Status run(std::span<const Value> operands, std::span<Value>) override {
    Tensor &tensor = *operands[0].tensor;
    for (uint64_t i = 0; i < tensor.bytes / 4; ++i)
      reinterpret_cast<int32_t *>(tensor.data.get())[i] += int32_t(operands[1].bits);
    return {};
  }
};

class AddToProvider : public HostProvider {
public:
  AddToProvider() : HostProvider([](const std::string &) {}) {}
  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &, const std::string &) override {
    return std::shared_ptr<Kernel>(std::make_shared<AddTo>());
  }
};

// A submitted kernel writes its tensors; a view is the same memory.
TEST(Machine, SubmittedKernelsWriteViews) {
  auto run = [](const std::string &body) -> Result<std::vector<Value>> {
    auto module = assemble(".vm 1\n.target \"host\"\n"
                           ".const 0 = kernel @device.add (tensor<2xi32>, i64) {\"directions\" = \"inout\"}\n"
                           ".func @main(i64) -> (i32) slots(i64, tensor<?xi32>, task) {\n" +
                           body + "\n}\n");
    if (!module)
      return module.failure();
    EXPECT_EQ(module->capabilities & kTasks, kTasks);
    auto program = Program::load(module.take());
    if (!program)
      return program.failure();
    auto machine = Machine::create(program.take(), std::make_shared<AddToProvider>());
    return machine->run({Value::integer(6)});
  };
  const std::string make = "iload_0\nreserve tensor<?xi32>\nastore_1\n", part = "aload_1\niconst i64, ";
  auto sum = run(make + part + "2\nview tensor<2xi32>\niconst i64, 5\nsubmit 0, 0\nistore_2\n" + part +
                 "3\nview tensor<2xi32>\niconst i64, 40\niload_2\nsubmit 0, 1\npop\n" + part + "3\ntload\nreturn");
  ASSERT_TRUE(sum) << sum.error();
  EXPECT_EQ((*sum)[0].bits, 45);
  for (const char *offset : {"5", "-1"}) {
    auto outside = run(make + part + offset + "\nview tensor<2xi32>\npop\niconst_0\nreturn");
    ASSERT_FALSE(outside);
    EXPECT_THAT(outside.error(), HasSubstr("(view): a view of"));
  }
}

TEST(Machine, FaultsNameTheirPlace) {
  std::string text = program("(i32) -> (i32)", "(i32)", ".loc \"sum.py:3\"\niconst_1\niload_0\nidiv\nreturn");
  EXPECT_EQ(execute(text, {Value::integer(0)}).error, "@main, instruction 2 (idiv) at sum.py:3: division by zero");
  EXPECT_THAT(execute(text, {}).error, HasSubstr("@main takes 1 arguments, got 0"));
  EXPECT_THAT(execute(text, {Value::integer(int64_t(1) << 40)}).error, HasSubstr("argument 0 is not of type i32"));
  EXPECT_THAT(execute(program("() -> ()", "()", "iconst i1, 0\nassert 0", ".const 0 = text \"sizes agree\"\n")).error,
              HasSubstr("assertion failed: sizes agree"));
  EXPECT_THAT(execute(program("() -> ()", "()", "unreachable")).error, HasSubstr("never reached"));
  EXPECT_THAT(execute(program("() -> ()", "()", "iconst i64, -1\nnewtensor tensor<?xf32>\npop")).error,
              HasSubstr("extent -1"));
  EXPECT_THAT(execute(program("() -> ()", "()", "iconst i64, 1099511627776\nnewtensor tensor<?xf32>\npop")).error,
              HasSubstr("cannot make a tensor"));
  EXPECT_THAT(execute(program("() -> ()", "()", "newtensor tensor<2xf32>\niconst i64, 2\ntload\npop")).error,
              HasSubstr("an index is outside 2"));
  EXPECT_THAT(
      execute(program("() -> ()", "()", "newtensor tensor<2x3xf32>\niconst i64, 4\nreshape tensor<?xf32>\npop")).error,
      HasSubstr("reshapes 2x3 to "));
  EXPECT_THAT(execute(program("(tensor<?xf32>) -> ()", "(tensor<?xf32>)", "aload_0\ncast tensor<2xf32>\npop"),
                      {Value::of(makeTensor(ElementType::F32, {3}))})
                  .error,
              HasSubstr("the tensor is a tensor<3xf32>, no tensor<2xf32>"));
  EXPECT_THAT(execute(program("() -> ()", "()", "", ".const 0 = kernel @device.add (i32, i32) -> (i32)\n")).error,
              HasSubstr("the host has no kernel device_add_sig_ii_i_ins_i32_i32_outs_i32"));
}

TEST(Machine, ScalarMath) {
  Outcome run = execute(program("(f32) -> (f32)", "(f32)", "fload_0\ninvokestatic 0\nreturn",
                                ".const 0 = kernel @host.tanh (f32) -> (f32)\n"),
                        {Value::number(0.5)});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.results[0].asDouble(), double(float(std::tanh(0.5))));
}

/// A kernel that runs only when its result is awaited, as on a device.
class Deferred : public HostProvider {
public:
  using HostProvider::HostProvider;
  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) override {
    struct Fill : Kernel {
      Status run(std::span<const Value>, std::span<Value> results) override {
        auto tensor = makeTensor(ElementType::I64, {1});
        int64_t seven = 7;
        std::memcpy(tensor->data.get(), &seven, 8);
        results[0] = Value::of(tensor);
        return {};
      }
    };
    return key.callee == "device.fill" ? Result<std::shared_ptr<Kernel>>(std::make_shared<Fill>())
                                       : HostProvider::resolve(key, name);
  }
  Status launch(Kernel &, uint32_t queue, std::span<const Value>, std::span<Value> results) override {
    auto tensor = makeTensor(ElementType::I64, {1});
    results[0] = Value::of(tensor);
    waiting.push_back(tensor);
    queues.push_back(queue);
    return {};
  }
  Status wait(uint32_t) override {
    int64_t seven = 7;
    for (const TensorPtr &tensor : waiting)
      std::memcpy(tensor->data.get(), &seven, 8);
    waiting.clear();
    return {};
  }
  std::vector<TensorPtr> waiting;
  std::vector<uint32_t> queues;
};

TEST(Machine, ReadsWaitForLaunches) {
  auto module = assemble(program("() -> (i64)", "()", "launch 0, 3\niconst i64, 0\ntload\nreturn",
                                 ".const 0 = kernel @device.fill () -> (tensor<1xi64>)\n"));
  ASSERT_TRUE(module) << module.error();
  auto loaded = Program::load(module.take());
  ASSERT_TRUE(loaded) << loaded.error();
  auto provider = std::make_shared<Deferred>([](const std::string &) {});
  auto machine = Machine::create(loaded.take(), provider);
  ASSERT_TRUE(machine) << machine.error();
  auto results = machine->run({});
  ASSERT_TRUE(results) << results.error();
  EXPECT_EQ((*results)[0].bits, 7);
  EXPECT_THAT(provider->queues, ElementsAre(3));
}

TEST(Machine, TracesEveryStep) {
  auto module = assemble(program("(i32) -> (i32)", "(i32)", "iload_0\niconst_1\niadd\nreturn"));
  auto machine =
      Machine::create(*Program::load(module.take()), std::make_shared<HostProvider>([](const std::string &) {}));
  std::vector<std::string> lines;
  machine->trace([&](const std::string &line) { lines.push_back(line); });
  ASSERT_TRUE(machine->run({Value::integer(5)}));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2], "@main 2: iadd  | slots 5 | depth 2 numbers, 0 tensors");
}

/// The rows of two i32 that a program returns, printed.
std::vector<std::string> rows(const std::string &body, std::string *error = nullptr) {
  Outcome run = execute(program("() -> ()", "(tensor<?x2xi32>, tensor<?x2xi32>, tensor<?x2xi32>, tensor<2xi32>)", body,
                                ".const 0 = kernel @host.append (tensor<?x2xi32>, tensor<2xi32>) -> (tensor<?x2xi32>)\n"
                                ".const 1 = kernel @host.put (tensor<?x2xi32>, i64, tensor<2xi32>)\n"
                                ".const 2 = kernel @host.print (tensor<?x2xi32>)\n"
                                ".const 3 = dense [1, 2] : tensor<2xi32>\n.const 4 = dense [3, 4] : "
                                "tensor<2xi32>\n.const 5 = dense [5, 6] : tensor<2xi32>\n"));
  if (error)
    *error = run.error;
  else
    EXPECT_EQ(run.error, "");
  return run.printed;
}

TEST(Machine, AppendsRowsToWhatOthersStillSee) {
  // Slot 1 is slot 0 and a row; two tensors are derived from slot 0.
  EXPECT_THAT(
      rows("iconst i64, 0\nnewtensor tensor<?x2xi32>\nldc tensor, 3\ninvokestatic 0\nastore_1\n"
           "aload_1\nldc tensor, 4\ninvokestatic 0\nastore_0\naload_1\nldc tensor, 5\ninvokestatic 0\nastore_2\n"
           "aload_0\ninvokestatic 2\naload_1\ninvokestatic 2\naload_2\ninvokestatic 2"),
      ElementsAre("tensor<2x2xi32> [1, 2, 3, 4]", "tensor<1x2xi32> [1, 2]", "tensor<2x2xi32> [1, 2, 5, 6]"));
}

TEST(Machine, PutsRows) {
  std::string make = "iconst i64, 3\nnewtensor tensor<?x2xi32>\nastore_0\n", error;
  EXPECT_THAT(rows(make + "aload_0\niconst i64, 2\nldc tensor, 4\ninvokestatic 1\naload_0\niconst i64, 0\nldc tensor, "
                          "5\ninvokestatic 1\n"
                          "aload_0\ninvokestatic 2"),
              ElementsAre("tensor<3x2xi32> [5, 6, 0, 0, 3, 4]"));
  rows(make + "aload_0\niconst i64, 3\nldc tensor, 4\ninvokestatic 1", &error);
  EXPECT_THAT(error, HasSubstr("row 3 of 3"));
}

} // namespace
