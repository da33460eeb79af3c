// PTOCodegen against the texts of the seed's system description, quoted verbatim.
#include "Kernels.h"

#include "pypto/codegen/pto/pto_codegen.h"

#include <regex>

namespace {

using namespace pypto;
using namespace pypto::ir;

/// Comments dropped, white space as single blanks and none before commas: what the seed's layout does not mean.
std::string plain(const std::string &text) {
  std::string result = std::regex_replace(text, std::regex("//[^\n]*|#[^\n]*"), "");
  result = std::regex_replace(result, std::regex("\\s+"), " ");
  result = std::regex_replace(result, std::regex("^ | $"), "");
  result = std::regex_replace(result, std::regex(", >"), ">");
  return result;
}

/// Tile types as the seed shortens them: everything after `upto` as "...".
std::string shortened(const std::string &text, const std::string &upto) {
  return std::regex_replace(text, std::regex(upto + "[^>]*>"), upto + "...>");
}

/// The snippet with other names for its values, in this order.
std::string renamed(std::string text, const std::vector<std::pair<std::string, std::string>> &names) {
  for (const auto &[from, to] : names)
    text = std::regex_replace(text, std::regex(from + "\\b"), to);
  return text;
}

const char *kTileUpToCols = "!pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, ";

std::string generate(const FunctionPtr &kernel) { return codegen::PTOCodegen().Generate(program({kernel})); }

FunctionPtr mulKernel() {
  VarPtr a = var("a", tensor({32, 32})), b = var("b", tensor({32, 32})), c = var("c", tensor({32, 32}));
  std::vector<StmtPtr> body;
  VarPtr tileA = let(body, "tile_a", load(a)), tileB = let(body, "tile_b", load(b));
  VarPtr tileC = let(body, "tile_c", op("block.mul", {{"", ExprPtr(tileA)}, {"", ExprPtr(tileB)}}));
  body.push_back(store(tileC, c));
  return function("mul_kernel_2d", {a, b, c}, sequence(body));
}

TEST(PTOCodegen, WritesTheSeedsWholeExample) {
  const char *kSeed = R"(module {
  func.func @mul_kernel_2d(%arg0: !pto.ptr<f32>,
                          %arg1: !pto.ptr<f32>,
                          %arg2: !pto.ptr<f32>) {
    // Constants
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index

    // Tensor views
    %3 = pto.make_tensor_view %arg0, shape = [%c32, %c32]
         strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %4 = pto.make_tensor_view %arg1, shape = [%c32, %c32]
         strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %5 = pto.make_tensor_view %arg2, shape = [%c32, %c32]
         strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>

    // Allocations
    %0 = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, ...>
    %1 = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, ...>
    %2 = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, ...>

    // Load tile_a
    %6 = pto.partition_view %3, offsets = [%c0, %c0], sizes = [%c32, %c32]
         : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
    pto.tload ins(%6 : !pto.partition_tensor_view<32x32xf32>)
              outs(%0 : !pto.tile_buf<...>)

    // Load tile_b
    %7 = pto.partition_view %4, offsets = [%c0, %c0], sizes = [%c32, %c32]
         : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
    pto.tload ins(%7 : !pto.partition_tensor_view<32x32xf32>)
              outs(%1 : !pto.tile_buf<...>)

    // Multiply
    pto.tmul ins(%0 : !pto.tile_buf<...>, %1 : !pto.tile_buf<...>)
             outs(%2 : !pto.tile_buf<...>)

    // Store tile_c
    %8 = pto.partition_view %5, offsets = [%c0, %c0], sizes = [%c32, %c32]
         : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
    pto.tstore ins(%2 : !pto.tile_buf<...>)
               outs(%8 : !pto.partition_tensor_view<32x32xf32>)

    return
  }
})";
  std::string text = shortened(generate(mulKernel()), kTileUpToCols);
  // The allocations keep their first keys, uses none.
  text = std::regex_replace(text, std::regex("(%\\d) : !pto.tile_buf<[^>]*>"), "$1 : !pto.tile_buf<...>");
  EXPECT_EQ(plain(text), plain(kSeed));
}

TEST(PTOCodegen, WritesTheSeedsSnippets) {
  std::string text = plain(generate(mulKernel()));
  auto has = [&](const std::string &snippet) { return text.find(plain(snippet)) != std::string::npos; };
  // Allocation.
  EXPECT_TRUE(has(R"(%0 = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32,
                       v_row=32, v_col=32, blayout=row_major,
                       slayout=none_box, fractal=512, pad=0>)"));
  // A view, in the seed's snippet the first value.
  EXPECT_TRUE(has(R"( = pto.make_tensor_view %arg0,
     shape = [%c32, %c32]
     strides = [%c32, %c1]
     : !pto.tensor_view<?x?xf32>)"));

  // A load, a store and a product; the seed names the values %tensor_view, %tile_buf, %tile_a_buf, ..
  text = plain(shortened(text, "!pto.tile_buf<"));
  std::string load = shortened(R"(%3 = pto.partition_view %tensor_view, offsets = [%c0, %c0],
                 sizes = [%c32, %c32]
                 : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
pto.tload ins(%3 : !pto.partition_tensor_view<32x32xf32>)
          outs(%tile_buf : !pto.tile_buf<loc=vec, ...>))",
                               "!pto.tile_buf<");
  EXPECT_TRUE(has(renamed(load, {{"%3", "%6"}, {"%tensor_view", "%3"}, {"%tile_buf", "%0"}}))) << text;
  std::string store = shortened(R"(%5 = pto.partition_view %output_view, offsets = [%c0, %c0],
                 sizes = [%c32, %c32]
                 : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
pto.tstore ins(%tile_buf : !pto.tile_buf<loc=vec, ...>)
           outs(%5 : !pto.partition_tensor_view<32x32xf32>))",
                                "!pto.tile_buf<");
  EXPECT_TRUE(has(renamed(store, {{"%5", "%8"}, {"%output_view", "%5"}, {"%tile_buf", "%2"}}))) << text;
  std::string product = R"(pto.tmul ins(%tile_a_buf : !pto.tile_buf<...>,
             %tile_b_buf : !pto.tile_buf<...>)
         outs(%tile_c_buf : !pto.tile_buf<...>))";
  EXPECT_TRUE(has(renamed(product, {{"%tile_a_buf", "%0"}, {"%tile_b_buf", "%1"}, {"%tile_c_buf", "%2"}}))) << text;
  // Resolution by MemRef, step 6.
  EXPECT_TRUE(has("pto.tmul ins(%0 : !pto.tile_buf<...>, %1 : !pto.tile_buf<...>) outs(%2 : !pto.tile_buf<...>)"));
}

TEST(PTOCodegen, WritesVectorAddByTheRules) {
  VarPtr a = var("a", tensor({32, 32})), b = var("b", tensor({32, 32}));
  std::vector<StmtPtr> body;
  VarPtr tileA = let(body, "tile_a", load(a)), tileB = let(body, "tile_b", load(b));
  VarPtr tileC = let(body, "tile_c", op("block.add", {{"", ExprPtr(tileA)}, {"", ExprPtr(tileB)}}));
  body.push_back(store(tileC, a));
  std::string text = generate(function("vector_add", {a, b}, sequence(body)));
  EXPECT_NE(text.find("func.func @vector_add(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>) {"), std::string::npos);
  EXPECT_NE(text.find("%7 = pto.partition_view %3, offsets = [%c0, %c0], sizes = [%c32, %c32] : "), std::string::npos)
      << "the sum goes to the first tensor\n"
      << text;
  EXPECT_NE(text.find("pto.tadd ins(%0 : !pto.tile_buf<loc=vec"), std::string::npos) << text;
}

TEST(PTOCodegen, MapsTheSeedsOperations) { // block.X -> pto.Y
  struct Row {
    const char *block, *pto;
    Attrs arguments;
  };
  VarPtr a = var("a", tensor({32, 32}));
  std::vector<StmtPtr> start;
  ExprPtr t = let(start, "t", load(a));
  auto number = std::make_shared<const ConstFloat>(2.5, DataType::FP32, Span::unknown());
  Row rows[] = {{"block.mul", "tmul", {{"", t}, {"", t}}},
                {"block.add", "taddc", {{"", t}, {"", t}, {"", t}}},
                {"block.adds", "tadds", {{"", t}, {"", ExprPtr(number)}}}};
  for (const Row &row : rows) {
    std::vector<StmtPtr> body = start;
    VarPtr u = let(body, "u", op(row.block, row.arguments));
    body.push_back(store(u, a));
    std::string text = generate(function("f", {a}, sequence(body)));
    EXPECT_NE(text.find("pto." + std::string(row.pto) + " ins(%0 : "), std::string::npos) << text;
  }
}

TEST(PTOCodegen, AllocatesOncePerMemRef) {
  auto shared = std::make_shared<const MemRef>(MemorySpace::Vec, nullptr, 4096, 0);
  auto other = std::make_shared<const MemRef>(MemorySpace::Vec, nullptr, 4096, 1);
  auto in = [](const MemRefPtr &memref) {
    return std::make_shared<const TileType>(ConstantShape({32, 32}), DataType::FP32, memref);
  };
  VarPtr a = var("a", tensor({32, 32})), c = var("c", tensor({32, 32}));
  std::vector<StmtPtr> body;
  VarPtr tileA = let(body, "tile_a", load(a), in(shared));
  VarPtr tileB = let(body, "tile_b", op("block.mul", {{"", ExprPtr(tileA)}, {"", ExprPtr(tileA)}}), in(other));
  VarPtr tileC = let(body, "tile_c", op("block.add", {{"", ExprPtr(tileB)}, {"", ExprPtr(tileB)}}), in(shared));
  body.push_back(store(tileC, c));
  codegen::PTOCodegen generator;
  std::string text = generator.Generate(program({function("f", {a, c}, sequence(body))}));
  text = shortened(text, "!pto.tile_buf<");
  EXPECT_NE(text.find("pto.tadd ins(%1 : !pto.tile_buf<...>, %1 : !pto.tile_buf<...>) outs(%0 : "), std::string::npos)
      << text;
  EXPECT_EQ(text.find("%2 = pto.alloc_tile"), std::string::npos) << text;
  EXPECT_EQ(generator.GetTileBufTypeString(shared.get()),
            "!pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, v_row=32, v_col=32, blayout=row_major, "
            "slayout=none_box, fractal=512, pad=0>");
}

TEST(PTOCodegen, TakesLayoutsFromTheTileView) {
  TileView view;
  view.blayout = TileLayout::none_box;
  view.slayout = TileLayout::col_major;
  view.fractal = 1024;
  view.pad = PadValue::max;
  auto type = std::make_shared<const TileType>(ConstantShape({32, 32}), DataType::FP32, std::nullopt, view);
  VarPtr a = var("a", tensor({32, 32}));
  std::vector<StmtPtr> body;
  let(body, "tile_a", load(a), type);
  std::string text = generate(function("f", {a}, sequence(body)));
  std::string full = "v_row=32, v_col=32, blayout=none_box, slayout=col_major, fractal=1024, pad=2>";
  size_t first = text.find(full);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find(full, first + 1), std::string::npos) << "the use says what the allocation says\n" << text;
  EXPECT_EQ(text.find("pto.none_box"), std::string::npos) << text;
}

TEST(PTOCodegen, NamesTypesAndSpaces) {
  codegen::PTOCodegen generator;
  const char *types[][2] = {{"FP32", "f32"},  {"FP16", "f16"}, {"BF16", "bf16"}, {"INT32", "i32"},
                            {"INT64", "i64"}, {"INT8", "i8"},  {"UINT8", "ui8"}};
  for (auto &[name, mlir] : types)
    EXPECT_EQ(generator.GetTypeString(*DataType::FromName(name)), mlir);
  std::pair<MemorySpace, const char *> spaces[] = {{MemorySpace::DDR, "gm"},      {MemorySpace::Vec, "vec"},
                                                   {MemorySpace::Mat, "mat"},     {MemorySpace::Left, "left"},
                                                   {MemorySpace::Right, "right"}, {MemorySpace::Acc, "acc"}};
  for (auto &[space, name] : spaces)
    EXPECT_EQ(codegen::MemorySpaceToMLIR(space), name);
  EXPECT_EQ(generator.GetTensorViewTypeString(As<TensorType>(tensor({4, 4})).get()), "!pto.tensor_view<?x?xf32>");
}

TEST(PTOCodegen, ScalarParametersHaveTheirType) {
  VarPtr a = var("a", tensor({32, 32})), s = var("s", scalar(DataType::FP32));
  std::vector<StmtPtr> body;
  VarPtr t = let(body, "t", load(a));
  body.push_back(store(let(body, "u", op("block.muls", {{"", ExprPtr(t)}, {"", ExprPtr(s)}})), a));
  std::string text = generate(function("f", {a, s}, sequence(body)));
  EXPECT_NE(text.find("@f(%arg0: !pto.ptr<f32>, %arg1: f32) {"), std::string::npos) << text;
  EXPECT_NE(text.find(", %arg1 : f32) outs("), std::string::npos) << text;
}

TEST(PTOCodegen, RefusesTilesAsParameters) {
  VarPtr t = var("t", tile({8, 32}));
  EXPECT_EQ(messageOf<ValueError>([&] { generate(function("f", {t}, sequence({}))); }),
            "parameter t of kernel f must be a tensor or a scalar; a tile is made inside the kernel");
}

} // namespace
