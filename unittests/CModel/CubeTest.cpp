// The cube data path end to end: nd2nz loads, extraction and img2col into L0, products, bias, stores from L0C, compared
// with plain loops.
#include "VectorHarness.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::Layout;
using isa::Memory;
using isa::Pipe;

namespace {

uint16_t paddedTo(int extent, int to) { return uint16_t(roundUp(extent, to)); }

isa::TStoreAcc storeAcc(isa::View dst, isa::Tile src, bool relu = false) {
  isa::TStoreAcc s;
  s.dst = dst;
  s.src = src;
  s.relu = relu ? isa::ReluMode::relu : isa::ReluMode::none;
  return s;
}

/// C[m, n] (+ bias) = A[m, k] B[k, n] in two steps over k when split > 0. Both operands row-major in global memory.
template <class T, class C> struct Gemm {
  int m, k, n, split = 0;
  bool bias = false, relu = false;
  Layout leftLayout = Layout::ZZ;
  int times = 1; ///< the last product is added so often: its right operand is in L0B already

  TestKernel kernel(isa::ElementType out) const {
    isa::ElementType type = typeOf<T>(), accType = typeOf<C>();
    int c0 = 32 / sizeof(T);
    uint16_t mp = paddedTo(m, 16), kp = paddedTo(k, std::max(c0, 16)), np = paddedTo(n, std::max(c0, 16));
    TestKernel t(isa::CoreKind::AIC, 4);
    // A: [m, k] in NZ; B: [k, n] in NZ at 256 KiB; bias: ND at 508 KiB.
    isa::Tile l1a = tile(type, Layout::NZ, 0, mp, kp, m, k), l1b = tile(type, Layout::NZ, 256 << 10, kp, np, k, n);
    isa::Tile l1bias = tile(accType, Layout::ND, 508 << 10, 1, np, 1, n),
              bt = tile(accType, Layout::ND, 0, 1, np, 1, n);
    t.add(Pipe::MTE2, isa::TLoad{l1a, view(0, type, m, k), Memory::L1});
    t.add(Pipe::MTE2, isa::TLoad{l1b, view(1, type, k, n), Memory::L1});
    if (bias)
      t.add(Pipe::MTE2, isa::TLoad{l1bias, view(2, accType, 1, n), Memory::L1});
    t.sync(Pipe::MTE2, Pipe::MTE1);
    if (bias)
      t.add(Pipe::MTE1, isa::TMovBt{bt, l1bias, 0});
    isa::Tile c = tile(accType, Layout::NZ16, 0, mp, np, m, n);
    int done = 0;
    for (int step : split ? std::vector<int>{split, k - split} : std::vector<int>{k}) {
      uint16_t sp = paddedTo(step, std::max(c0, 16));
      isa::Tile a = tile(type, leftLayout, 0, mp, sp, m, step), b = tile(type, Layout::ZN, 0, sp, np, step, n);
      if (done > 0)
        t.sync(Pipe::M, Pipe::MTE1, 1);
      t.add(Pipe::MTE1, isa::TExtractL0a{a, l1a, 0, done});
      t.add(Pipe::MTE1, isa::TExtractL0b{b, l1b, done, 0});
      t.sync(Pipe::MTE1, Pipe::M);
      if (done > 0)
        t.add(Pipe::M, isa::TMatmulAcc{c, c, a, b});
      else if (bias)
        t.add(Pipe::M, isa::TMatmulBias{c, a, b, bt});
      else
        t.add(Pipe::M, isa::TMatmul{c, a, b});
      for (int more = 1; more < times; ++more)
        t.add(Pipe::M, isa::TMatmulAcc{c, c, a, b});
      done += step;
    }
    t.sync(Pipe::M, Pipe::FIX);
    t.add(Pipe::FIX, storeAcc(view(3, out, m, n), c, relu));
    return t;
  }

  template <class D> void check() const {
    TestDevice device;
    auto a = randomValues<T>(size_t(m) * k, 1), b = randomValues<T>(size_t(k) * n, 2);
    auto biasValues = randomValues<C>(n, 3);
    std::vector<D> zero(size_t(m) * n);
    std::vector<pto_arg> args{device.upload(a), device.upload(b), device.upload(biasValues), device.upload(zero)};
    ASSERT_EQ(device.run(kernel(typeOf<D>()), args), PTO_OK) << device.error();
    auto result = device.download<D>(args[3]);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        // Steps of C0, from the bias on; a cut of K is not seen.
        C sum = bias ? biasValues[j] : C(0);
        constexpr int step = 32 / sizeof(T);
        for (int round = 0; round < times * ceilDiv(k, step); ++round) {
          C part = 0;
          int from = round % ceilDiv(k, step) * step;
          for (int p = from; p < std::min(k, from + step); ++p)
            if constexpr (std::is_integral_v<C>)
              part = C(uint32_t(part) + uint32_t(C(a[i * k + p]) * C(b[p * n + j])));
            else
              part = std::fma(float(a[i * k + p]), float(b[p * n + j]), part);
          sum = sum + part;
        }
        D expected = D(relu && sum < 0 ? C(0) : sum);
        ASSERT_TRUE(sameBits(result[i * n + j], expected))
            << m << "x" << k << "x" << n << " at " << i << "," << j << ": " << double(result[i * n + j]) << " "
            << double(expected);
      }
  }
};

const int gemmShapes[][3] = {{1, 8, 2},    {1, 200, 33},  {16, 16, 16}, {5, 7, 3},
                             {37, 41, 29}, {64, 96, 136}, {35, 13, 24}, {33, 17, 8}};

TEST(Cube, FloatProducts) {
  for (auto &s : gemmShapes) {
    Gemm<float, float>{s[0], s[1], s[2]}.check<float>();
    Gemm<float, float>{s[0], s[1], s[2], 0, true, true}.check<float>();
    Gemm<float, float>{s[0], s[1], s[2], 0, false, false, Layout::NZ}.check<float>();
  }
}

TEST(Cube, HalfProductsAccumulateInFloat) {
  for (auto &s : gemmShapes) {
    Gemm<half, float>{s[0], s[1], s[2]}.check<float>();
    Gemm<half, float>{s[0], s[1], s[2], 0, true, true}.check<half>();
    Gemm<half, float>{s[0], s[1], s[2], 0, false, false, Layout::NZ}.check<half>();
  }
}

TEST(Cube, IntegerProductsAreExact) {
  for (auto &s : gemmShapes)
    Gemm<int8_t, int32_t>{s[0], s[1], s[2]}.check<int32_t>();
}

TEST(Cube, ARightOperandIsUsedAgain) {
  for (int m : {1, 20})
    Gemm<float, float>{m, 41, 33, 0, true, false, Layout::ZZ, 3}.check<float>();
}

TEST(Cube, CutsOfKAreNotSeen) {
  Gemm<float, float>{1, 96, 40, 32, true}.check<float>();
  Gemm<float, float>{37, 41, 29, 16}.check<float>();
  Gemm<float, float>{64, 96, 40, 32, true}.check<float>();
  Gemm<half, float>{20, 100, 40, 48, true}.check<half>();
}

struct Conv {
  int h, w, c, kh, kw, sh, sw, dh, dw, top, left, bottom, right, out;
};

template <class T> void checkConv(const Conv &p, Layout leftLayout) {
  TestDevice device;
  isa::ElementType type = typeOf<T>();
  int c0 = 32 / sizeof(T), c1 = (p.c + c0 - 1) / c0;
  int oh = (p.h + p.top + p.bottom - p.dh * (p.kh - 1) - 1) / p.sh + 1,
      ow = (p.w + p.left + p.right - p.dw * (p.kw - 1) - 1) / p.sw + 1;
  int m = oh * ow, k = c1 * p.kh * p.kw * c0;
  auto x = randomValues<T>(size_t(p.h) * p.w * p.c, 1), f = randomValues<T>(size_t(p.kh) * p.kw * p.c * p.out, 2);
  // The filter in the row order of img2col, channels zero-padded.
  std::vector<T> packed(size_t(k) * p.out, T(0));
  for (int g = 0; g < c1; ++g)
    for (int y = 0; y < p.kh; ++y)
      for (int z = 0; z < p.kw; ++z)
        for (int c = 0; c < c0 && g * c0 + c < p.c; ++c)
          for (int o = 0; o < p.out; ++o)
            packed[((((g * p.kh + y) * p.kw + z) * c0 + c)) * size_t(p.out) + o] =
                f[((y * p.kw + z) * p.c + g * c0 + c) * size_t(p.out) + o];
  TestKernel t(isa::CoreKind::AIC, 3);
  uint16_t mp = paddedTo(m, 16), kp = paddedTo(k, 16), np = paddedTo(p.out, 16);
  isa::Tile slab = tile(type, Layout::NZ, 0, paddedTo(p.h * p.w, 16), uint16_t(c1 * c0), p.h * p.w, p.c);
  isa::Tile l1b = tile(type, Layout::NZ, 256 << 10, kp, np, k, p.out);
  isa::Tile a = tile(type, leftLayout, 0, mp, kp, m, k), b = tile(type, Layout::ZN, 0, kp, np, k, p.out);
  isa::Tile acc = tile(isa::ElementType::f32, Layout::NZ16, 0, mp, np, m, p.out);
  t.add(Pipe::MTE2, isa::TLoad{slab, view(0, type, p.h * p.w, p.c), Memory::L1});
  t.add(Pipe::MTE2, isa::TLoad{l1b, view(1, type, k, p.out), Memory::L1});
  t.sync(Pipe::MTE2, Pipe::MTE1);
  isa::TImg2col i;
  i.dst = a, i.src = slab, i.posM = 0, i.posK = 0, i.height = p.h, i.padTop = p.top, i.padBottom = p.bottom;
  i.width = p.w, i.channels = p.c, i.kernelH = p.kh, i.kernelW = p.kw, i.strideH = p.sh, i.strideW = p.sw;
  i.dilationH = p.dh, i.dilationW = p.dw, i.padLeft = p.left, i.padRight = p.right;
  t.add(Pipe::MTE1, i);
  t.add(Pipe::MTE1, isa::TExtractL0b{b, l1b, 0, 0});
  t.sync(Pipe::MTE1, Pipe::M);
  t.add(Pipe::M, isa::TMatmul{acc, a, b});
  t.sync(Pipe::M, Pipe::FIX);
  t.add(Pipe::FIX, storeAcc(view(2, isa::ElementType::f32, m, p.out), acc));
  std::vector<float> zero(size_t(m) * p.out);
  std::vector<pto_arg> args{device.upload(x), device.upload(packed), device.upload(zero)};
  ASSERT_EQ(device.run(t, args), PTO_OK) << device.error();
  auto result = device.download<float>(args[2]);
  for (int y = 0; y < oh; ++y)
    for (int z = 0; z < ow; ++z)
      for (int o = 0; o < p.out; ++o) {
        double sum = 0, magnitude = 0;
        for (int u = 0; u < p.kh; ++u)
          for (int v = 0; v < p.kw; ++v)
            for (int c = 0; c < p.c; ++c) {
              int iy = y * p.sh + u * p.dh - p.top, iz = z * p.sw + v * p.dw - p.left;
              if (iy < 0 || iy >= p.h || iz < 0 || iz >= p.w)
                continue;
              double product =
                  double(x[(iy * p.w + iz) * p.c + c]) * double(f[((u * p.kw + v) * p.c + c) * size_t(p.out) + o]);
              sum += product, magnitude += std::fabs(product);
            }
        ASSERT_NEAR(result[(y * ow + z) * p.out + o], sum, magnitude * 1e-6) << y << "," << z << "," << o;
      }
}

TEST(Cube, ConvolutionsByImg2col) {
  for (const Conv &p :
       {Conv{6, 7, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 8}, Conv{5, 5, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 17},
        Conv{9, 8, 11, 2, 3, 2, 1, 1, 2, 0, 1, 1, 2, 5}, Conv{4, 4, 24, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 16}}) {
    for (Layout left : {Layout::ZZ, Layout::NZ}) { // L0A of a3 and of a5
      checkConv<float>(p, left);
      checkConv<half>(p, left);
    }
  }
}

} // namespace
