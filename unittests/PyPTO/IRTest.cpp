// Nodes: construction, what they refuse, types of elements, enumerations.
#include "Build.h"

namespace pypto::ir {
namespace {

TEST(DataType, RowsSayNameWidthAndSpellings) {
  EXPECT_EQ(DataType::FP32.Name(), "FP32");
  EXPECT_EQ(DataType::FP32.ToCTypeString(), "float");
  EXPECT_EQ(DataType::UINT8.ToMLIRString(), "ui8");
  EXPECT_EQ(DataType::INT4.GetByte(), 1);
  EXPECT_EQ(DataType::FromName("BF16"), DataType::BF16);
  EXPECT_EQ(DataType::FromName("bf16"), std::nullopt);
  EXPECT_EQ(messageOf<ValueError>([] { (void)DataType::TASK_ID.ToCTypeString(); }), "TASK_ID has no C++ type");
}

TEST(Enums, HaveNamesAndNumbers) {
  EXPECT_EQ(ValueName(MemorySpace::Vec), "Vec");
  EXPECT_EQ(EnumName(EnumKind::MemorySpace), "Mem");
  EXPECT_EQ(ValueFromName(EnumKind::PadValue, "max"), 2);
  EXPECT_EQ(static_cast<int>(Level::GLOBAL), 9);
  EXPECT_EQ(ValueFromName(EnumKind::Level, "NOWHERE"), std::nullopt);
}

TEST(Nodes, KindsFollowTheClasses) {
  ExprPtr sum = add(index(1), index(2));
  EXPECT_TRUE(IsA<BinaryExpr>(sum));
  EXPECT_FALSE(IsA<UnaryExpr>(sum));
  EXPECT_EQ(As<Add>(sum)->dtype_, DataType::INDEX);
  EXPECT_EQ(As<Sub>(sum), nullptr);
  EXPECT_TRUE(IsA<Var>(ExprPtr(carried("a", index(0)))));
  EXPECT_EQ(KindName(sum->kind()), "Add");
  EXPECT_EQ(OperatorText(sum->kind()), "+");
  EXPECT_TRUE(
      IsA<TensorType>(TypePtr(std::make_shared<const DistributedTensorType>(ConstantShape({2, 3}), DataType::FP32))));
  // The seeds' way to look at a node.
  EXPECT_NE(std::dynamic_pointer_cast<const Add>(sum), nullptr);
}

TEST(Nodes, TypesOfExpressionsAreDerived) {
  ExprPtr pair =
      std::make_shared<const MakeTuple>(std::vector<ExprPtr>{index(1), var("t", tile({8, 8}))}, Span::unknown());
  auto second = std::make_shared<const TupleGetItemExpr>(pair, 1, Span::unknown());
  EXPECT_TRUE(IsA<TileType>(second->type_));
  EXPECT_EQ(ElementTypeOf(less(index(1), index(2))->type_), DataType::BOOL);
  EXPECT_TRUE(IsA<UnknownType>(call("tile.add", {index(1)})->type_));
}

TEST(Nodes, ATileKnowsItsSpaceFromItsBuffer) {
  MemRefPtr buffer = std::make_shared<const MemRef>(MemorySpace::Mat, index(0x100), 1024, 3);
  TileType inBuffer(ConstantShape({16, 16}), DataType::FP32, buffer);
  EXPECT_EQ(inBuffer.GetMemorySpace(), MemorySpace::Mat);
  EXPECT_EQ(ConstantInt((*inBuffer.memref_)->addr_), 0x100);
  EXPECT_EQ(TileType({16, 16}, DataType::FP32).GetMemorySpace(), std::nullopt);
}

TEST(Nodes, RefuseWhatMakesNoSense) {
  auto message = [](auto body) { return messageOf<Error>(body); };
  EXPECT_EQ(message([] { AssignStmt(nullptr, index(1), Span::unknown()); }), "AssignStmt needs its var");
  EXPECT_EQ(message([] { Call(std::make_shared<const Op>("f"), {nullptr}, Span::unknown()); }), "Call needs its args");
  EXPECT_EQ(message([] { ConstInt(300, DataType::UINT8, Span::unknown()); }), "300 is out of the range of UINT8");
  EXPECT_EQ(message([] { ConstInt(-129, DataType::INT8, Span::unknown()); }), "-129 is out of the range of INT8");
  EXPECT_EQ(ConstInt(-128, DataType::INT8, Span::unknown()).value_, -128);
  EXPECT_EQ(message([] { ConstInt(1, DataType::FP32, Span::unknown()); }), "ConstInt of type FP32");
  EXPECT_EQ(message([] { tile({4, 0}); }), "an extent must be positive, not 0");
  EXPECT_EQ(message([] { tensor({1 << 20, 1 << 20}); }), "a shape must hold at most 2^36 elements");
  EXPECT_EQ(message([] { add(index(1), var("t", tile({8, 8}))); }), "Add takes scalars");
  EXPECT_EQ(message([] { Lt(index(1), index(2), DataType::INDEX, Span::unknown()); }), "Lt gives BOOL");
  EXPECT_EQ(message([] { function("f", {var("a"), var("a")}, sequence({})); }), "f: two parameters are called a");
  EXPECT_EQ(message([] { program({sumFunction(""), sumFunction("")}); }), "two functions are called sum");
}

TEST(Nodes, BodiesThatCarryValuesEndInAYield) {
  IterArgPtr sum = carried("sum", index(0));
  auto loop = [&](StmtPtr body, std::vector<VarPtr> results) {
    ForStmt(var("i"), index(0), index(4), index(1), {sum}, std::move(body), std::move(results), Span::unknown());
  };
  EXPECT_EQ(messageOf<ValueError>([&] { loop(yield({sum}), {}); }), "ForStmt: 1 iter_args but 0 return_vars");
  EXPECT_EQ(messageOf<ValueError>([&] { loop(sequence({}), {var("r")}); }),
            "ForStmt: a body that carries 1 values must end in a yield of as many");
  loop(sequence({sequence({yield({sum})})}), {var("r")});
  EXPECT_EQ(messageOf<ValueError>(
                [&] { IfStmt(less(sum, index(1)), yield({sum}), std::nullopt, {var("r")}, Span::unknown()); }),
            "IfStmt: return_vars need an else that yields as well");
}

TEST(Nodes, AttributesAreFoundByNameAndType) {
  Attrs attrs = {{"target_memory", AsEnumValue(MemorySpace::Mat)}, {"stage", int64_t(2)}};
  EXPECT_EQ(FindEnum(attrs, "target_memory", MemorySpace::Vec), MemorySpace::Mat);
  EXPECT_EQ(FindEnum(attrs, "elsewhere", MemorySpace::Vec), MemorySpace::Vec);
  EXPECT_EQ(*FindAttr<int64_t>(attrs, "stage"), 2);
  EXPECT_EQ(FindAttr<double>(attrs, "stage"), nullptr);
}

TEST(Nodes, InternalChecksNameTheirPlace) {
  std::string message = messageOf<InternalError>([] { INTERNAL_CHECK(1 == 2) << "never"; });
  EXPECT_EQ(message.substr(0, 46), "internal error: 1 == 2 does not hold at IRTest");
  EXPECT_EQ(message.substr(message.size() - 5), "never");
}

} // namespace
} // namespace pypto::ir
