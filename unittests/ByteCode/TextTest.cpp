#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/ByteCode/Serialize.h"

#include <gmock/gmock.h>

using namespace pto_mlir;
using namespace pto_mlir::bytecode;
using ::testing::HasSubstr;

namespace {

// a = 3; b = 40; c = a + b; print(c)
constexpr const char *sample = R"(.vm 1
.target "python", 1, 0
.types i32
.const 0 = 40 : i32
.const 1 = kernel @device.add (i32, i32) -> (i32)
.const 2 = kernel @python.print (i32) -> ()

.func @main() -> () slots(i32, i32, i32) {
  iconst_3
  ldc scalar, 0  // 40
  invokestatic 1  // 'device_add_sig_ii_i_ins_i32_i32_outs_i32'
  istore_2
  iload_2
  invokestatic 2  // 'python_print_sig_i_ins_i32'
}
)";

constexpr const char *everything = R"(.vm 1
.target "host", 3, 15
.types i64, f32, tensor<2x?xf32>, i1, tensor<3xi32>, tensor<2xf32>, tensor<1xf16>, i32
.const 0 = -7 : i64
.const 1 = 0.1 : f32
.const 2 = dense [1, -2, 3] : tensor<3xi32>
.const 3 = dense [0.5, -0] : tensor<2xf32>
.const 4 = bytes "003c" : tensor<1xf16>
.const 5 = external "wte" : tensor<2xf32>
.const 6 = text "a \"quoted\" \\ line\0a"
.const 7 = kernel @device.conv (tensor<2x?xf32>) -> (tensor<2x?xf32>) {"eps" = 1e-05, "mode" = "same", "pads" = [1, 2.5]}

.func @main(i64) -> (f32) slots(i64, i64) {
  iload_0
L1:
  iconst i64, -1
  iadd
  dup
  ifne L1
  pop
  .loc "net.onnx:17"
  goto L7
L7:
  call @"one half"
  return
}

.func @"one half"() -> (f32) slots() {
  ldc scalar, 1  // 0.1
  return
}
)";

TEST(Text, DisassemblyAndAssemblyAreInverse) {
  for (const char *text : {sample, everything}) {
    auto module = assemble(text);
    ASSERT_TRUE(module) << module.error();
    EXPECT_EQ(disassemble(*module), text);
    auto bytes = serialize(*module);
    auto back = deserialize(bytes.data(), bytes.size());
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(*back, *module);
  }
}

TEST(Text, TheListingIsThatOfTheFormat) {
  auto module = assemble(sample);
  ASSERT_TRUE(module);
  EXPECT_EQ(listing(*module), "ByteCodeModule(\n"
                              "consts=[40, 'device_add_sig_ii_i_ins_i32_i32_outs_i32', 'python_print_sig_i_ins_i32'],\n"
                              "code=[<OpCode.iconst_3: 5>, <OpCode.ldc: 11>, <TypeCode.scalar: 1>, 0, "
                              "<OpCode.invokestatic: 12>, 1, <OpCode.istore_2: 21>, "
                              "<OpCode.iload_2: 16>, <OpCode.invokestatic: 12>, 2],\n"
                              "target='python',\n"
                              "variable_size=3)");
  EXPECT_EQ(module->byteSize(), 24u);
}

TEST(Text, EveryInstructionRoundTrips) {
  Module module;
  module.target = "host";
  module.types = {Type::scalar(ElementType::I32)};
  module.constants = {TextConstant{"x"}};
  Function function{"main", {}, {}, {}, {}, {}};
  uint32_t count = 0;
  for (unsigned code = 0; code < 256; ++code) {
    if (!findOpcode(uint8_t(code)))
      continue;
    Instruction insn;
    insn.opcode = static_cast<Opcode>(code);
    const OpcodeRow &row = opcodeRow(insn.opcode);
    if (row.has(OperandKind::ConstantKind))
      insn.typeCode = 2;
    if (row.has(OperandKind::Signed))
      insn.value = INT64_MIN;
    if (row.has(OperandKind::Slot))
      insn.slot = 1000000;
    if (row.has(OperandKind::Arguments))
      insn.arguments = {{1, 2, 3}, {4, UINT64_MAX, 5}};
    if (row.has(OperandKind::Slots))
      insn.slots = {7, 8};
    if (row.has(OperandKind::Sizes))
      insn.scalars = {{{{-12, {0, 3}}, {1, {}}}}, {}, {{{1, {2}}}}};
    encode(insn, function.code);
    ++count;
  }
  module.functions.push_back(function);
  EXPECT_EQ(count, 104u);
  auto back = assemble(disassemble(module));
  ASSERT_TRUE(back) << back.error() << disassemble(module);
  EXPECT_EQ(*back, module);
}

TEST(Text, MistakesAreNamedWithTheirLine) {
  auto error = [](const std::string &text) {
    auto module = assemble(text);
    return module ? std::string() : module.error();
  };
  EXPECT_THAT(error(""), HasSubstr("does not begin with .vm"));
  EXPECT_THAT(error(".vm x"), HasSubstr("line 1: .vm expects a version"));
  EXPECT_THAT(error(".vm 1\nhello"), HasSubstr("line 2: expects .vm, .target, .types, .const or .func, got 'hello'"));
  EXPECT_THAT(error(".vm 1\n.const 1 = 2 : i32"), HasSubstr("line 2: expects constant 0 here"));
  EXPECT_THAT(error(".vm 1\n.const 0 = 2 : i33"), HasSubstr("line 2: 'i33' is not a type"));
  EXPECT_THAT(error(".vm 1\n.const 0 = 2.5 : i32"), HasSubstr("line 2: '2.5' is not an integer"));
  EXPECT_THAT(error(".vm 1\n.const 0 = dense [1, x] : tensor<2xi8>"),
              HasSubstr("line 2: 'x' is not a value of type i8"));
  EXPECT_THAT(error(".vm 1\n.const 0 = bytes \"0g\" : tensor<1xi8>"), HasSubstr("line 2: bytes expects hexadecimal"));
  EXPECT_THAT(error(".vm 1\n.func @f() {\n  frobnicate\n}"), HasSubstr("line 3: no instruction is named 'frobnicate'"));
  EXPECT_THAT(error(".vm 1\n.func @f() {\n  goto L1\n}"), HasSubstr("line 3: no label is named 'L1'"));
  EXPECT_THAT(error(".vm 1\n.func @f() {\nL:\nL:\n}"), HasSubstr("line 4: label 'L' is there twice"));
  EXPECT_THAT(error(".vm 1\n.func @f() {\n  iload\n}"), HasSubstr("line 3: expects a number"));
  EXPECT_THAT(error(".vm 1\n.func @f() {\n  nop 3\n}"), HasSubstr("line 3: does not expect '3' here"));
  EXPECT_THAT(error(".vm 1\n.func @f() {\n  call @g\n}"), HasSubstr("line 3: no function is named '@g'"));
  EXPECT_THAT(error(".vm 1\n.func @f() {\n"), HasSubstr("has no closing '}'"));
}

TEST(Text, DamagedBytesAreRefused) {
  auto bytes = serialize(*assemble(everything));
  for (size_t size = 0; size < bytes.size(); size += 7)
    (void)deserialize(bytes.data(), size);
  EXPECT_FALSE(deserialize(bytes.data(), 3));
  std::vector<uint8_t> other(64, 0xff);
  EXPECT_EQ(deserialize(other.data(), other.size()).error(), "is not a VM program");
}

} // namespace
