#include "pto_mlir/ByteCode/Program.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"

#include "pto_mlir/ByteCode/Machine.h"

#include <gmock/gmock.h>

#include <random>

using namespace pto_mlir;
using namespace pto_mlir::bytecode;
using ::testing::HasSubstr;

namespace {

/// The verifier's message for a function with these parameters, results and slots; empty if it is accepted.
std::string verify(const std::string &body, const std::string &signature = "() -> ()",
                   const std::string &slots = "()") {
  auto module =
      assemble(".vm 1\n.target \"host\", 1, 15\n.types i32, i64, f32, tensor<2x?xf32>, tensor<2x3xf32>, i1, i8\n"
               ".const 0 = text \"t\"\n.const 1 = kernel @host.f (tensor<2x?xf32>) -> (i32)\n.const 2 = 1.5 : f32\n"
               ".const 3 = dense [1, 2, 3, 4, 5, 6] : tensor<2x3xf32>\n"
               ".func @main" +
               signature + " slots" + slots + " {\n" + body +
               "\n}\n.func @callee(i32) -> (i32) slots(i32) {\niload_0\nreturn\n}\n");
  if (!module)
    return "text: " + module.error();
  auto program = Program::load(module.take());
  return program ? "" : program.error();
}

TEST(Verifier, GoodFunctionsPass) {
  EXPECT_EQ(verify(""), "");
  EXPECT_EQ(verify("iconst_1\nifeq A\niconst_2\ngoto B\nA:\niconst_3\nB:\nreturn", "() -> (i32)"), "");
  EXPECT_EQ(verify("ldc tensor, 3\ninvokestatic 1\ncall @callee\npop"), "");
  EXPECT_EQ(verify("iconst i64, 3\nnewtensor tensor<2x?xf32>\nastore_0\naload_0\ncast tensor<2x3xf32>\npop\ndrop 0",
                   "() -> ()", "(tensor<2x?xf32>)"),
            "");
}

TEST(Verifier, EveryMisuseIsFound) {
  struct Case {
    const char *body, *message;
  } cases[] = {
      {"iadd", "@main, instruction 0 (iadd): takes more values than the stack has"},
      {"iconst_1", "the function ends without return"},
      {"iconst_1\niconst i64, 1\niadd", "takes two integers of one type, finds i32 and i64"},
      {"iconst i1, 1\ndup\niadd", "i1 has iand, ior, ixor and icmp"},
      {"iconst_1\nldc scalar, 2\nfadd", "expects a float on the stack, finds i32"},
      {"iload_0", "slot 0 does not exist, the function has 0"},
      {"iconst i8, 200", "200 is not a value of type i8"},
      {"iconst f32, 1", "1 is not a value of type f32"},
      {"ldc scalar, 0", "constant 0 is not a scalar"},
      {"ldc scalar, 9", "constant 9 does not exist"},
      {"ldc tensor, 2", "constant 2 is not a tensor"},
      {"invokestatic 0", "constant 0 is not a kernel"},
      {"iconst_1\ninvokestatic 1", "expects tensor<2x?xf32> on the stack, finds i32"},
      {"iconst_1\ndup\nicmp 10", "predicate 10 does not exist"},
      {"L:\niconst_1\ngoto L", "is reached with different stacks"},
      {"iconst_1\nassert 0", "expects i1 on the stack, finds i32"},
      {"iconst i1, 1\nassert 1", "constant 1 is not a text"},
      {"ldc tensor, 3\ndim 2", "dimension 2 of tensor<2x3xf32> does not exist"},
      {"ldc tensor, 3\niconst i64, 0\ntload", "expects a tensor and one index per dimension"},
      {"ldc tensor, 3\ncast tensor<2x?xf32>\nconv i32", "converts numbers, not tensor<2x?xf32> to i32"},
      {"iconst_1\niconst_1\nldc scalar, 2\nselect", "selects between i32 and f32"},
      {"newtensor tensor<2x?xf32>", "takes more values than the stack has"},
      {"drop 0", "slot 0 holds no tensor"},
      {"wait", "is an instruction of a net's program"},
      {"return\nnop", ""},
      {"iconst_1\nreturn", "returns with 1 more values on the stack"},
  };
  for (const Case &test : cases) {
    if (*test.message)
      EXPECT_THAT(verify(test.body), HasSubstr(test.message)) << test.body;
    else
      EXPECT_EQ(verify(test.body), "") << test.body;
  }
  EXPECT_THAT(verify("iload_0\npop", "() -> ()", "(i32)"), HasSubstr("reads slot 0, which not every path has written"));
  EXPECT_THAT(verify("iconst_1\nifeq A\niconst_1\nistore_0\nA:\niload_0\npop", "() -> ()", "(i32)"),
              HasSubstr("which not every path has written"));
  EXPECT_THAT(verify("fload_0\npop", "(i32) -> ()", "(i32)"), HasSubstr("slot 0 holds i32"));
  EXPECT_THAT(verify("", "(i32) -> ()", "()"), HasSubstr("its slots do not begin with its parameters"));
  EXPECT_THAT(verify("aload_0\nastore_0", "(tensor<2x?xf32>) -> (i32)", "(tensor<2x?xf32>)"),
              HasSubstr("ends without return"));
}

TEST(Verifier, TasksAreNoNumbers) {
  auto error = [](const std::string &body, const std::string &signature = "() -> ()") {
    auto module = assemble(".vm 1\n.target \"host\", 1, 31\n.types i1, i32, i64, task, tensor<4xf32>\n"
                           ".const 0 = kernel @device.f (tensor<4xf32>, i64) {\"directions\" = \"inout\"}\n"
                           ".const 1 = kernel @device.f (tensor<4xf32>, i64) {\"directions\" = \"inout,in\"}\n"
                           ".const 2 = kernel @device.f (tensor<4xf32>) -> (i32) {\"directions\" = \"in\"}\n"
                           ".const 3 = kernel @device.f (tensor<4xf32>)\n.func @main" +
                           signature + " slots(tensor<4xf32>, task) {\n" + body +
                           "\n}\n.func @other(task) -> (task) {\n" + "iload_0\nreturn\n}\n");
    if (!module)
      return "text: " + module.error();
    auto program = Program::load(module.take());
    return program ? std::string() : program.error();
  };
  const std::string given = "reserve tensor<4xf32>\niconst i64, 1\n";
  EXPECT_EQ(error(given + "submit 0, 0\nistore_1\n" + given + "iload_1\njoin 0\nsubmit 0, 2\ncall @other\npop"), "");
  EXPECT_EQ(error("reserve tensor<4xf32>\niconst i64, 1\nview tensor<2xf32>\npop"), "");
  EXPECT_THAT(error(given + "submit 1, 0\npop"), HasSubstr("is not submitted: expects @device, no results"));
  EXPECT_THAT(error(given + "submit 2, 0\npop"), HasSubstr("is not submitted"));
  EXPECT_THAT(error(given + "submit 3, 0\npop"), HasSubstr("is not submitted"));
  EXPECT_THAT(error(given + "submit 9, 0\npop"), HasSubstr("constant 9 is not a kernel"));
  EXPECT_THAT(error(given + "iconst i64, 3\nsubmit 0, 1\npop"), HasSubstr("expects task on the stack, finds i64"));
  EXPECT_THAT(error("join 0\ndup\niadd\npop"), HasSubstr("expects an integer on the stack, finds task"));
  EXPECT_THAT(error("join 0\nconv i64\npop"), HasSubstr("converts numbers, not task to i64"));
  EXPECT_THAT(error("iconst task, 1\npop"), HasSubstr("1 is not a value of type task"));
  EXPECT_THAT(error("join 4000000000\npop"), HasSubstr("takes more values than the stack has"));
  EXPECT_THAT(error("iconst i64, 1\nistore_1"), HasSubstr("expects task on the stack, finds i64"));
  EXPECT_THAT(error("reserve tensor<4xf32>\niconst i64, 1\nview tensor<2xi32>\npop"),
              HasSubstr("views tensor<4xf32> as tensor<2xi32>"));
  EXPECT_THAT(error("join 0\nreturn", "() -> (task)"), HasSubstr("takes or gives a task"));
}

TEST(Verifier, DevicesAreTheLastNumber) {
  auto error = [](const std::string &types, const std::string &capabilities = "") {
    auto module = assemble(".vm 1\n.target \"host\"" + capabilities + "\n.types i32, i64, task, tensor<4xf32>\n" +
                           ".const 0 = kernel @device.f (" + types +
                           ") {\"directions\" = \"inout\", \"ranked\" = 1}\n.func @main() {\n" +
                           "reserve tensor<4xf32>\niconst i64, 1\nsubmit 0, 0\npop\n}\n");
    if (!module)
      return "text: " + module.error();
    auto program = Program::load(module.take());
    return program ? std::string() : program.error();
  };
  EXPECT_EQ(error("tensor<4xf32>, i64"), "");
  EXPECT_THAT(error("tensor<4xf32>, i32"), HasSubstr("@device.f is ranked, but its last operand is no i64"));
  EXPECT_THAT(error("tensor<4xf32>"), HasSubstr("is ranked, but its last operand is no i64"));
  EXPECT_THAT(error("tensor<4xf32>, i64", ", 1, 31"),
              HasSubstr("uses capabilities that it does not declare (bits 32)"));
}

TEST(Verifier, ModulesAreChecked) {
  auto module = assemble(".vm 1\n.target \"host\", 1, 15\n.types i32\n.func @main() {\n}\n");
  ASSERT_TRUE(module);
  auto error = [&](auto change) {
    Module other = *module;
    change(other);
    auto program = Program::load(other);
    return program ? std::string() : program.error();
  };
  EXPECT_EQ(error([](Module &) {}), "");
  EXPECT_THAT(error([](Module &m) { m.version = 9; }), HasSubstr("is of VM version 9, this one runs version 1"));
  EXPECT_THAT(error([](Module &m) { m.capabilities = 64; }),
              HasSubstr("needs capabilities that this VM lacks (bits 64)"));
  EXPECT_THAT(error([](Module &m) { m.capabilities = 0, m.functions[0].code = {0x58, 0}; }),
              HasSubstr("uses capabilities that it does not declare (bits 8)"));
  EXPECT_THAT(error([](Module &m) { m.target = ""; }), HasSubstr("names no target"));
  EXPECT_THAT(error([](Module &m) { m.functions.clear(); }), HasSubstr("has no function"));
  EXPECT_THAT(error([](Module &m) { m.types.push_back(m.types[0]); }), HasSubstr("type 1 is there twice"));
  EXPECT_THAT(error([](Module &m) { m.functions[0].slots = {7}; }), HasSubstr("type 7 does not exist"));
  EXPECT_THAT(error([](Module &m) { m.functions.push_back(m.functions[0]); }),
              HasSubstr("two functions are named 'main'"));
  EXPECT_THAT(error([](Module &m) { m.constants.push_back(ScalarConstant{0, uint64_t(1) << 40}); }),
              HasSubstr("constant 0 does not fit into i32"));
  EXPECT_THAT(error([](Module &m) { m.constants.push_back(KernelKey{"nowhere.x", {}, {}, {}}); }),
              HasSubstr("constant 0 names no kernel"));
  EXPECT_THAT(error([](Module &m) { m.functions[0].debug = {{3, "x"}}; }),
              HasSubstr("debug entry 0 belongs to no instruction"));
  EXPECT_THAT(error([](Module &m) { m.functions[0].code = {0x58, 5}; }),
              HasSubstr("branches to instruction 5, the function has 1"));
}

/// Every mutated program is rejected, or runs without memory errors (under sanitizers).
TEST(Verifier, MutatedProgramsAreRefusedOrRun) {
  auto module = assemble(R"(.vm 1
.target "host", 1, 15
.types i32, i64, f32, tensor<?xf32>, i1
.const 0 = 2.5 : f32
.const 1 = kernel @host.exp (f32) -> (f32)
.const 2 = text "no"
.func @main(i64) -> (f32) slots(i64, f32, tensor<?xf32>, i64) {
  iload_0
  newtensor tensor<?xf32>
  astore_2
  ldc scalar, 0
  fstore_1
  iconst i64, 0
  istore_3
L:
  iload_3
  aload_2
  dim 0
  icmp 2
  ifeq E
  aload_2
  iload_3
  fload_1
  tstore
  fload_1
  invokestatic 1
  call @g
  fstore_1
  iload_3
  iconst i64, 1
  iadd
  istore_3
  goto L
E:
  fload_1
  return
}
.func @g(f32) -> (f32) slots(f32) {
  fload_0
  fload_0
  fadd
  return
}
)");
  ASSERT_TRUE(module) << module.error();
  auto provider = std::make_shared<HostProvider>([](const std::string &) {});
  std::mt19937 random(3);
  int accepted = 0;
  for (int round = 0; round < 12000; ++round) {
    Module other = *module;
    std::vector<uint8_t> &code = other.functions[random() % 2].code;
    for (int change = 1 + random() % 2; change-- > 0;) {
      size_t at = random() % code.size();
      switch (random() % 3) {
      case 0:
        code[at] = uint8_t(random() % 0x80);
        break;
      case 1:
        code.insert(code.begin() + at, uint8_t(random() % 0x80));
        break;
      default:
        if (code.size() > 1)
          code.erase(code.begin() + at);
      }
    }
    auto program = Program::load(std::move(other));
    if (!program)
      continue;
    ++accepted;
    auto machine = Machine::create(program.take(), provider, {1000, 64, 1 << 16});
    if (machine)
      (void)machine->run({Value::integer(5)});
  }
  EXPECT_GT(accepted, 50);
}

} // namespace
