// clang-format off
// Prints the results of pto-isa's CPU simulator for instructions where it is an oracle: one line per tile, `name type rows cols hex`.
// Compiled by make.py against a checkout of the public pto-isa repository; inputs are those of ../golden.py.
#include <pto/pto-inst.hpp>

#include <pto/common/constants.hpp>
#include <pto/common/pto_tile.hpp>

#include <cstdio>
#include <cstring>
#include <type_traits>

using namespace pto;

constexpr int kRows = 8, kCols = 64, kValidRows = 5, kValidCols = 37;

static uint32_t word(uint32_t i, uint32_t seed) { return ((i + seed * 7919u) * 2654435761u) >> 7; }
template <class T> T element(uint32_t i, uint32_t seed) {
  int value = int(word(i, seed) % 2001u) - 1000;
  if constexpr (std::is_integral_v<T>)
    return T(value);
  else
    return T(float(value) / 8.0f);
}

template <class T> const char *typeName() {
  if constexpr (std::is_same_v<T, float>) return "f32";
  else if constexpr (std::is_same_v<T, half>) return "f16";
  else if constexpr (std::is_same_v<T, int8_t>) return "i8";
  else if constexpr (std::is_same_v<T, uint8_t>) return "u8";
  else if constexpr (std::is_same_v<T, int16_t>) return "i16";
  else if constexpr (std::is_same_v<T, uint16_t>) return "u16";
  else if constexpr (std::is_same_v<T, int32_t>) return "i32";
  else return "u32";
}

static uint32_t used = 0; // every tile of a case has bytes of its own
template <class B> void place(B &b) {
  TASSIGN(b, used);
  used += (sizeof(typename B::DType) * B::Rows * B::Cols + 511) / 512 * 512;
}
template <class T, int R = kRows, int C = kCols, int VR = kValidRows, int VC = kValidCols, BLayout L = BLayout::RowMajor>
using Plain = Tile<TileType::Vec, T, R, C, L, VR, VC>;
template <class B> B filled(uint32_t seed) {
  B b;
  place(b);
  for (int i = 0; i < B::Rows * B::Cols; ++i)
    b.data()[i] = element<typename B::DType>(uint32_t(i), seed);
  return b;
}
template <class B> void show(const char *name, B &b) {
  std::printf("%s %s %d %d ", name, typeName<typename B::DType>(), int(b.GetValidRow()), int(b.GetValidCol()));
  for (int r = 0; r < b.GetValidRow(); ++r)
    for (int c = 0; c < b.GetValidCol(); ++c) {
      auto value = b.data()[B::isRowMajor ? r * B::Cols + c : c * B::Rows + r];
      const auto *bytes = reinterpret_cast<const unsigned char *>(&value);
      for (size_t i = 0; i < sizeof value; ++i)
        std::printf("%02x", bytes[i]);
    }
  std::printf("\n");
}

#define BINARY(OP, T)                                                                                                                      \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<T>>(9), a = filled<Plain<T>>(1), b = filled<Plain<T>>(2);                                                        \
    OP(d, a, b);                                                                                                                           \
    show(#OP, d);                                                                                                                          \
  }
#define UNARY(OP, T)                                                                                                                       \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<T>>(9), a = filled<Plain<T>>(1);                                                                                 \
    OP(d, a);                                                                                                                              \
    show(#OP, d);                                                                                                                          \
  }
#define SCALAR(OP, T, S)                                                                                                                   \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<T>>(9), a = filled<Plain<T>>(1);                                                                                 \
    OP(d, a, T(S));                                                                                                                        \
    show(#OP, d);                                                                                                                          \
  }
#define ROWS(OP, D, T)                                                                                                                     \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<D, 32, 1, kValidRows, 1, BLayout::ColMajor>>(9);                                                                 \
    auto a = filled<Plain<T>>(1), tmp = filled<Plain<T>>(3);                                                                               \
    OP(d, a, tmp);                                                                                                                         \
    show(#OP, d);                                                                                                                          \
  }
#define COLUMNS(OP, T)                                                                                                                     \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<T, 1, kCols, 1, kValidCols>>(9);                                                                                 \
    auto a = filled<Plain<T>>(1);                                                                                                          \
    OP(d, a);                                                                                                                              \
    show(#OP, d);                                                                                                                          \
  }
#define PART(OP, T)                                                                                                                        \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<T>>(9), a = filled<Plain<T>>(1);                                                                                 \
    auto b = filled<Plain<T, kRows, kCols, 3, 13>>(2);                                                                                     \
    OP(d, a, b);                                                                                                                           \
    show(#OP, d);                                                                                                                          \
  }
#define ROWEXPAND(OP, T)                                                                                                                   \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<T>>(9), a = filled<Plain<T>>(1);                                                                                 \
    auto b = filled<Plain<T, 32, 1, kValidRows, 1, BLayout::ColMajor>>(2);                                                                 \
    OP(d, a, b);                                                                                                                           \
    show(#OP, d);                                                                                                                          \
  }
#define COLEXPAND(OP, T)                                                                                                                   \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<T>>(9), a = filled<Plain<T>>(1);                                                                                 \
    auto b = filled<Plain<T, 1, kCols, 1, kValidCols>>(2);                                                                                 \
    OP(d, a, b);                                                                                                                           \
    show(#OP, d);                                                                                                                          \
  }
#define CONVERT(D, S, MODE)                                                                                                                \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<D>>(9);                                                                                                          \
    auto a = filled<Plain<S>>(1);                                                                                                          \
    TCVT(d, a, RoundMode::MODE);                                                                                                           \
    show("TCVT-" #MODE "-" #S, d);                                                                                                         \
  }
#define COMPARE(T, MODE)                                                                                                                   \
  {                                                                                                                                        \
    used = 0;                                                                                                                              \
    auto d = filled<Plain<uint8_t, kRows, kCols, kValidRows, (kValidCols + 7) / 8>>(9);                                                     \
    auto a = filled<Plain<T>>(1), b = filled<Plain<T>>(2);                                                                                 \
    TCMP(d, a, b, CmpMode::MODE);                                                                                                          \
    show("TCMP-" #MODE, d);                                                                                                                \
  }

static void sortCases() {
  used = 0;
  auto d = filled<Plain<float, 2, 128, 2, 128>>(9);
  auto a = filled<Plain<float, 2, 64, 2, 64>>(1);
  auto index = filled<Plain<uint32_t, 2, 64, 2, 64>>(2);
  for (int i = 0; i < 128; ++i)
    index.data()[i] = uint32_t(i % 64);
  TSORT32(d, a, index);
  show("TSORT32", d);
  used = 0;
  auto merged = filled<Plain<float, 1, 256, 1, 256>>(9), row = filled<Plain<float, 1, 256, 1, 256>>(1);
  for (int i = 0; i < 128; ++i) { // four falling runs of 32 records
    row.data()[2 * i] = float(1000 - (i % 32) * 7 - int(word(uint32_t(i / 32), 5) % 90u));
    reinterpret_cast<uint32_t *>(row.data())[2 * i + 1] = uint32_t(i);
  }
  TMRGSORT(merged, row, 64u);
  show("TMRGSORT", merged);
}

static void indexCases() {
  used = 0;
  auto d = filled<Plain<float>>(9), a = filled<Plain<float>>(1);
  auto index = filled<Plain<int32_t>>(2), tmp = filled<Plain<int32_t>>(3);
  for (int i = 0; i < kRows * kCols; ++i)
    index.data()[i] = int32_t(word(uint32_t(i), 4) % unsigned(kRows * kCols));
  TGATHER(d, a, index, tmp);
  show("TGATHER", d);
  TSCATTER(d, a, index);
  show("TSCATTER", d);
  used = 0;
  auto few = filled<Plain<float, kRows, 32, kRows, 32>>(9);
  auto whole = filled<Plain<float, kRows, kCols, kRows, kCols>>(1);
  TGATHER<decltype(few), decltype(whole), MaskPattern::P1010>(few, whole);
  show("TGATHER-P1010", few);
  TSCATTER<MaskPattern::P1010>(whole, few);
  show("TSCATTER-P1010", whole);
  used = 0;
  auto values = filled<Plain<float>>(9), x = filled<Plain<float>>(1);
  auto y = filled<Plain<float, kRows, kCols, 3, 13>>(2);
  auto indices = filled<Plain<uint32_t>>(9), ix = filled<Plain<uint32_t>>(3);
  auto iy = filled<Plain<uint32_t, kRows, kCols, 3, 13>>(4);
  TPARTARGMAX(values, x, y, indices, ix, iy);
  show("TPARTARGMAX-values", values);
  show("TPARTARGMAX-indices", indices);
}

static void otherCases() {
  used = 0;
  auto random = filled<Plain<uint32_t, 3, 320, 3, 300>>(9);
  TRandomKey key = {123456u, 0xfffffff0u};
  TRandomCounter counter = {0xfffffffeu, 0xffffffffu, 5u, 6u};
  TRANDOM<7>(random, key, counter);
  show("TRANDOM-7", random);
  used = 0;
  auto bins = filled<Plain<uint32_t, 4, 256, 4, 256>>(9);
  auto data = filled<Plain<uint16_t, 4, 64, 4, 50>>(1);
  auto filter = filled<Plain<uint8_t, 32, 1, 4, 1, BLayout::ColMajor>>(2);
  for (int i = 0; i < 4; ++i)
    filter.data()[i] = uint8_t(i % 2 ? 0 : 0xff);
  THISTOGRAM<HistByte::BYTE_1>(bins, data, filter);
  show("THISTOGRAM-1", bins);
  THISTOGRAM<HistByte::BYTE_0>(bins, data, filter);
  show("THISTOGRAM-0", bins);
  used = 0;
  auto pairs = filled<Plain<float>>(9), a = filled<Plain<float>>(1), b = filled<Plain<float>>(2);
  TPAIRREDUCESUM(pairs, a);
  show("TPAIRREDUCESUM", pairs);
  used = 0;
  auto scaled = filled<Plain<half>>(9);
  auto x = filled<Plain<int32_t>>(1), y = filled<Plain<int32_t>>(2), tmp = filled<Plain<int32_t>>(3);
  TADDDEQRELU(scaled, x, y, 0.125f, tmp);
  show("TADDDEQRELU", scaled);
  used = 0;
  auto lower = filled<Plain<float>>(9);
  TTRI<decltype(lower), 0>(lower, 2);
  show("TTRI", lower);
  used = 0;
  auto even0 = filled<Plain<int16_t, kRows, kCols, kValidRows, 36>>(9), even1 = filled<Plain<int16_t, kRows, kCols, kValidRows, 36>>(9);
  auto left = filled<Plain<int16_t, kRows, kCols, kValidRows, 36>>(1), right = filled<Plain<int16_t, kRows, kCols, kValidRows, 36>>(2);
  TINTERLEAVE(even1, even0, right, left);
  show("TINTERLEAVE-0", even0);
  show("TINTERLEAVE-1", even1);
}

int main() {
  BINARY(TADD, float) BINARY(TADD, half) BINARY(TADD, int16_t) BINARY(TADD, int32_t) BINARY(TSUB, float) BINARY(TSUB, half) BINARY(TSUB, int32_t)
  BINARY(TMUL, float) BINARY(TMUL, half) BINARY(TMUL, int16_t) BINARY(TMAX, float) BINARY(TMAX, int16_t) BINARY(TMIN, half) BINARY(TMIN, int32_t)
  BINARY(TAND, int16_t) BINARY(TOR, uint16_t)
  UNARY(TABS, float) UNARY(TNEG, int16_t) UNARY(TRELU, half) UNARY(TNOT, int16_t)
  SCALAR(TADDS, float, 3) SCALAR(TMULS, half, 3) SCALAR(TMAXS, int32_t, 5) SCALAR(TMINS, int16_t, 5) SCALAR(TSUBS, int32_t, 7)
  ROWS(TROWMAX, float, float) ROWS(TROWMIN, half, half) ROWS(TROWARGMAX, uint32_t, float)
  COLUMNS(TCOLMAX, float) COLUMNS(TCOLMIN, int16_t) COLUMNS(TCOLSUM, half)
  PART(TPARTADD, float) PART(TPARTMAX, int16_t) PART(TPARTMIN, half) PART(TPARTMUL, int32_t)
  ROWEXPAND(TROWEXPANDADD, float) ROWEXPAND(TROWEXPANDSUB, half) ROWEXPAND(TROWEXPANDMUL, float)
  COLEXPAND(TCOLEXPANDADD, half) COLEXPAND(TCOLEXPANDMUL, float) COLEXPAND(TCOLEXPANDMAX, float)
  CONVERT(int32_t, float, CAST_RINT) CONVERT(int32_t, float, CAST_ROUND) CONVERT(int32_t, float, CAST_FLOOR) CONVERT(int16_t, float, CAST_CEIL)
  CONVERT(int16_t, half, CAST_TRUNC) CONVERT(half, int16_t, CAST_RINT) CONVERT(float, int32_t, CAST_RINT) CONVERT(float, half, CAST_RINT)
  CONVERT(half, float, CAST_RINT)
  COMPARE(float, EQ) COMPARE(float, LT) COMPARE(half, GE) COMPARE(int32_t, NE)
  sortCases();
  indexCases();
  otherCases();
}
