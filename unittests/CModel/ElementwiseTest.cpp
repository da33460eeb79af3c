// Elementwise instructions against loops written from the ISA's prose, over types x valid shapes x in place or not. Cells outside the
// valid region must keep their bytes.
#include "VectorHarness.h"

#include <algorithm>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;

namespace {

constexpr uint32_t place[] = {0, 32768, 65536, 98304};

template <class T, class Insn, class F> void checkBinary(F reference, bool dstIsInput = false) {
  TestDevice device;
  for (const TileShape &s : shapes)
    for (bool inPlace : {false, true}) {
      size_t n = size_t(s.rows) * s.cols;
      auto make = [&](int i) { return Operand<T>{randomValues<T>(n, i + 1), tile(typeOf<T>(), isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)}; };
      Operand<T> dst = make(0), a = make(1), b = make(2);
      if (inPlace)
        dst.tile.address = a.tile.address, dst.values = a.values;
      auto result = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, Insn{dst.tile, a.tile, b.tile}); }, dst, a, b);
      for (uint32_t r = 0; r < s.rows; ++r)
        for (uint32_t c = 0; c < s.cols; ++c) {
          size_t i = size_t(r) * s.cols + c;
          bool valid = r < s.validRows && c < s.validCols;
          T expected = valid ? reference(a.values[i], b.values[i], dst.values[i]) : dst.values[i];
          ASSERT_TRUE(sameBits(result[i], expected)) << s.rows << "x" << s.cols << " at " << r << "," << c << " " << double(a.values[i]) << " " << double(b.values[i]) << " " << double(dst.values[i]) << (inPlace ? " in place " : " ") << double(result[i]) << " " << double(expected);
        }
    }
}

template <class T, class Insn, class F> void checkUnary(F reference, float low = -4.0f, float high = 4.0f, double ulps = 0) {
  TestDevice device;
  for (const TileShape &s : shapes)
    for (bool inPlace : {false, true}) {
      size_t n = size_t(s.rows) * s.cols;
      auto make = [&](int i) { return Operand<T>{randomValues<T>(n, i + 1, low, high), tile(typeOf<T>(), isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)}; };
      Operand<T> dst = make(0), a = make(1);
      if constexpr (!std::is_integral_v<T>)
        a.values[0] = T(std::numeric_limits<float>::quiet_NaN());
      if (inPlace)
        dst.tile.address = a.tile.address, dst.values = a.values;
      auto result = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, Insn{dst.tile, a.tile}); }, dst, a);
      for (uint32_t r = 0; r < s.rows; ++r)
        for (uint32_t c = 0; c < s.cols; ++c) {
          size_t i = size_t(r) * s.cols + c;
          bool valid = r < s.validRows && c < s.validCols;
          double expected = valid ? double(reference(a.values[i])) : double(dst.values[i]);
          double tolerance = valid ? std::fabs(expected) * ulps * (sizeof(T) == 4 ? 0x1p-23 : 0x1p-10) : 0;
          ASSERT_TRUE((std::isnan(expected) && result[i] != result[i]) || std::fabs(double(result[i]) - expected) <= tolerance)
              << r << "," << c << " of " << double(a.values[i]) << ": " << double(result[i]) << " " << expected;
        }
    }
}

template <class T, class Insn, class F> void checkScalar(F reference, float scalarValue) {
  TestDevice device;
  int64_t bits;
  T s;
  if constexpr (std::is_integral_v<T>) {
    s = T(scalarValue);
    bits = int64_t(uint32_t(int32_t(s)));
  } else {
    uint32_t word;
    std::memcpy(&word, &scalarValue, 4);
    bits = word;
    s = T(scalarValue);
  }
  for (const TileShape &shape : shapes) {
    size_t n = size_t(shape.rows) * shape.cols;
    auto make = [&](int i) { return Operand<T>{randomValues<T>(n, i + 1), tile(typeOf<T>(), isa::Layout::ND, place[i], shape.rows, shape.cols, shape.validRows, shape.validCols)}; };
    Operand<T> dst = make(0), a = make(1);
    auto result = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, Insn{dst.tile, a.tile, bits}); }, dst, a);
    for (uint32_t r = 0; r < shape.rows; ++r)
      for (uint32_t c = 0; c < shape.cols; ++c) {
        size_t i = size_t(r) * shape.cols + c;
        T expected = r < shape.validRows && c < shape.validCols ? reference(a.values[i], s) : dst.values[i];
        ASSERT_TRUE(sameBits(result[i], expected)) << r << "," << c << " " << double(result[i]) << " " << double(expected);
      }
  }
}

template <class T> struct Elementwise : testing::Test {};
using StandardTypes = testing::Types<Tag<float>, Tag<half>, Tag<int16_t>, Tag<int32_t>>;
TYPED_TEST_SUITE(Elementwise, StandardTypes);

// Arithmetic in the type itself: half rounds after each operation, integers wrap.
template <class T, class F> T arithmetic(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>)
    return T(f(int64_t(a), int64_t(b)));
  else
    return T(f(float(a), float(b)));
}

TYPED_TEST(Elementwise, Binary) {
  using T = typename TypeParam::type;
  checkBinary<T, isa::TAdd>([](T a, T b, T) { return arithmetic(a, b, [](auto x, auto y) { return x + y; }); });
  checkBinary<T, isa::TSub>([](T a, T b, T) { return arithmetic(a, b, [](auto x, auto y) { return x - y; }); });
  checkBinary<T, isa::TMul>([](T a, T b, T) { return arithmetic(a, b, [](auto x, auto y) { return x * y; }); });
  checkBinary<T, isa::TMax>([](T a, T b, T) { return std::max(a, b); });
  checkBinary<T, isa::TMin>([](T a, T b, T) { return std::min(a, b); });
}

TYPED_TEST(Elementwise, Scalar) {
  using T = typename TypeParam::type;
  for (float s : {0.3f, -7.0f}) {
    checkScalar<T, isa::TAdds>([](T a, T b) { return arithmetic(a, b, [](auto x, auto y) { return x + y; }); }, s);
    checkScalar<T, isa::TSubs>([](T a, T b) { return arithmetic(a, b, [](auto x, auto y) { return x - y; }); }, s);
    checkScalar<T, isa::TMuls>([](T a, T b) { return arithmetic(a, b, [](auto x, auto y) { return x * y; }); }, s);
    checkScalar<T, isa::TMaxs>([](T a, T b) { return std::max(a, b); }, s);
    checkScalar<T, isa::TMins>([](T a, T b) { return std::min(a, b); }, s);
  }
}

TYPED_TEST(Elementwise, UnaryOnEveryType) {
  using T = typename TypeParam::type;
  checkUnary<T, isa::TNeg>([](T a) { return T(-a); });
  if constexpr (!std::is_same_v<T, int16_t>)
    checkUnary<T, isa::TRelu>([](T a) { return a < T(0) ? T(0) : a; });
}

template <class T> struct FloatElementwise : testing::Test {};
using FloatTypes = testing::Types<Tag<float>, Tag<half>>;
TYPED_TEST_SUITE(FloatElementwise, FloatTypes);

TYPED_TEST(FloatElementwise, Functions) {
  using T = typename TypeParam::type;
  checkUnary<T, isa::TAbs>([](T a) { return T(std::fabs(float(a))); });
  checkUnary<T, isa::TExp>([](T a) { return std::exp(double(a)); }, -10, 10, 2);
  checkUnary<T, isa::TLog>([](T a) { return std::log(double(a)); }, 0.001f, 100, 2);
  checkUnary<T, isa::TSqrt>([](T a) { return T(std::sqrt(float(a))); }, 0, 100);
  checkUnary<T, isa::TRsqrt>([](T a) { return T(float(1.0 / std::sqrt(double(a)))); }, 0.001f, 100);
  checkUnary<T, isa::TRecip>([](T a) { return T(1.0f / float(a)); });
}

TYPED_TEST(FloatElementwise, DivideAndMultiplyAdd) {
  using T = typename TypeParam::type;
  checkBinary<T, isa::TDiv>([](T a, T b, T) { return T(float(a) / float(b)); });
  checkBinary<T, isa::TMuladddst>([](T a, T b, T d) {
    volatile float product = float(T(float(a) * float(b))); // rounded before the sum
    return T(product + float(d));
  });
  checkScalar<T, isa::TDivs>([](T a, T s) { return T(float(a) / float(s)); }, 3.0f);
  checkScalar<T, isa::TDivsRev>([](T a, T s) { return T(float(s) / float(a)); }, 3.0f);
  checkScalar<T, isa::TLrelu>([](T a, T s) { return a > T(0) ? a : T(float(a) * float(s)); }, 0.1f);
}

TYPED_TEST(FloatElementwise, MaxAndMinKeepNaNOfTheFirstOperandOnly) {
  using T = typename TypeParam::type;
  TestDevice device;
  T nan = T(std::numeric_limits<float>::quiet_NaN());
  Operand<T> dst{std::vector<T>(32), tile(typeOf<T>(), isa::Layout::ND, 0, 1, 32)};
  Operand<T> a{std::vector<T>(32, T(1)), tile(typeOf<T>(), isa::Layout::ND, 1024, 1, 32)};
  Operand<T> b{std::vector<T>(32, T(2)), tile(typeOf<T>(), isa::Layout::ND, 2048, 1, 32)};
  a.values[0] = nan;
  b.values[1] = nan;
  auto result = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TMax{dst.tile, a.tile, b.tile}); }, dst, a, b);
  EXPECT_TRUE(result[0] != result[0]);
  EXPECT_EQ(result[1], T(1));
  EXPECT_EQ(result[2], T(2));
}

template <class T> struct Bitwise : testing::Test {};
using IntegerTypes = testing::Types<Tag<int8_t>, Tag<uint8_t>, Tag<int16_t>, Tag<int32_t>>;
TYPED_TEST_SUITE(Bitwise, IntegerTypes);

TYPED_TEST(Bitwise, Operations) {
  using T = typename TypeParam::type;
  TestDevice device;
  for (TileShape s : {TileShape{3, 32, 3, 29}, TileShape{4, 64, 4, 64}}) {
    size_t n = size_t(s.rows) * s.cols;
    auto make = [&](int i) { return Operand<T>{randomValues<T>(n, i + 1), tile(typeOf<T>(), isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)}; };
    Operand<T> dst = make(0), a = make(1), b = make(2);
    auto conjunction = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TAnd{dst.tile, a.tile, b.tile}); }, dst, a, b);
    auto disjunction = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TOr{dst.tile, a.tile, b.tile}); }, dst, a, b);
    auto negation = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TNot{dst.tile, a.tile}); }, dst, a);
    for (size_t i = 0; i < n; ++i) {
      bool valid = i / s.cols < s.validRows && i % s.cols < s.validCols;
      ASSERT_EQ(conjunction[i], valid ? T(a.values[i] & b.values[i]) : dst.values[i]);
      ASSERT_EQ(disjunction[i], valid ? T(a.values[i] | b.values[i]) : dst.values[i]);
      ASSERT_EQ(negation[i], valid ? T(~a.values[i]) : dst.values[i]);
    }
  }
}

} // namespace
