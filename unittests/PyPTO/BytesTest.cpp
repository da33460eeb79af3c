// Stored IR: what is written is read back; what is no stored IR is one error.
#include "Build.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/printer.h"
#include "pypto/ir/serialize.h"
#include "pypto/ir/structural.h"
#include "pypto/ir/verify.h"

namespace pypto::ir {
namespace {

ProgramPtr sample() {
  VarPtr x = var("x", tensor({64, 32}));
  auto buffer = std::make_shared<const MemRef>(MemorySpace::Vec, index(0x100), 8192, 1);
  TileView view;
  view.valid_shape = {index(60), index(32)};
  TypePtr inBuffer =
      std::make_shared<const TileType>(ConstantShape({64, 32}), DataType::FP32, buffer, view, MemorySpace::Vec);
  VarPtr t = var("t", inBuffer), u = var("u", inBuffer);
  Span place("kernel.py", 12, 5, 12, 40);
  ExprPtr load = CreateOp(
      "pl.load", {{"", ExprPtr(x)}, {"", std::vector<int64_t>{0, 0}}, {"", std::vector<int64_t>{64, 32}}}, place);
  ExprPtr scaled = CreateOp("pl.mul", {{"", ExprPtr(t)}, {"", -0.5}}, place);
  StmtPtr kernel = std::make_shared<const InCoreScopeStmt>(
      sequence({assign(t, load), assign(u, scaled)}), "k", SplitMode::UP_DOWN,
      Attrs{{"deps", std::vector<ExprPtr>{index(1)}}, {"note", std::string("ä")}, {"none", std::monostate()}}, place);
  return program({sumFunction(""), function("scale", {x}, kernel)});
}

TEST(Bytes, WhatIsWrittenIsReadBack) {
  ProgramPtr before = sample();
  std::string bytes = serialize(before);
  auto after = As<Program>(deserialize(bytes));
  assert_structural_equal(before, after);
  EXPECT_EQ(python_print(before), python_print(after));
  EXPECT_EQ(serialize(after), bytes);
  auto scope = As<InCoreScopeStmt>(after->GetFunction("scale")->body_);
  EXPECT_EQ(scope->span_.to_string(), "kernel.py:12:5");
  auto stmts = FlattenStmts(scope->body_);
  auto bufferOf = [&](int i) { return As<TileType>(As<AssignStmt>(stmts[i])->var_->type_)->memref_; };
  EXPECT_EQ(bufferOf(0), bufferOf(1)); // shared before, shared after
}

TEST(Bytes, AnyNodeIsARoot) {
  for (const NodePtr &node : {NodePtr(tile({4, 8})), NodePtr(add(index(1), var("i"))), NodePtr(yield({index(3)}))})
    EXPECT_TRUE(structural_equal(node, deserialize(serialize(node)), true));
}

TEST(Bytes, EveryPrefixAndEveryFlippedByteIsAnErrorOrAProgram) {
  std::string bytes = serialize(sample());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(deserialize(std::string_view(bytes).substr(0, size)), ValueError) << size;
  EXPECT_THROW(deserialize(bytes + '\0'), ValueError);
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit : {1, 0x10, 0x80}) {
      std::string damaged = bytes;
      damaged[i] ^= char(bit);
      try {
        NodePtr node = deserialize(damaged);
        (void)python_print(node);
        (void)structural_hash(node);
      } catch (const ValueError &) {
      }
    }
}

TEST(Bytes, SaysWhatIsWrong) {
  auto message = [](std::string_view bytes) { return messageOf<ValueError>([&] { deserialize(bytes); }); };
  EXPECT_EQ(message("#!/bin/sh"), "not a stored PyPTO program");
  EXPECT_EQ(message("PYPT\x07"), "stored form 7, this library reads 2 to 3");
  EXPECT_EQ(message("PYPT\x03"), "the stored program ends early");
  EXPECT_EQ(message(std::string_view("PYPT\x03\x00\x01\xff", 8)), "node of unknown kind 255");
  EXPECT_EQ(message(std::string_view("PYPT\x03\x01\x02\xff\xfe\x00", 10)), "a string is no text");
}

TEST(Bytes, TheOlderFormHasNoSlots) {
  auto whole = std::make_shared<const MemRef>(MemorySpace::Vec, nullptr, 64, 5, "", 2);
  std::string bytes = serialize(whole);
  bytes[4] = 2;
  bytes.pop_back(); // the slot that is not there
  EXPECT_TRUE(structural_equal(whole, deserialize(bytes)));
  auto slot = std::make_shared<const MemRef>(MemorySpace::Vec, nullptr, 64, 5, "", 2, index(1));
  EXPECT_TRUE(structural_equal(slot, deserialize(serialize(slot))));
  EXPECT_FALSE(structural_equal(slot, whole));
  EXPECT_EQ(messageOf<ValueError>([] { MemRef(MemorySpace::Vec, nullptr, 64, 5, "", 2, index(2)); }),
            "MemRef: the slot must be 0 to 1, not 2");
}

TEST(Bytes, AChildThatIsThereIsOne) {
  auto make = [] { TensorType(ConstantShape({1}), DataType::FP32, MemRefPtr()); };
  EXPECT_EQ(messageOf<ValueError>(make), "TensorType needs its memref");
  // A tile in a tuple whose buffer is said to be there and is not.
  EXPECT_THROW(deserialize(std::string_view("PYPT\1\0\3\2\0\1\1\1\1 \24\2\0\1\1\1\1P\0248\2\1\2\2\1\0\0", 31)),
               ValueError);
}

TEST(Bytes, NestingAndSharingAreBounded) {
  ExprPtr doubled = index(1);
  for (int i = 0; i < 40; ++i)
    doubled = add(doubled, doubled);
  EXPECT_EQ(messageOf<ValueError>([&] { deserialize(serialize(doubled)); }),
            "the stored program shares nodes more than 16777216 times");
  ExprPtr deep = index(1);
  for (int i = 0; i < 995; ++i)
    deep = add(deep, index(1));
  EXPECT_TRUE(structural_equal(deep, deserialize(serialize(deep))));
  EXPECT_EQ(messageOf<ValueError>([&] {
              for (int i = 0; i < 100000; ++i)
                deep = add(deep, index(1));
            }),
            "the program nests deeper than 1000 levels");
}

TEST(Bytes, LargeFunctionsAreFine) {
  std::vector<StmtPtr> stmts;
  VarPtr last = var("x0");
  FunctionPtr big;
  for (int i = 0; i < 10000; ++i) {
    VarPtr next = var("x");
    stmts.push_back(assign(next, i == 0 ? index(0) : add(last, index(1))));
    last = next;
  }
  big = function("big", {}, sequence(std::move(stmts)));
  EXPECT_TRUE(structural_equal(big, deserialize(serialize(big))));
}

TEST(Verify, VariablesAreBoundOnceAndBeforeTheyAreRead) {
  auto message = [](FunctionPtr held) { return messageOf<ValueError>([&] { VerifyFunction(held); }); };
  VarPtr a = var("a"), b = var("b");
  VerifyFunction(sumFunction(""));
  EXPECT_EQ(message(function("f", {}, giveBack({a}))), "f: a is read before it is bound");
  EXPECT_EQ(message(function("f", {a}, assign(a, index(1)))), "f: a is bound twice");
  StmtPtr branch = std::make_shared<const IfStmt>(less(a, index(1)), assign(b, index(1)), std::nullopt,
                                                  std::vector<VarPtr>{}, Span::unknown());
  EXPECT_EQ(message(function("f", {a}, sequence({branch, giveBack({b})}))),
            "f: b is read outside the body that binds it");
  // Extents of parameters are known.
  VarPtr m = var("M");
  TypePtr dynamic = std::make_shared<const TensorType>(std::vector<ExprPtr>{m}, DataType::FP32);
  VerifyFunction(function("f", {var("x", dynamic)}, giveBack({m})));
}

TEST(Verify, CallsNameFunctionsOfTheProgram) {
  auto calling = [](std::string callee, std::vector<ExprPtr> args) {
    ExprPtr call = std::make_shared<const Call>(std::make_shared<const GlobalVar>(callee), args, Span::unknown());
    return program({sumFunction(""), function("main", {}, giveBack({call}))});
  };
  VerifyProgram(calling("sum", {index(1)}));
  EXPECT_EQ(messageOf<ValueError>([&] { VerifyProgram(calling("sub", {})); }), "main: the program has no function sub");
  EXPECT_EQ(messageOf<ValueError>([&] { VerifyProgram(calling("sum", {})); }), "main: sum takes 1 arguments, not 0");
}

} // namespace
} // namespace pypto::ir
