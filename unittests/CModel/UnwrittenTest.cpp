// The checked mode on loads from memory that nothing has written: a copy is no fault, using the value is.
#include "CheckedHarness.h"

#include <array>
#include <functional>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::ElementType;
using isa::Layout;
using isa::Memory;
using isa::Pipe;
using isa::Value;

namespace {

const char *const processors[] = {"a3", "a5"};

/// Argument 0 is written, argument 1 is not, argument 2 is the output. `written` is tile 0, `unwritten` tile 256,
/// of which the first row is overwritten by argument 0.
TestKernel loads(bool firstRow = false) {
  TestKernel k(isa::CoreKind::AIV, 3);
  k.add(Pipe::MTE2, load(ub(0), whole(0))).add(Pipe::MTE2, load(ub(256), whole(1)));
  if (firstRow)
    k.add(Pipe::MTE2, load(ub(256, 1), view(0, ElementType::f32, 1, 16)));
  k.sync(Pipe::MTE2, Pipe::V);
  ownPart(k);
  return k;
}

struct Case {
  const char *name;
  std::function<void(TestKernel &)> body; // on V; the result is tile 512
  /// What is stored of the result without a report, and what is reported: first row, number of rows and columns.
  std::array<int, 3> good, bad;
  const char *computes = ""; // the first instruction on V that computes with the value
};

/// Stores rows of tile 512 (of 16 columns).
TestKernel storing(const Case &c, std::array<int, 3> part) {
  TestKernel k = loads(/*firstRow=*/true);
  c.body(k);
  k.sync(Pipe::V, Pipe::MTE3);
  isa::View to = mine(part[1], 2);
  to.sizes[1] = part[2];
  return k.add(Pipe::MTE3, store(to, ub(uint32_t(512 + part[0] * 64), uint16_t(part[1]), 16, part[1], part[2])));
}

const Case cases[] = {
    {"moved", [](auto &k) { k.add(Pipe::V, isa::TMov{ub(512), ub(256)}); }, {0, 1, 16}, {0, 2, 16}},
    {"added", [](auto &k) { k.add(Pipe::V, isa::TAdd{ub(512), ub(0), ub(256)}); }, {0, 1, 16}, {1, 1, 1}, "tadd"},
    {"overwritten",
     [](auto &k) { k.add(Pipe::V, isa::TAdd{ub(512), ub(0), ub(256)}).add(Pipe::V, isa::TMov{ub(512, 2), ub(0, 2)}); },
     {0, 2, 16},
     {2, 1, 16},
     "tadd"},
    {"extracted", [](auto &k) { k.add(Pipe::V, isa::TExtractUb{ub(512, 2), ub(256), 0, 0}); }, {0, 1, 16}, {1, 1, 16}},
    {"inserted",
     [](auto &k) { k.add(Pipe::V, isa::TMov{ub(512), ub(0)}).add(Pipe::V, isa::TInsertUb{ub(512), ub(320, 1), 3, 0}); },
     {0, 3, 16},
     {3, 1, 16}},
    {"filled", [](auto &k) { k.add(Pipe::V, isa::TFillpad{ub(512), ub(256, 4, 16, 2, 8)}); }, {2, 2, 16}, {1, 1, 1}},
    {"transposed", // columns 1 to 3 hold rows 1 to 3
     [](auto &k) { k.add(Pipe::V, isa::TTrans{ub(512, 4, 16, 4, 4), ub(256, 4, 16, 4, 4)}); },
     {0, 4, 1},
     {0, 4, 2}},
    {"broadcast along rows", // by a column whose first two elements are written
     [](auto &k) {
       k.add(Pipe::V, isa::TMov{ub(768, 1), ub(320, 1)});
       k.add(Pipe::V, isa::TMov{ub(768, 1, 16, 1, 2), ub(256, 1, 16, 1, 2)});
       k.add(Pipe::V, isa::TRowexpandmul{ub(512), ub(0), tile(ElementType::f32, Layout::DN, 768, 8, 1, 4, 1)});
     },
     {0, 2, 16},
     {2, 1, 1},
     "trowexpandmul"},
    {"selected", // the mask takes tile 0 in columns below 8
     [](auto &k) {
       isa::Tile mask = tile(ElementType::u32, Layout::ND, 1024, 4, 8);
       k.add(Pipe::V, isa::TExpands{mask, Value(255)}).add(Pipe::V, isa::TSel{ub(512), mask, ub(0), ub(256)});
     },
     {0, 4, 8},
     {1, 1, 9}},
};

TEST(Unwritten, ALoadedValueThatIsThrownAwayIsNoFault) {
  for (const char *processor : processors) {
    Checked c(processor);
    EXPECT_EQ(c.run(loads()), PTO_OK) << c.device.error();
  }
}

TEST(Unwritten, CopiesAndArithmeticCarryItByElement) {
  for (const char *processor : processors)
    for (const Case &each : cases) {
      Checked good(processor);
      EXPECT_EQ(good.run(storing(each, each.good)), PTO_OK) << each.name << ": " << good.device.error();
      Checked bad(processor);
      ASSERT_EQ(bad.run(storing(each, each.bad)), PTO_ERROR_FAULT) << each.name;
      EXPECT_EQ(bad.kind(), "uninitialised");
      expectPart(bad.message(), "MTE3 word ");
      expectPart(bad.message(), "(tload) loaded it from byte 0 of argument 1");
      if (*each.computes)
        expectPart(bad.message(), "(" + std::string(each.computes) + ") computed with it");
      else
        EXPECT_EQ(bad.message().find("computed with it"), std::string::npos) << bad.message();
    }
}

TEST(Unwritten, UsesAreFaults) {
  isa::Tile sums = tile(ElementType::f32, Layout::DN, 512, 8, 1, 4, 1);
  isa::Tile indices = tile(ElementType::i32, Layout::ND, 1024, 4, 16);
  isa::Tile mask = tile(ElementType::u8, Layout::ND, 512, 4, 32, 4, 2);
  const std::pair<const char *, std::function<void(TestKernel &)>> uses[] = {
      {"trowsum", [&](auto &k) { k.add(Pipe::V, isa::TRowsum{sums, ub(256)}); }},
      {"tcmps", [&](auto &k) { k.add(Pipe::V, isa::TCmps{mask, ub(256), Value(0), isa::CompareMode::gt}); }},
      {"tgather",
       [&](auto &k) {
         k.add(Pipe::V, isa::TExpands{indices, Value(20)}).add(Pipe::V, isa::TGather{ub(512), ub(256), indices});
       }},
      {"tgetval", [&](auto &k) { k.sync(Pipe::V, Pipe::S).add(Pipe::S, isa::TGetval{1, ub(256), 3}); }},
  };
  for (const char *processor : processors)
    for (const auto &[name, use] : uses) {
      Checked c(processor);
      TestKernel k = loads();
      use(k);
      ASSERT_EQ(c.run(k), PTO_ERROR_FAULT) << name;
      EXPECT_EQ(c.kind(), "uninitialised");
      expectPart(c.message(), name);
      expectPart(c.message(), "(tload) loaded it from byte 0 of argument 1");
    }
  Checked scalar;
  TestKernel k(isa::CoreKind::AIV, 2);
  k.add(Pipe::S, isa::LoadScalar{1, view(1, ElementType::f32, 1, 1, -1, 8)});
  ASSERT_EQ(scalar.run(k), PTO_ERROR_FAULT);
  expectPart(scalar.message(), "byte 8 of argument 1, which nothing has written");
}

TEST(Unwritten, ProductsUseIt) {
  auto boxed = [](Layout layout, uint32_t at) { return tile(ElementType::f32, layout, at, 16, 16, 4, 16); };
  isa::Tile right = tile(ElementType::f32, Layout::NZ, 4096, 16, 16);
  for (bool multiplies : {false, true}) {
    TestKernel k(isa::CoreKind::AIC, 2);
    k.add(Pipe::MTE2, isa::TLoad{boxed(Layout::NZ, 0), whole(1), Memory::L1});
    k.add(Pipe::MTE2, isa::TExpandsL1{right, Value(0)}).sync(Pipe::MTE2, Pipe::MTE1);
    k.add(Pipe::MTE1, isa::TExtractL0a{boxed(Layout::ZZ, 0), boxed(Layout::NZ, 0), 0, 0});
    k.add(Pipe::MTE1, isa::TExtractL0b{tile(ElementType::f32, Layout::ZN, 0, 16, 16), right, 0, 0});
    k.sync(Pipe::MTE1, Pipe::M);
    if (multiplies)
      k.add(Pipe::M,
            isa::TMatmul{boxed(Layout::NZ16, 0), boxed(Layout::ZZ, 0), tile(ElementType::f32, Layout::ZN, 0, 16, 16)});
    Checked c;
    ASSERT_EQ(c.run(k), multiplies ? PTO_ERROR_FAULT : PTO_OK) << c.device.error();
    if (multiplies)
      expectPart(c.message(),
                 "reads L0A byte 0, which nothing has written; MTE2 word 0 (tload) loaded it from byte 0 of "
                 "argument 1");
  }
}

} // namespace
