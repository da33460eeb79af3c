// Elementwise instructions against loops written from the ISA description, over types x valid shapes x in-place forms.
// Elements outside the valid region must keep their bytes.
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
      auto make = [&](int i) {
        return Operand<T>{randomValues<T>(n, i + 1),
                          tile(typeOf<T>(), isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)};
      };
      Operand<T> dst = make(0), a = make(1), b = make(2);
      if (inPlace)
        dst.tile.address = a.tile.address, dst.values = a.values;
      auto result =
          runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, Insn{dst.tile, a.tile, b.tile}); }, dst, a, b);
      for (uint32_t r = 0; r < s.rows; ++r)
        for (uint32_t c = 0; c < s.cols; ++c) {
          size_t i = size_t(r) * s.cols + c;
          bool valid = r < s.validRows && c < s.validCols;
          T expected = valid ? reference(a.values[i], b.values[i], dst.values[i]) : dst.values[i];
          ASSERT_TRUE(sameBits(result[i], expected))
              << s.rows << "x" << s.cols << " at " << r << "," << c << " " << double(a.values[i]) << " "
              << double(b.values[i]) << " " << double(dst.values[i]) << (inPlace ? " in place " : " ")
              << double(result[i]) << " " << double(expected);
        }
    }
}

template <class T, class Insn, class F>
void checkUnary(F reference, float low = -4.0f, float high = 4.0f, double ulps = 0) {
  TestDevice device;
  for (const TileShape &s : shapes)
    for (bool inPlace : {false, true}) {
      size_t n = size_t(s.rows) * s.cols;
      auto make = [&](int i) {
        return Operand<T>{randomValues<T>(n, i + 1, low, high),
                          tile(typeOf<T>(), isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)};
      };
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
          ASSERT_TRUE((std::isnan(expected) && result[i] != result[i]) ||
                      std::fabs(double(result[i]) - expected) <= tolerance)
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
    auto make = [&](int i) {
      return Operand<T>{randomValues<T>(n, i + 1), tile(typeOf<T>(), isa::Layout::ND, place[i], shape.rows, shape.cols,
                                                        shape.validRows, shape.validCols)};
    };
    Operand<T> dst = make(0), a = make(1);
    auto result = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, Insn{dst.tile, a.tile, bits}); }, dst, a);
    for (uint32_t r = 0; r < shape.rows; ++r)
      for (uint32_t c = 0; c < shape.cols; ++c) {
        size_t i = size_t(r) * shape.cols + c;
        T expected = r < shape.validRows && c < shape.validCols ? reference(a.values[i], s) : dst.values[i];
        ASSERT_TRUE(sameBits(result[i], expected))
            << r << "," << c << " " << double(result[i]) << " " << double(expected);
      }
  }
}

template <class T> struct Elementwise : testing::Test {};
using StandardTypes = testing::Types<Tag<float>, Tag<half>, Tag<int16_t>, Tag<int32_t>>;
TYPED_TEST_SUITE(Elementwise, StandardTypes);

// Arithmetic in the type itself: f16 is rounded after each operation, integers wrap.
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
  auto result =
      runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TMax{dst.tile, a.tile, b.tile}); }, dst, a, b);
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
    auto make = [&](int i) {
      return Operand<T>{randomValues<T>(n, i + 1),
                        tile(typeOf<T>(), isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)};
    };
    Operand<T> dst = make(0), a = make(1), b = make(2);
    auto conjunction =
        runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TAnd{dst.tile, a.tile, b.tile}); }, dst, a, b);
    auto disjunction =
        runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TOr{dst.tile, a.tile, b.tile}); }, dst, a, b);
    auto negation = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TNot{dst.tile, a.tile}); }, dst, a);
    for (size_t i = 0; i < n; ++i) {
      bool valid = i / s.cols < s.validRows && i % s.cols < s.validCols;
      ASSERT_EQ(conjunction[i], valid ? T(a.values[i] & b.values[i]) : dst.values[i]);
      ASSERT_EQ(disjunction[i], valid ? T(a.values[i] | b.values[i]) : dst.values[i]);
      ASSERT_EQ(negation[i], valid ? T(~a.values[i]) : dst.values[i]);
    }
  }
}

TYPED_TEST(Bitwise, ShiftsExclusiveOrAndScalars) {
  using T = typename TypeParam::type;
  constexpr int width = 8 * sizeof(T);
  auto left = [](T a, T b, T) { return b < 0 || b >= width ? T(0) : T(uint64_t(a) << b); };
  auto right = [](T a, T b, T) { return b < 0 || b >= width ? T(a < 0 ? -1 : 0) : T(a >> b); };
  TestDevice device;
  TileShape s{4, 64, 4, 61};
  auto make = [&](int i) {
    return Operand<T>{randomValues<T>(256, i + 1),
                      tile(typeOf<T>(), isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)};
  };
  Operand<T> dst = make(0), a = make(1), b = make(2);
  for (size_t i = 0; i < b.values.size(); ++i)
    b.values[i] = T(int(i % 40) - 3);
  auto check = [&](auto insn, auto reference) {
    auto got = runVector(device, [&](TestKernel &k) { k.add(isa::Pipe::V, insn); }, dst, a, b);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], i % s.cols < s.validCols ? T(reference(a.values[i], b.values[i], T())) : dst.values[i])
          << i << " " << int64_t(a.values[i]) << " " << int64_t(b.values[i]);
  };
  check(isa::TShl{dst.tile, a.tile, b.tile}, left);
  check(isa::TShr{dst.tile, a.tile, b.tile}, right);
  check(isa::TXor{dst.tile, a.tile, b.tile}, [](T x, T y, T) { return T(x ^ y); });
  for (int n : {0, 3, width - 1, width}) {
    check(isa::TShls{dst.tile, a.tile, n}, [&](T x, T, T) { return left(x, T(n), T()); });
    check(isa::TShrs{dst.tile, a.tile, n}, [&](T x, T, T) { return right(x, T(n), T()); });
  }
  check(isa::TAnds{dst.tile, a.tile, 0x35}, [](T x, T, T) { return T(x & 0x35); });
  check(isa::TOrs{dst.tile, a.tile, 0x35}, [](T x, T, T) { return T(x | 0x35); });
  check(isa::TXors{dst.tile, a.tile, 0x35}, [](T x, T, T) { return T(x ^ 0x35); });
}

TYPED_TEST(FloatElementwise, FusedOperations) {
  using T = typename TypeParam::type;
  auto product = [](T a, T b) { return float(T(float(a) * float(b))); };
  checkBinary<T, isa::TFusedmuladd>([&](T a, T b, T d) {
    volatile float p = product(a, d);
    return T(p + float(b));
  });
  checkBinary<T, isa::TFusedmuladdrelu>([&](T a, T b, T d) {
    volatile float p = product(a, d);
    float sum = p + float(b);
    return T(sum < 0 ? 0.0f : sum);
  });
  checkBinary<T, isa::TSubrelu>([](T a, T b, T) { return T(std::max(float(a) - float(b), 0.0f)); });
  checkBinary<T, isa::TPrelu>([](T a, T b, T) { return a > T(0) ? a : T(float(a) * float(b)); });
}

TEST(Elementwise, Axpy) {
  TestDevice device;
  for (const TileShape &s : shapes) {
    size_t n = size_t(s.rows) * s.cols;
    auto shaped = [&](isa::ElementType type, int i) {
      return tile(type, isa::Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols);
    };
    Operand<float> dst{randomValues<float>(n, 1), shaped(isa::ElementType::f32, 0)};
    Operand<half> src{randomValues<half>(n, 2), shaped(isa::ElementType::f16, 1)};
    auto got = runVector(
        device, [&](TestKernel &k) { k.add(isa::Pipe::V, isa::TAxpy{dst.tile, src.tile, 0x40200000}); }, dst,
        src); // 2.5
    for (size_t i = 0; i < n; ++i) {
      volatile float p = float(src.values[i]) * 2.5f;
      bool valid = i / s.cols < s.validRows && i % s.cols < s.validCols;
      ASSERT_EQ(got[i], valid ? dst.values[i] + p : dst.values[i]);
    }
  }
}

TEST(Elementwise, RemaindersAndPowers) {
  checkBinary<float, isa::TRem>([](float a, float b, float) {
    return float(std::fmod(a, b) + (std::fmod(a, b) != 0 && (a < 0) != (b < 0) ? b : 0.0f));
  });
  checkBinary<float, isa::TFmod>([](float a, float b, float) { return std::fmod(a, b); });
  checkBinary<int32_t, isa::TRem>(
      [](int32_t a, int32_t b, int32_t) { return int32_t(a - std::floor(double(a) / b) * b); });
  checkScalar<float, isa::TRems>(
      [](float a, float s) { return float(std::fmod(a, s) + (std::fmod(a, s) != 0 && (a < 0) != (s < 0) ? s : 0.0f)); },
      -1.5f);
  checkScalar<float, isa::TFmods>([](float a, float s) { return std::fmod(a, s); }, -1.5f);
  checkScalar<int32_t, isa::TRems>([](int32_t a, int32_t s) { return ((a % s) + s) % s; }, 7);
  checkScalar<float, isa::TPows>([](float a, float s) { return float(std::pow(double(a), double(s))); }, 3.0f);
  checkScalar<int32_t, isa::TPows>([](int32_t a, int32_t) { return int32_t(uint32_t(a) * uint32_t(a) * uint32_t(a)); },
                                   3.0f);
  checkScalar<int16_t, isa::TPows>([](int16_t a, int16_t) { return int16_t(a == 1 ? 1 : a == -1 ? -1 : 0); }, -3.0f);

  TestDevice device;
  isa::Tile t = tile(isa::ElementType::i32, isa::Layout::ND, 0, 1, 8);
  TestKernel zero(isa::CoreKind::AIV, 0);
  zero.add(isa::Pipe::V, isa::TExpands{t, 0}).add(isa::Pipe::V, isa::TRem{t, t, t});
  EXPECT_EQ(device.run(zero, {}), PTO_ERROR_FAULT);
  EXPECT_STREQ(device.fault().kind, "zero-divisor");
  TestKernel byZero(isa::CoreKind::AIV, 0);
  byZero.add(isa::Pipe::V, isa::TExpands{t, 3}).add(isa::Pipe::V, isa::TRems{t, t, 0});
  EXPECT_EQ(device.run(byZero, {}), PTO_ERROR_FAULT);
}

} // namespace
