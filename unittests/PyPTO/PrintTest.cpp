// The IR as text of the DSL.
#include "Build.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/printer.h"

#include <limits>

namespace pypto::ir {
namespace {

TEST(Print, LoopsAndYields) {
  EXPECT_EQ(python_print(program({sumFunction("")}, "Sums")), R"(import pypto.language as pl

@pl.program
class Sums:
    @pl.function
    def sum(self, n: pl.Scalar[pl.INDEX]):
        for i, (sum,) in pl.range(n, init_values=(0,)):
            total = pl.yield_(sum + i)
        for (more,) in pl.while_(init_values=(total,)):
            pl.cond(more < n)
            last = pl.yield_(more + 1)
        return last
)");
}

TEST(Print, KernelsWithTheirTypes) {
  VarPtr src = var("src", tensor({64, 32})), dst = var("dst", tensor({64, 32}));
  CallPtr load =
      CreateOp("pl.load", {{"", ExprPtr(src)}, {"", std::vector<int64_t>{0, 0}}, {"", std::vector<int64_t>{64, 32}}},
               Span::unknown());
  VarPtr loaded = var("t", load->type_);
  CallPtr scaled = CreateOp("pl.mul", {{"", ExprPtr(loaded)}, {"", int64_t(3)}}, Span::unknown());
  VarPtr product = var("t", scaled->type_); // a second variable of that name
  CallPtr store = CreateOp("pl.store", {{"", ExprPtr(product)}, {"", std::vector<int64_t>{0, 0}}, {"", ExprPtr(dst)}},
                           Span::unknown());
  StmtPtr body = sequence(
      {assign(loaded, load), assign(product, scaled), std::make_shared<const EvalStmt>(store, Span::unknown())});
  auto kernel = std::make_shared<const Function>("scale", std::vector<VarPtr>{src, dst}, std::vector<TypePtr>{}, body,
                                                 Span::unknown(), FunctionType::InCore,
                                                 std::vector<ParamDirection>{ParamDirection::In, ParamDirection::Out});
  EXPECT_EQ(python_print(kernel, "lang"), R"(import pypto.language as lang

@lang.function(type=lang.FunctionType.InCore)
def scale(src: lang.Tensor[[64, 32], lang.FP32], dst: lang.Out[lang.Tensor[[64, 32], lang.FP32]]):
    t: lang.Tile[[64, 32], lang.FP32, lang.Mem.Vec] = lang.tile.load(src, [0, 0], [64, 32])
    t_1: lang.Tile[[64, 32], lang.FP32, lang.Mem.Vec] = lang.tile.muls(t, 3.0)
    lang.tile.store(t_1, [0, 0], dst)
)");
}

TEST(Print, BracketsOnlyWhereTheyCount) {
  VarPtr a = var("a"), b = var("b");
  auto make = [](NodeKind kind, ExprPtr left, ExprPtr right, DataType dtype = DataType::INDEX) -> ExprPtr {
    return MakeBinary(kind, std::move(left), std::move(right), dtype, Span::unknown());
  };
  EXPECT_EQ(python_print(make(NodeKind::Mul, add(a, b), index(2))), "(a + b) * 2");
  EXPECT_EQ(python_print(make(NodeKind::Sub, a, make(NodeKind::Sub, b, a))), "a - (b - a)");
  EXPECT_EQ(python_print(make(NodeKind::Sub, make(NodeKind::Sub, a, b), a)), "a - b - a");
  EXPECT_EQ(python_print(make(NodeKind::Min, add(a, b), index(-2))), "pl.min(a + b, -2)");
  ExprPtr both =
      make(NodeKind::And, less(a, b), make(NodeKind::Or, less(a, b), less(b, a), DataType::BOOL), DataType::BOOL);
  EXPECT_EQ(python_print(both), "a < b and (a < b or b < a)");
  EXPECT_EQ(python_print(make(NodeKind::Eq, less(a, b), less(b, a), DataType::BOOL)), "(a < b) == (b < a)");
  EXPECT_EQ(python_print(MakeUnary(NodeKind::Neg, index(3), DataType::INDEX, Span::unknown())), "-(3)");
  EXPECT_EQ(python_print(MakeUnary(NodeKind::Not, both, DataType::BOOL, Span::unknown())),
            "not (a < b and (a < b or b < a))");
  EXPECT_EQ(python_print(MakeUnary(NodeKind::Cast, a, DataType::INT32, Span::unknown())), "pl.cast(a, pl.INT32)");
}

TEST(Print, ConstantsSayTheirTypeWhereItIsNotTheUsualOne) {
  auto real = [](double value, DataType dtype) -> NodePtr {
    return std::make_shared<const ConstFloat>(value, dtype, Span::unknown());
  };
  EXPECT_EQ(python_print(real(1, DataType::FP32)), "1.0");
  EXPECT_EQ(python_print(real(0.1, DataType::FP16)), "pl.const(0.1, pl.FP16)");
  EXPECT_EQ(python_print(real(std::numeric_limits<double>::infinity(), DataType::FP32)), "1e999");
  EXPECT_EQ(python_print(std::make_shared<const ConstInt>(5, DataType::INT64, Span::unknown())),
            "pl.const(5, pl.INT64)");
}

TEST(Print, TypesWithBuffersViewsAndSymbols) {
  VarPtr m = var("M");
  TileView view;
  view.valid_shape = {m, index(8)};
  view.pad = PadValue::min;
  auto buffer = std::make_shared<const MemRef>(MemorySpace::Vec, index(256), 512, 1, "", 2);
  TypePtr type =
      std::make_shared<const TileType>(ConstantShape({16, 8}), DataType::FP32, buffer, view, MemorySpace::Vec);
  EXPECT_EQ(python_print(type), "pl.Tile[[16, 8], pl.FP32, pl.MemRef(pl.Mem.Vec, 256, 512, 1, slots=2), pl.Mem.Vec, "
                                "pl.TileView(valid_shape=[M, 8], blayout=pl.TileLayout.row_major, "
                                "slayout=pl.TileLayout.none_box, fractal=512, pad=pl.PadValue.min)]");
  TypePtr dynamic = std::make_shared<const TensorType>(std::vector<ExprPtr>{add(m, m), index(8)}, DataType::FP32);
  std::string text = python_print(
      program({function("f", {var("a", dynamic)}, giveBack({})), function("g", {var("a", dynamic)}, giveBack({}))}));
  EXPECT_EQ(text, R"(import pypto.language as pl

M = pl.dynamic("M")
@pl.program
class P:
    @pl.function
    def f(self, a: pl.Tensor[[M + M, 8], pl.FP32]):
        return

    @pl.function
    def g(self, a: pl.Tensor[[M + M, 8], pl.FP32]):
        return
)");
}

TEST(Print, NamesBecomeIdentifiers) {
  StmtPtr stmt = sequence({assign(var("for"), index(1)), assign(var("a.b"), index(2)), assign(var("7"), index(3))});
  EXPECT_EQ(python_print(stmt),
            "for_: pl.Scalar[pl.INDEX] = 1\na_b: pl.Scalar[pl.INDEX] = 2\n_7: pl.Scalar[pl.INDEX] = 3\n");
}

} // namespace
} // namespace pypto::ir
