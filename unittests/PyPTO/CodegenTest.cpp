// The parts of the code generators that need no compiler, by the names of the two descriptions they come from.
#include "Build.h"

#include "pypto/codegen/code_context.h"
#include "pypto/codegen/code_emitter.h"
#include "pypto/codegen/isa_mapper.h"
#include "pypto/codegen/memref_collector.h"
#include "pypto/codegen/type_converter.h"

namespace pypto::codegen {
namespace {

using namespace ir;

TEST(CodeEmitter, B02_IndentsByFour) {
  CodeEmitter emitter;
  emitter.EmitLine("void f() {");
  emitter.IncreaseIndent();
  emitter.EmitLine("int x = 42;");
  emitter.EmitLine("");
  emitter.EmitBlock("#pragma once\n");
  emitter.DecreaseIndent();
  emitter.EmitLine("}");
  EXPECT_EQ(emitter.GetCode(), "void f() {\n    int x = 42;\n\n#pragma once\n}\n");
  EXPECT_THROW(emitter.DecreaseIndent(), ValueError);
  emitter.Clear();
  EXPECT_EQ(emitter.GetCode(), "");
}

TEST(CodeContext, B03_VariablesHaveOneName) {
  CodeContext context;
  VarPtr a = var("input.a"), b = var("2d");
  EXPECT_EQ(context.SanitizeName(a), "input_a");
  EXPECT_EQ(context.SanitizeName(b), "_2d");
  EXPECT_EQ(messageOf<ValueError>([&] { context.GetVarName(a); }), "variable input.a is not registered");
  context.RegisterVar(a, "input_aGlobal");
  EXPECT_EQ(context.GetVarName(a), "input_aGlobal");
  EXPECT_EQ(messageOf<ValueError>([&] { context.RegisterVar(a, "x"); }), "variable input.a is registered already");
  context.RegisterPointer("outputGlobal", "output");
  EXPECT_EQ(context.GetPointer("outputGlobal"), "output");
  EXPECT_THROW(context.GetPointer("other"), ValueError);
  context.Clear();
  EXPECT_THROW(context.GetVarName(a), ValueError);
  EXPECT_THROW(context.GetPointer("outputGlobal"), ValueError);
}

TEST(TypeConverter, ElementTypes) {
  TypeConverter converter;
  EXPECT_EQ(converter.ConvertDataType(DataType::FP32), "float");
  EXPECT_EQ(converter.ConvertDataType(DataType::FP16), "half");
  EXPECT_EQ(converter.ConvertDataType(DataType::INT32), "int32_t");
  EXPECT_EQ(converter.ConvertDataType(DataType::INT64), "int64_t");
  EXPECT_EQ(converter.ConvertDataType(DataType::BOOL), "bool");
  EXPECT_EQ(converter.ConvertDataType(DataType::BF16), "bfloat16");
  EXPECT_THROW(converter.ConvertDataType(DataType::TASK_ID), ValueError);
}

TEST(TypeConverter, ShapesAndStrides) {
  TypeConverter converter;
  EXPECT_EQ(converter.GenerateShapeType({128, 64}), "Shape<1, 1, 1, 128, 64>");
  EXPECT_EQ(converter.GenerateShapeType({256}), "Shape<1, 1, 1, 1, 256>");
  EXPECT_EQ(converter.GenerateShapeType({16, 128, 64}), "Shape<1, 1, 16, 128, 64>");
  EXPECT_EQ(converter.GenerateStrideType({128, 64}), "Stride<1, 1, 1, 64, 1>");
  EXPECT_EQ(converter.GenerateStrideType({256}), "Stride<1, 1, 1, 1, 1>");
  EXPECT_EQ(converter.GenerateStrideType({16, 128, 64}), "Stride<1, 1, 8192, 64, 1>");
  EXPECT_THROW(converter.GenerateShapeType({}), ValueError);
  EXPECT_THROW(converter.GenerateStrideType({1, 1, 1, 1, 1, 1}), ValueError);
}

TEST(TypeConverter, SpacesPipesAndEvents) {
  TypeConverter converter;
  EXPECT_EQ(converter.ConvertMemorySpace(MemorySpace::DDR), "__gm__");
  EXPECT_EQ(converter.ConvertMemorySpace(MemorySpace::Acc), "");
  const std::pair<PipeType, const char *> pipes[] = {{PipeType::MTE1, "PIPE_MTE1"}, {PipeType::MTE2, "PIPE_MTE2"},
                                                     {PipeType::MTE3, "PIPE_MTE3"}, {PipeType::M, "PIPE_M"},
                                                     {PipeType::V, "PIPE_V"},       {PipeType::S, "PIPE_S"},
                                                     {PipeType::FIX, "PIPE_FIX"},   {PipeType::ALL, "PIPE_ALL"}};
  for (auto [pipe, text] : pipes)
    EXPECT_EQ(converter.ConvertPipeType(pipe), text);
  EXPECT_EQ(converter.ConvertEventId(0), "EVENT_ID0");
  EXPECT_EQ(converter.ConvertEventId(1), "EVENT_ID1");
  EXPECT_EQ(converter.ConvertEventId(7), "EVENT_ID7");
  EXPECT_EQ(messageOf<ValueError>([&] { converter.ConvertEventId(-1); }), "Event ID must be in range [0, 7], got -1");
  EXPECT_EQ(messageOf<ValueError>([&] { converter.ConvertEventId(8); }), "Event ID must be in range [0, 7], got 8");
}

TEST(ISAMapper, EveryRowOfTheDescription) {
  ISAMapper mapper;
  const std::pair<const char *, const char *> rows[] = {{"block.load", "TLOAD"},
                                                        {"block.store", "TSTORE"},
                                                        {"block.add", "TADD"},
                                                        {"block.sub", "TSUB"},
                                                        {"block.mul", "TMUL"},
                                                        {"block.div", "TDIV"},
                                                        {"block.adds", "TADDS"},
                                                        {"block.subs", "TSUBS"},
                                                        {"block.muls", "TMULS"},
                                                        {"block.divs", "TDIVS"},
                                                        {"block.sqrt", "TSQRT"},
                                                        {"system.sync_src", "set_flag"},
                                                        {"system.sync_dst", "wait_flag"},
                                                        {"system.bar_v", "pipe_barrier"},
                                                        {"system.bar_m", "pipe_barrier"},
                                                        {"system.bar_all", "pipe_barrier"},
                                                        {"tile.matmul_acc", "TMATMUL_ACC"}};
  for (auto [op, isa] : rows)
    EXPECT_EQ(mapper.GetMapping(op).value_or(ISAMapping{"none"}).isa_name, isa) << op;
  EXPECT_EQ(mapper.GetMapping("block.sum", {{"axis", int64_t(0)}})->isa_name, "TCOLSUM");
  EXPECT_EQ(mapper.GetMapping("block.sum", {{"axis", int64_t(1)}})->isa_name, "TROWSUM");
  EXPECT_THROW(mapper.GetMapping("block.sum"), ValueError);
  EXPECT_THROW(mapper.GetMapping("block.sum", {{"axis", int64_t(2)}}), ValueError);
  EXPECT_EQ(mapper.GetMapping("block.nothing").has_value(), false);
  EXPECT_EQ(mapper.GetMapping("tile.create").has_value(), false);
}

TEST(MemRefCollector, EachBufferOnceInOrder) {
  auto buffer = [](int64_t address) {
    return std::make_shared<const MemRef>(MemorySpace::Vec, index(address), 256, uint64_t(address));
  };
  auto typed = [](MemRefPtr memref) {
    return std::make_shared<const TileType>(ConstantShape({8, 8}), DataType::FP32, memref);
  };
  MemRefPtr first = buffer(0x100), second = buffer(0);
  VarPtr a = var("a", typed(first)), b = var("b", typed(second)), c = var("c", typed(first)),
         plain = var("p", tile({8, 8}));
  MemRefCollectorVisitor collector;
  collector.VisitFunction(
      function("f", {}, sequence({assign(a, call("x", {})), assign(plain, a), assign(b, a), assign(c, b)})));
  EXPECT_EQ(collector.GetMemRefs(), (std::vector<MemRefPtr>{first, second}));
  EXPECT_EQ(collector.GetMemRefTileTypes().at(first.get()), As<TileType>(a->type_));
}

} // namespace
} // namespace pypto::codegen
