// Visitor, mutator, equality and hash.
#include "Build.h"

#include "pypto/ir/structural.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"

namespace pypto::ir {
namespace {

/// Notes variables and constants in the order of their visits.
class Recorder : public IRVisitor {
public:
  std::string seen;
  int binaries = 0;

protected:
  void VisitExpr_(const VarPtr &op) override { seen += op->name_hint_ + " "; }
  void VisitExpr_(const IterArgPtr &op) override { seen += "*" + op->name_hint_ + " "; }
  void VisitExpr_(const ConstIntPtr &op) override { seen += std::to_string(op->value_) + " "; }
  void VisitBinaryExpr_(const BinaryExprPtr &op) override {
    ++binaries;
    IRVisitor::VisitBinaryExpr_(op);
  }
};

TEST(Visitor, SeesVariablesBeforeTheirUses) {
  Recorder recorder;
  recorder.VisitProgram(program({sumFunction("")}));
  EXPECT_EQ(recorder.seen, "n i 0 n 1 0 *sum *sum i total total *more *more n *more 1 last last ");
  EXPECT_EQ(recorder.binaries, 3);
}

TEST(Visitor, EntersTuplesAttributesAndScopes) {
  Recorder recorder;
  ExprPtr window = std::make_shared<const MakeTuple>(std::vector<ExprPtr>{index(7), index(8)}, Span::unknown());
  ExprPtr load = call("tile.load", {var("x", tensor({16, 16})), window}, {{"deps", std::vector<ExprPtr>{index(9)}}});
  StmtPtr body = std::make_shared<const EvalStmt>(load, Span::unknown());
  recorder.VisitStmt(
      std::make_shared<const InCoreScopeStmt>(body, "k", std::nullopt, Attrs{{"dep", index(3)}}, Span::unknown()));
  EXPECT_EQ(recorder.seen, "x 7 8 9 3 ");
}

/// Replaces constants.
class Replace : public IRMutator {
public:
  Replace(int64_t from, int64_t to) : from(from), to(to) {}

protected:
  ExprPtr VisitExpr_(const ConstIntPtr &op) override { return op->value_ == from ? index(to) : ExprPtr(op); }

private:
  int64_t from, to;
};

TEST(Mutator, KeepsWhatDoesNotChange) {
  ProgramPtr before = program({sumFunction(""), function("other", {}, giveBack({index(5)}))});
  EXPECT_EQ(Replace(77, 78).VisitProgram(before), before);
  ProgramPtr after = Replace(5, 6).VisitProgram(before);
  EXPECT_NE(after, before);
  EXPECT_EQ(after->functions_[0], before->functions_[0]);
  EXPECT_NE(after->functions_[1], before->functions_[1]);
}

TEST(Mutator, UsesFollowACarriedVariableWhoseStartChanges) {
  FunctionPtr before = sumFunction("");
  FunctionPtr after = Replace(0, 100).VisitFunction(before);
  auto loop = As<ForStmt>(FlattenStmts(after->body_)[0]);
  EXPECT_EQ(ConstantInt(loop->start_), 100);
  EXPECT_EQ(ConstantInt(loop->iter_args_[0]->initValue_), 100);
  auto sum = As<Add>(As<YieldStmt>(loop->body_)->value_[0]);
  EXPECT_EQ(sum->left_, ExprPtr(loop->iter_args_[0]));
  // The input is as it was.
  EXPECT_TRUE(structural_equal(before, sumFunction("")));
}

TEST(Structure, NamesAndPlacesDoNotCount) {
  FunctionPtr a = sumFunction(""), b = sumFunction("other_");
  EXPECT_TRUE(structural_equal(a, b));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
  EXPECT_TRUE(structural_equal(std::make_shared<const ConstInt>(3, DataType::INDEX, Span("f.py", 1, 2)), index(3)));
}

TEST(Structure, TheNameOfABufferDoesNotCount) {
  auto buffer = [](std::string name, uint64_t slots) {
    return std::make_shared<const MemRef>(MemorySpace::Vec, nullptr, 64, 0, std::move(name), slots);
  };
  EXPECT_TRUE(structural_equal(buffer("a", 2), buffer("b", 2)));
  EXPECT_EQ(structural_hash(buffer("a", 2)), structural_hash(buffer("b", 2)));
  EXPECT_FALSE(structural_equal(buffer("a", 2), buffer("a", 3)));
}

TEST(Structure, TheFirstDifferenceIsNamed) {
  FunctionPtr a = sumFunction(""), b = sumFunction("", 2);
  EXPECT_FALSE(structural_equal(a, b));
  EXPECT_NE(structural_hash(a), structural_hash(b));
  EXPECT_EQ(messageOf<ValueError>([&] { assert_structural_equal(a, b); }),
            "the structures differ at .body.stmts[1].body.value[0].right.value: 1 and 2");
  assert_structural_equal(a, a);
}

TEST(Structure, WhichVariableIsMeantCounts) {
  VarPtr a = var("a"), b = var("b");
  EXPECT_FALSE(structural_equal(function("f", {a, b}, giveBack({a, b})), function("f", {a, b}, giveBack({b, a}))));
  EXPECT_TRUE(structural_equal(function("f", {a, b}, giveBack({a, b})), function("f", {b, a}, giveBack({b, a}))));
  // Free variables.
  EXPECT_FALSE(structural_equal(add(a, a), add(b, b)));
  EXPECT_TRUE(structural_equal(add(a, a), add(b, b), true));
  EXPECT_FALSE(structural_equal(add(a, a), add(a, b), true));
  EXPECT_FALSE(structural_equal(add(a, b), add(a, a), true));
  EXPECT_EQ(structural_hash(add(a, a), true), structural_hash(add(b, b), true));
}

TEST(Structure, ExtentsOfParametersAreBound) {
  auto dynamic = [](const char *name, bool square) {
    VarPtr m = var(name), n = square ? m : var("N");
    TypePtr type = std::make_shared<const TensorType>(std::vector<ExprPtr>{m, n}, DataType::FP32);
    return function("f", {var("x", type)}, giveBack({m}));
  };
  EXPECT_TRUE(structural_equal(dynamic("M", false), dynamic("K", false)));
  EXPECT_EQ(structural_hash(dynamic("M", false)), structural_hash(dynamic("K", false)));
  EXPECT_FALSE(structural_equal(dynamic("M", false), dynamic("M", true)));
}

TEST(Structure, TypesAndKeywordsCount) {
  EXPECT_FALSE(structural_equal(tile({8, 8}), tile({8, 16})));
  EXPECT_FALSE(structural_equal(tile({8, 8}), tensor({8, 8})));
  EXPECT_FALSE(structural_equal(tile({8, 8}), tile({8, 8}, DataType::FP16)));
  TileView view;
  view.pad = PadValue::zero;
  TypePtr padded = std::make_shared<const TileType>(ConstantShape({8, 8}), DataType::FP32, std::nullopt, view);
  EXPECT_FALSE(structural_equal(tile({8, 8}), padded));
  EXPECT_TRUE(structural_equal(padded, padded));
  EXPECT_FALSE(structural_equal(call("f", {}, {{"axis", int64_t(0)}}), call("f", {}, {{"axis", int64_t(1)}})));
  EXPECT_FALSE(structural_equal(call("f", {}, {{"axis", int64_t(0)}}), call("f", {}, {{"axis", false}})));
}

} // namespace
} // namespace pypto::ir
