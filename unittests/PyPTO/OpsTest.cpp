// The table of operations: names of each generation, arguments, result types, what does not fit.
#include "Build.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/printer.h"
#include "pypto/ir/structural.h"

namespace pypto::ir {
namespace {

ExprPtr tileOf(std::vector<int64_t> shape, DataType dtype = DataType::FP32,
               std::optional<MemorySpace> space = MemorySpace::Vec) {
  return var("t", std::make_shared<const TileType>(ConstantShape(shape), dtype, std::nullopt, std::nullopt, space));
}
ExprPtr tensorOf(std::vector<int64_t> shape, DataType dtype = DataType::FP32) {
  return var("g", tensor(std::move(shape), dtype));
}
CallPtr make(std::string_view name, Attrs arguments) { return CreateOp(name, std::move(arguments), Span::unknown()); }
std::string typeText(const CallPtr &call) { return python_print(call->type_); }
using Ints = std::vector<int64_t>;

TEST(Ops, NamesOfEachGenerationFindTheirRow) {
  EXPECT_EQ(FindOp("tile.mul")->pto, "tmul");
  EXPECT_EQ(FindOp("block.mul"), FindOp("tile.mul"));
  EXPECT_EQ(FindOp("tile.create_tile")->name, "tile.create");
  EXPECT_EQ(FindOp("tile.no_such"), nullptr);
  // Sorted, so that the binary search finds every row.
  for (const OpRow &row : AllOps())
    EXPECT_EQ(FindOp(row.name), &row) << row.name;
}

TEST(Ops, TheFirstOperandChoosesTheNamespace) {
  ExprPtr t = tileOf({8, 16}), g = tensorOf({8, 16});
  EXPECT_EQ(make("pl.add", {{"", t}, {"", t}})->op_->name_, "tile.add");
  EXPECT_EQ(make("pl.add", {{"", g}, {"", g}})->op_->name_, "tensor.add");
  EXPECT_EQ(make("pl.add", {{"", t}, {"", 2.0}})->op_->name_, "tile.adds");
  EXPECT_EQ(make("block.add", {{"", t}, {"", t}, {"", t}})->op_->name_, "tile.addc");
  EXPECT_EQ(make("block.sum", {{"", t}, {"axis", int64_t(0)}})->op_->name_, "tile.col_sum");
  EXPECT_EQ(make("block.sum", {{"", t}, {"axis", int64_t(1)}})->op_->name_, "tile.row_sum");
}

TEST(Ops, ConstantsTakeTheElementTypeOfTheTile) {
  ExprPtr half = tileOf({8, 16}, DataType::FP16), whole = tileOf({8, 16}, DataType::INT32);
  auto real = As<ConstFloat>(make("tile.muls", {{"", half}, {"", int64_t(3)}})->args_[1]);
  EXPECT_EQ(real->value_, 3.0);
  EXPECT_EQ(real->dtype_, DataType::FP16);
  EXPECT_EQ(As<ConstInt>(make("tile.muls", {{"", whole}, {"", int64_t(3)}})->args_[1])->dtype_, DataType::INT32);
  auto message = [](auto body) { return messageOf<TypeError>(body); };
  EXPECT_EQ(message([&] { make("tile.muls", {{"", whole}, {"", 0.5}}); }),
            "tile.muls: rhs is FP32 beside INT32; cast it, as in `pl.cast(.., pl.INT32)`");
  EXPECT_EQ(message([&] { make("tile.muls", {{"", half}, {"", ExprPtr(var("i"))}}); }),
            "tile.muls: rhs is INDEX beside FP16; cast it, as in `pl.cast(.., pl.FP16)`");
}

TEST(Ops, LoadsAndStoresOfEachGenerationAreOne) {
  ExprPtr x = tensorOf({128, 64}), t = tileOf({32, 64});
  CallPtr today = make("tile.load", {{"", x}, {"", Ints{32, 0}}, {"", Ints{32, 64}}});
  CallPtr flat =
      make("block.load", {{"", x}, {"", int64_t(32)}, {"", int64_t(0)}, {"", int64_t(32)}, {"", int64_t(64)}});
  EXPECT_TRUE(structural_equal(today, flat));
  EXPECT_EQ(typeText(today), "pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec]");
  CallPtr store = make("tile.store", {{"", t}, {"", Ints{0, 0}}, {"", x}, {"", Ints{32, 64}}});
  CallPtr seed = make("block.store", {{"", t}, {"", Ints{0, 0}}, {"", Ints{32, 64}}, {"", x}});
  CallPtr oldest =
      make("block.store", {{"", t}, {"", int64_t(0)}, {"", int64_t(0)}, {"", int64_t(32)}, {"", int64_t(64)}, {"", x}});
  EXPECT_TRUE(structural_equal(store, seed));
  EXPECT_TRUE(structural_equal(store, oldest));
  EXPECT_EQ(store->type_, x->type_);
  OpView view(*store);
  EXPECT_EQ(view.Operand("out"), x);
  EXPECT_EQ(view.Elements("shapes").size(), 2u);
  EXPECT_EQ(view.Enum<AtomicType>("atomic"), AtomicType::None_);
}

TEST(Ops, KeywordsThatEqualTheirDefaultAreLeftOut) {
  ExprPtr x = tensorOf({128, 64});
  CallPtr plain = make("pl.load", {{"", x}, {"", Ints{0, 0}}, {"", Ints{32, 64}}});
  CallPtr spelled = make("pl.load", {{"", x},
                                     {"offsets", Ints{0, 0}},
                                     {"shapes", Ints{32, 64}},
                                     {"target_memory", AsEnumValue(MemorySpace::Vec)},
                                     {"clamp", false}});
  EXPECT_TRUE(structural_equal(plain, spelled));
  EXPECT_TRUE(plain->kwargs_.empty());
  CallPtr mat = make("pl.load",
                     {{"", x}, {"", Ints{0, 0}}, {"", Ints{32, 64}}, {"target_memory", AsEnumValue(MemorySpace::Mat)}});
  EXPECT_EQ(As<TileType>(mat->type_)->GetMemorySpace(), MemorySpace::Mat);
}

TEST(Ops, AnOperandLeftOutBeforeOthersIsNull) {
  ExprPtr x = tileOf({8, 64});
  CallPtr call = make("tile.mrgsort", {{"", x}, {"", x}, {"tmp", x}});
  OpView view(*call);
  EXPECT_EQ(view.Operand("src2"), nullptr);
  EXPECT_EQ(view.Operand("tmp"), x);
  EXPECT_EQ(python_print(call), "pl.tile.mrgsort(t, t, tmp=t)");
}

TEST(Ops, ResultTypesFollowTheRules) {
  ExprPtr t = tileOf({16, 64}), half = tileOf({16, 64}, DataType::FP16), row = tileOf({1, 64}), col = tileOf({16, 1});
  auto text = [](std::string_view name, Attrs arguments) { return typeText(make(name, std::move(arguments))); };
  EXPECT_EQ(text("tile.add", {{"", t}, {"", row}}), "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.add", {{"", half}, {"", t}}), "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.row_max", {{"", t}, {"", t}}), "pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.row_argmax", {{"", t}, {"", t}}), "pl.Tile[[16, 1], pl.INT32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.col_sum", {{"", t}}), "pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.row_expand_sub", {{"", t}, {"", col}}), "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.cast", {{"", t}, {"", DataType::BF16}}), "pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.cmp", {{"", t}, {"", t}}), "pl.Tile[[16, 32], pl.UINT8, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.reshape", {{"", col}, {"", Ints{1, 16}}}), "pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.transpose", {{"", t}, {"", int64_t(0)}, {"", int64_t(1)}}),
            "pl.Tile[[64, 16], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.concat", {{"", t}, {"", t}}), "pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.read", {{"", t}, {"", Ints{0, 1}}}), "pl.Scalar[pl.FP32]");
  EXPECT_EQ(text("tile.get_block_idx", {}), "pl.Scalar[pl.INDEX]");
  EXPECT_EQ(text("tile.full", {{"", Ints{4, 8}}, {"", DataType::INT32}, {"", int64_t(7)}}),
            "pl.Tile[[4, 8], pl.INT32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.gather_mask", {{"", t}, {"", AsEnumValue(MaskPattern::P0001)}}),
            "pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec]");
  EXPECT_EQ(text("tile.reinterpret_view", {{"", t}, {"", DataType::FP16}}), "pl.Tile[[16, 128], pl.FP16, pl.Mem.Vec]");
  EXPECT_EQ(text("tensor.matmul", {{"", tensorOf({8, 16})}, {"", tensorOf({32, 16})}, {"b_trans", true}}),
            "pl.Tensor[[8, 32], pl.FP32]");
  EXPECT_EQ(text("tensor.slice",
                 {{"", tensorOf({4, 8, 16})}, {"", Ints{1, 8, 8}}, {"", Ints{2, 0, 0}}, {"drop_dims", Ints{0}}}),
            "pl.Tensor[[8, 8], pl.FP32]");
}

TEST(Ops, ProductsAccumulateInFullWidth) {
  ExprPtr a = tileOf({16, 32}, DataType::BF16, MemorySpace::Left),
          b = tileOf({32, 8}, DataType::BF16, MemorySpace::Right);
  CallPtr product = make("pl.matmul", {{"", a}, {"", b}});
  EXPECT_EQ(typeText(product), "pl.Tile[[16, 8], pl.FP32, pl.Mem.Acc]");
  ExprPtr acc = var("acc", product->type_);
  EXPECT_TRUE(structural_equal(make("pl.matmul_acc", {{"", acc}, {"", a}, {"", b}})->type_, product->type_));
  ExprPtr i = tileOf({16, 32}, DataType::INT8), j = tileOf({32, 8}, DataType::INT8);
  EXPECT_EQ(typeText(make("pl.matmul", {{"", i}, {"", j}})), "pl.Tile[[16, 8], pl.INT32, pl.Mem.Acc]");
  EXPECT_EQ(messageOf<ValueError>([&] { make("pl.matmul", {{"", a}, {"", a}}); }),
            "tile.matmul: K differs: [16, 32] times [16, 32]; the columns of lhs are the rows of rhs");
  EXPECT_EQ(messageOf<TypeError>([&] { make("pl.matmul", {{"", a}, {"", j}}); }),
            "tile.matmul: identical lhs and rhs data types are needed, not BF16 and INT8");
}

TEST(Ops, ValidExtentsAreCutAndCarried) {
  CallPtr load = make("pl.load", {{"", tensorOf({40, 64})}, {"", Ints{32, 0}}, {"", Ints{32, 64}}});
  auto valid = [](const TypePtr &type) { return ShapeText(As<TileType>(type)->tile_view_->valid_shape); };
  EXPECT_EQ(valid(load->type_), "[8, 64]");
  ExprPtr t = var("t", load->type_);
  EXPECT_EQ(valid(make("pl.exp", {{"", t}})->type_), "[8, 64]");
  EXPECT_EQ(valid(make("pl.row_sum", {{"", t}})->type_), "[8, 1]");
  EXPECT_EQ(valid(make("pl.slice", {{"", t}, {"", Ints{16, 64}}, {"", Ints{4, 0}}})->type_), "[4, 64]");
  CallPtr padded = make("pl.fillpad", {{"", t}, {"pad_value", AsEnumValue(PadValue::min)}});
  EXPECT_TRUE(As<TileType>(padded->type_)->tile_view_->valid_shape.empty());
  EXPECT_EQ(As<TileType>(padded->type_)->tile_view_->pad, PadValue::min);
  EXPECT_EQ(valid(make("pl.set_validshape", {{"", t}, {"", int64_t(3)}, {"", int64_t(5)}})->type_), "[3, 5]");
  EXPECT_EQ(
      messageOf<ValueError>([&] { make("pl.load", {{"", tensorOf({40, 64})}, {"", Ints{40, 0}}, {"", Ints{8, 64}}}); }),
      "tile.load: offset 40 lies outside the extent 40; begin inside of the tensor");
}

TEST(Ops, LayoutsFollowTheMemory) {
  TileView mat = DefaultTileView(MemorySpace::Mat, ConstantShape({16, 16}));
  EXPECT_EQ(mat.blayout, TileLayout::col_major);
  EXPECT_EQ(mat.slayout, TileLayout::row_major);
  EXPECT_EQ(DefaultTileView(MemorySpace::Acc, ConstantShape({16, 16})).fractal, 1024u);
  EXPECT_EQ(DefaultTileView(MemorySpace::Vec, ConstantShape({16, 1})).blayout, TileLayout::col_major);
  EXPECT_EQ(DefaultTileView(MemorySpace::Vec, ConstantShape({1, 1})).blayout, TileLayout::row_major);
}

TEST(Ops, WrongArgumentsAreNamed) {
  ExprPtr t = tileOf({8, 16}), g = tensorOf({8, 16});
  auto message = [](std::string_view name, Attrs arguments) {
    return messageOf<Error>([&] { make(name, std::move(arguments)); });
  };
  EXPECT_EQ(message("pl.xyz", {}), "Unknown operation pl.xyz");
  EXPECT_EQ(message("tile.add", {{"", t}}), "tile.add needs its rhs; it takes lhs, rhs");
  EXPECT_EQ(message("tile.exp", {{"", t}, {"", t}}), "tile.exp takes at most 1 arguments; they are x");
  EXPECT_EQ(message("tile.exp", {{"", t}, {"mode", int64_t(1)}}), "tile.exp has no argument mode; it takes x");
  EXPECT_EQ(message("tile.exp", {{"", t}, {"x", t}}), "tile.exp: x is given twice");
  EXPECT_EQ(message("tile.add", {{"", t}, {"", g}}), "tile.add: rhs must be a tile; load it with `pl.load`");
  EXPECT_EQ(message("tensor.row_sum", {{"", g}, {"tmp_tile", t}}), "tensor.row_sum: tmp_tile must be a tensor");
  EXPECT_EQ(message("tile.cast", {{"", t}, {"", int64_t(3)}}), "tile.cast: target_type must be an element type");
  EXPECT_EQ(message("tile.move", {{"", t}, {"", AsEnumValue(PadValue::max)}}),
            "tile.move: target_memory must be a pl.Mem");
  EXPECT_EQ(message("tile.add", {{"", t}, {"", tileOf({8, 8})}}),
            "tile.add: shapes [8, 16] and [8, 8] do not broadcast; load both in one shape, or with an extent of 1");
  EXPECT_EQ(message("tile.add", {{"", tileOf({8, 16}, DataType::FP16)}, {"", tileOf({8, 16}, DataType::BF16)}}),
            "tile.add: FP16 and BF16 have no common type; cast one of them, as in `pl.cast(.., pl.FP32)`");
  EXPECT_EQ(message("block.sum", {{"", t}}), "block.sum needs a constant axis, 0 or 1");
}

} // namespace
} // namespace pypto::ir
