// The library compiled for newer processors and the baseline compute the same bits.
#include "VectorHarness.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::Layout;
using isa::Memory;
using isa::Pipe;

namespace {

const pto_device_api *libraryApi(const char *name) {
  void *library = dlopen((std::string(PTO_LIBRARY_DIR) + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  auto entry = library ? reinterpret_cast<const pto_device_api *(*)()>(dlsym(library, "pto_device_get_api")) : nullptr;
  return entry ? entry() : nullptr;
}

template <class T> std::vector<T> vectorChain(const pto_device_api *api) {
  TestDevice device(1, api);
  constexpr uint16_t rows = 24, cols = 80;
  TestKernel k(isa::CoreKind::AIV, 2);
  auto type = typeOf<T>();
  isa::Tile x = tile(type, Layout::ND, 0, rows, cols, 23, 77), y = x, row = tile(type, Layout::DN, 65536, 32, 1, 23, 1);
  y.address = 32768;
  isa::Tile x1 = tile(type, Layout::ND, 98304, 1, cols, 1, 77);
  k.add(Pipe::MTE2, isa::TLoad{x, view(0, type, 23, 77), Memory::UB}).sync(Pipe::MTE2, Pipe::V);
  k.add(Pipe::V, isa::TExp{y, x}).add(Pipe::V, isa::TRowsum{row, y}).add(Pipe::V, isa::TRowexpanddiv{y, y, row});
  k.add(Pipe::V, isa::TMuladddst{y, x, x})
      .add(Pipe::V, isa::TAbs{y, y})
      .add(Pipe::V, isa::TLog{y, y})
      .add(Pipe::V, isa::TRsqrt{x, x});
  isa::Tile mask = tile(isa::ElementType::u8, Layout::ND, 131072, rows, 32, 23, 10);
  k.add(Pipe::V, isa::TMul{y, y, x})
      .add(Pipe::V, isa::TMax{x, y, x})
      .add(Pipe::V, isa::TCmp{mask, x, y, isa::CompareMode::gt});
  k.add(Pipe::V, isa::TSel{y, mask, y, x})
      .add(Pipe::V, isa::TColsum{x1, x})
      .add(Pipe::V, isa::TColexpandmul{y, y, x1})
      .sync(Pipe::V, Pipe::MTE3);
  isa::TStore s;
  s.dst = view(1, type, 23, 77), s.src = y, s.space = Memory::UB;
  k.add(Pipe::MTE3, s);
  std::vector<pto_arg> args{device.upload(randomValues<T>(23 * 77, 1)), device.upload(std::vector<T>(23 * 77))};
  EXPECT_EQ(device.run(k, args), PTO_OK) << device.error();
  return device.download<T>(args[1]);
}

template <class T> std::vector<float> product(const pto_device_api *api, int m, int kk, int n) {
  TestDevice device(1, api);
  auto up = [](int v) { return uint16_t((v + 15) / 16 * 16); };
  TestKernel k(isa::CoreKind::AIC, 3);
  auto type = typeOf<T>();
  isa::Tile l1a = tile(type, Layout::NZ, 0, up(m), up(kk), m, kk),
            l1b = tile(type, Layout::NZ, 65536, up(kk), up(n), kk, n);
  isa::Tile a = tile(type, Layout::ZZ, 0, up(m), up(kk), m, kk), b = tile(type, Layout::ZN, 0, up(kk), up(n), kk, n);
  isa::Tile c = tile(isa::ElementType::f32, Layout::NZ16, 0, up(m), up(n), m, n);
  k.add(Pipe::MTE2, isa::TLoad{l1a, view(0, type, m, kk), Memory::L1})
      .add(Pipe::MTE2, isa::TLoad{l1b, view(1, type, kk, n), Memory::L1});
  k.sync(Pipe::MTE2, Pipe::MTE1)
      .add(Pipe::MTE1, isa::TExtractL0a{a, l1a, 0, 0})
      .add(Pipe::MTE1, isa::TExtractL0b{b, l1b, 0, 0});
  k.sync(Pipe::MTE1, Pipe::M)
      .add(Pipe::M, isa::TMatmul{c, a, b})
      .add(Pipe::M, isa::TMatmulAcc{c, c, a, b})
      .sync(Pipe::M, Pipe::FIX);
  isa::TStoreAcc s;
  s.dst = view(2, isa::ElementType::f32, m, n), s.src = c;
  k.add(Pipe::FIX, s);
  std::vector<pto_arg> args{device.upload(randomValues<T>(m * kk, 1)), device.upload(randomValues<T>(kk * n, 2)),
                            device.upload(std::vector<float>(m * n))};
  EXPECT_EQ(device.run(k, args), PTO_OK) << device.error();
  return device.download<float>(args[2]);
}

template <class T> void expectSameBits(const std::vector<T> &a, const std::vector<T> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(sameBits(a[i], b[i])) << i << ": " << double(a[i]) << " " << double(b[i]);
}

TEST(Levels, TheChosenLibraryComputesTheBaselinesBits) {
  const pto_device_api *chosen = libraryApi("libpto_cmodel.so");
  ASSERT_NE(chosen, nullptr);
  EXPECT_EQ(chosen->abi_version, uint32_t(PTO_DEVICE_ABI_VERSION));
  EXPECT_STREQ(chosen->name, "cmodel");
  const pto_device_api *baseline = cmodel::levelApi();
  expectSameBits(vectorChain<float>(chosen), vectorChain<float>(baseline));
  expectSameBits(vectorChain<half>(chosen), vectorChain<half>(baseline));
  for (auto [m, k, n] : {std::array{45, 61, 40}, {1, 9, 8}, {17, 130, 100}, {3, 8, 17}}) {
    expectSameBits(product<float>(chosen, m, k, n), product<float>(baseline, m, k, n));
    expectSameBits(product<half>(chosen, m, k, n), product<half>(baseline, m, k, n));
  }
}

} // namespace
