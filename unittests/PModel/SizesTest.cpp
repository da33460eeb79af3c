// Sizes that are known at run time: verification, values of symbols, shapes, reports, files.
#include "pto_mlir/PModel/Sizes.h"
#include "TestModel.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Reader.h"
#include "pto_mlir/PModel/Report.h"
#include "pto_mlir/PModel/Traffic.h"
#include "pto_mlir/PModel/Verifier.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::testing;
using bytecode::Size;
using ::testing::HasSubstr;

namespace {

const std::vector<float> bias(16 * 8, 1.0f);

/// The verifier's message for the model of 2 to 16 rows of 8 by twos, after a change.
std::string verifyWith(const std::function<void(ModelDesc &, VariantDesc &)> &change) {
  ModelDesc model = sizedModel(2, 16, 2, 8, bias);
  change(model, model.nets[0].variants[0]);
  Status status = verifyModel(model, layoutWeights(model.weights));
  return status ? "" : status.error();
}

TEST(Sizes, AreSumsOfProducts) {
  Size size{{{12, {0, 1}}, {1, {}}}};
  EXPECT_EQ(bytecode::evaluate(size, std::vector<int64_t>{3, 5}), 181);
  EXPECT_EQ(bytecode::evaluate(size, std::vector<int64_t>{3}), std::nullopt);
  EXPECT_EQ(bytecode::evaluate(size, std::vector<int64_t>{INT64_MAX, 2}), std::nullopt);
  EXPECT_EQ(bytecode::evaluate({}, {}), 0);
  EXPECT_EQ(bytecode::sizeText(size, std::vector<std::string>{"batch", "tokens"}), "12*batch*tokens + 1");
  EXPECT_EQ(bytecode::sizeText(size, std::vector<std::string>{"batch"}), "12*batch*s1 + 1");
  EXPECT_EQ(bytecode::sizeText({}, {}), "0");
}

TEST(Sizes, VerifierFindsEveryMisuse) {
  EXPECT_EQ(verifyWith([](ModelDesc &, VariantDesc &) {}), "");
  auto symbol = [](SymbolDesc desc) { return verifyWith([&](ModelDesc &, VariantDesc &v) { v.symbols = {desc}; }); };
  EXPECT_THAT(symbol({"rows", 0, 16, 2}), HasSubstr("symbol 'rows' has no range of multiples: 0 to 16 by 2"));
  EXPECT_THAT(symbol({"rows", 5, 16, 1}), ""); // the least value is no part of a shape
  EXPECT_THAT(symbol({"rows", 3, 16, 2}), HasSubstr("no range of multiples"));
  EXPECT_THAT(symbol({"rows", 18, 16, 2}), HasSubstr("no range of multiples"));
  EXPECT_THAT(symbol({"rows", 2, 16, 0}), HasSubstr("no range of multiples"));
  EXPECT_THAT(symbol({"rows", 2, uint64_t(1) << 40, 2}), HasSubstr("no range of multiples"));
  EXPECT_THAT(symbol({"rows", 2, 14, 2}), HasSubstr("dimension 0 is 16, not the greatest value of its size"));
  EXPECT_THAT(verifyWith([](ModelDesc &, VariantDesc &v) { v.symbols.push_back(v.symbols[0]); }),
              HasSubstr("two symbols are named 'rows'"));
  EXPECT_THAT(verifyWith([](ModelDesc &, VariantDesc &v) { v.symbols.push_back({"other", 1, 2, 1}); }),
              HasSubstr("no extent of an input is a multiple"));
  EXPECT_THAT(verifyWith([](ModelDesc &, VariantDesc &v) { v.symbols.clear(); }), HasSubstr("not the greatest value"));
  EXPECT_THAT(verifyWith([](ModelDesc &, VariantDesc &v) { v.inputs[0].sizes.pop_back(); }),
              HasSubstr("has sizes of 1 dimensions, but 2 dimensions"));
  EXPECT_THAT(verifyWith([](ModelDesc &, VariantDesc &v) { v.outputs[0].sizes[0].terms[0].coefficient = -1; }),
              HasSubstr("not the greatest value"));
  EXPECT_THAT(verifyWith([](ModelDesc &m, VariantDesc &) { m.kernels[1].numScalars = 2; }),
              HasSubstr("kernel 'k1_y' takes 2 scalars, got 1"));
}

TEST(Sizes, LaunchesPassWhatKernelsRead) {
  auto program = [](std::vector<Size> scalars) {
    return verifyWith([&](ModelDesc &, VariantDesc &v) {
      EntrySlots s(v);
      ProgramWriter w;
      w.alloc(s.firstFree(), v.workspaceBytes);
      w.callDevice(1, {{s.input(0), 0, 64}, {s.output(0), 0, 64}}, scalars);
      w.ret();
      v.program.code = w.take();
    });
  };
  EXPECT_EQ(program({{{{1, {0}}}}}), "");
  EXPECT_THAT(program({}), HasSubstr("kernel 'k1_y' takes 1 scalars, got 0"));
  EXPECT_THAT(program({{{{1, {1}}}}}), HasSubstr("does not fit 64 bits or names no symbol"));
  EXPECT_THAT(program({{{{INT64_MAX, {0}}}}}), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(program({{{{INT64_MIN, {0}}}}}), HasSubstr("does not fit 64 bits"));
  // A kernel of older files says nothing about its scalars.
  EXPECT_THAT(verifyWith([](ModelDesc &m, VariantDesc &v) {
                m.kernels[0].numScalars = 0;
                EntrySlots s(v);
                ProgramWriter w;
                w.alloc(s.firstFree(), v.workspaceBytes);
                w.callDevice(0, {{s.input(0), 0, 64}, {s.input(0), 0, 64}, {s.output(0), 0, 64}});
                w.ret();
                v.program.code = w.take();
              }),
              HasSubstr("kernel 'k0_sum' takes 1 scalars, got 0"));
}

TEST(Sizes, SymbolsFollowFromShapes) {
  VariantDesc variant = sizedModel(2, 16, 2, 8, bias).nets[0].variants[0];
  TensorDesc second = variant.inputs[0];
  second.name = "mask", second.shape = {48}, second.sizes = {Size{{{3, {0}}}}};
  variant.inputs.push_back(second);
  ASSERT_TRUE(solveSymbols(variant, {{6, 8}, {18}}));
  EXPECT_EQ(*solveSymbols(variant, {{6, 8}, {18}}), (std::vector<int64_t>{6}));
  EXPECT_EQ(shapeFor(variant.outputs[0], std::vector<int64_t>{6}), (std::vector<uint64_t>{6, 8}));
  struct Case {
    std::vector<std::vector<uint64_t>> shapes;
    const char *message;
  } cases[] = {
      {{{18, 8}, {54}}, "dimension 0 of input 'x' is 18, it must be 'rows', 2 to 16 in multiples of 2"},
      {{{0, 8}, {0}}, "dimension 0 of input 'x' is 0, it must be 'rows'"},
      {{{5, 8}, {15}}, "dimension 0 of input 'x' is 5, it must be 'rows', 2 to 16 in multiples of 2"},
      {{{6, 8}, {15}}, "dimension 0 of input 'mask' is 15, expects 18: dimension 0 of input 'x' has 'rows' = 6"},
      {{{6, 9}, {18}}, "dimension 1 of input 'x' is 9, expects 8"},
  };
  for (const Case &test : cases)
    EXPECT_THAT(solveSymbols(variant, test.shapes).error(), HasSubstr(test.message));
}

TEST(Sizes, FilesSayWhichReaderTheyNeed) {
  std::string path = temporaryPath("sizes.pmodel");
  ASSERT_TRUE(writeModel(sizedModel(2, 16, 2, 8, bias), path));
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ((*file)->info().formatMinor, 2u);
  const VariantDesc &variant = (*file)->model().nets[0].variants[0];
  EXPECT_EQ(variant.symbols[0].multiple, 2u);
  EXPECT_EQ(variant.inputs[0].sizes, (std::vector<Size>{{{{1, {0}}}}, {{{8, {}}}}}));
  EXPECT_EQ((*file)->model().kernels[0].numScalars, 1u);
  EXPECT_THAT(infoReport(**file), HasSubstr("rows x 8"));
  EXPECT_THAT(infoReport(**file), HasSubstr("rows: 2 to 16 in multiples of 2"));
  EXPECT_THAT(disassemblyReport(**file), HasSubstr("call_device_scalars k1_y, s3[0 +512], out0[0 +512] scalars(rows)"));
  EXPECT_THAT(disassemblyReport(**file), HasSubstr("kernel k1_y, 2 arguments, 1 scalars, 1 block(s)"));
  // Reports are for the greatest sizes.
  EXPECT_EQ(greatestScalars((*file)->model())[0], (std::vector<int64_t>{16}));
  EXPECT_EQ((*measureTraffic((*file)->model()))[1].read(), 16u * 8 * 4);
  // Without sizes the version is what it was.
  ASSERT_TRUE(writeModel(biasReluModel(16, 8, bias), path));
  EXPECT_EQ((*ModelFile::open(path))->info().formatMinor, 1u);
  std::filesystem::remove(path);
}

} // namespace
