// pto engine functions -> commands -> simulator -> results, compared with plain loops.
#include "pto_mlir/Backend/Codegen.h"
#include "pto_mlir/Backend/CodegenOpInterface.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Runtime/DeviceABI.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <dlfcn.h>
#include <filesystem>
#include <random>

using namespace pto_mlir;

namespace {

// The simulator library next to this test.
const pto_device_api *simulator() {
  auto library =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib" / "libpto_cmodel.so";
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto get = handle ? reinterpret_cast<const pto_device_api *(*)()>(dlsym(handle, "pto_device_get_api")) : nullptr;
  return get ? get() : nullptr;
}

struct Device {
  const pto_device_api *api = simulator();
  pto_device_context *context = nullptr;

  Device() {
    pto_device_options options{"a3", "functional", 1};
    if (api)
      EXPECT_EQ(api->open(&options, &context), PTO_OK);
  }
  ~Device() {
    if (context)
      api->close(context);
  }

  // Runs the only kernel of `text` on `blocks` blocks; copies buffers in and out.
  void run(const char *text, uint32_t blocks, std::vector<std::vector<float>> &buffers) {
    ASSERT_NE(context, nullptr);
    mlir::DialectRegistry registry;
    registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect, pto::PTODialect>();
    backend::registerCodegenInterfaces(registry);
    mlir::MLIRContext mlirContext(registry);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &mlirContext);
    ASSERT_TRUE(module);
    auto kernels = backend::slicedKernels(*module);
    ASSERT_EQ(kernels.size(), 1u);
    auto loaded = backend::Backend::instance().load("a3");
    ASSERT_NE(loaded.processor, nullptr) << loaded.error;
    auto code = backend::generateKernel(kernels[0], *loaded.processor);
    ASSERT_TRUE(mlir::succeeded(code));

    std::vector<pto_stream> streams;
    for (const auto &stream : code->streams)
      streams.push_back({uint32_t(stream.core), uint32_t(stream.pipe), stream.words.data(), stream.words.size()});
    pto_kernel_desc desc{code->name.c_str(), streams.data(), streams.size(), code->numArgs};
    uint32_t kernel = 0;
    ASSERT_EQ(api->load_kernel(context, &desc, &kernel), PTO_OK) << api->last_error(context);
    std::vector<pto_arg> args;
    for (auto &buffer : buffers) {
      uint64_t address = 0;
      ASSERT_EQ(api->alloc(context, buffer.size() * 4, &address), PTO_OK);
      ASSERT_EQ(api->copy_to_device(context, address, buffer.data(), buffer.size() * 4), PTO_OK);
      args.push_back({address, buffer.size() * 4});
    }
    ASSERT_EQ(api->launch(context, kernel, blocks, args.data(), args.size(), nullptr, 0), PTO_OK)
        << api->last_error(context);
    ASSERT_EQ(api->synchronize(context), PTO_OK) << api->last_error(context);
    for (size_t i = 0; i < buffers.size(); ++i)
      ASSERT_EQ(api->copy_from_device(context, buffers[i].data(), args[i].address, buffers[i].size() * 4), PTO_OK);
  }
};

std::vector<float> random(size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(n);
  for (float &v : values)
    v = std::uniform_real_distribution<float>(-2, 2)(engine);
  return values;
}

// y = relu(x) of 37 x 61, 8 rows at a time, distributed over the vector cores, last rows and columns ragged. A single
// buffer, so that the next load waits for the store.
std::string reluKernel() {
  std::string head = R"(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c37 = arith.constant 37 : index
      %c61 = arith.constant 61 : index
      %a = arith.constant 4096 : i64
      %b = pto.get_block_idx
      %nb = pto.get_block_num
      %s = pto.get_subblock_idx
      %ns = pto.get_subblock_num
      %b2 = arith.muli %b, %ns : i64
      %id = arith.addi %b2, %s : i64
      %n64 = arith.muli %nb, %ns : i64
      %idx = arith.index_cast %id : i64 to index
      %cores = arith.index_cast %n64 : i64 to index
      %first = arith.muli %idx, %c8 : index
      %step = arith.muli %cores, %c8 : index
)";
  std::string body = R"(
      scf.for %i = %first to %c37 step %step {
        %left = arith.subi %c37, %i : index
        %n = arith.minsi %left, %c8 : index
        %t = pto.alloc_tile addr = %a valid_row = %n : !T
)";
  auto view = [](const char *arg) {
    return std::string("        %v = pto.make_tensor_view ") + arg +
           R"(, shape = [%c37, %c61], strides = [%c61, %c1] : !pto.tensor_view<37x61xf32>
        %p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%n, %c61] : !pto.tensor_view<37x61xf32> -> !pto.partition_tensor_view<?x61xf32>
)";
  };
  std::string args = "(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<";
  return "!T = !pto.tile_buf<vec, 8x64xf32, valid=?x61>\nmodule {\n  module @relu attributes {pto.kernel_kind = "
         "#pto.kernel_kind<vector>} {\n"
         "    func.func @mte2" +
         args + "PIPE_MTE2>} {" + head + body + view("%x") +
         "        pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]\n"
         "        pto.tload ins(%p : !pto.partition_tensor_view<?x61xf32>) outs(%t : !T)\n"
         "        pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n      }\n"
         "      pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]\n      return\n    }\n"
         "    func.func @v" +
         args + "PIPE_V>} {" + head + body +
         "        pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
         "        pto.trelu ins(%t : !T) outs(%t : !T)\n"
         "        pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n      }\n      return\n    }\n"
         "    func.func @mte3" +
         args + "PIPE_MTE3>} {" + head + "      pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]\n" + body +
         view("%y") +
         "        pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n"
         "        pto.tstore ins(%t : !T) outs(%p : !pto.partition_tensor_view<?x61xf32>)\n"
         "        pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]\n      }\n      return\n    }\n  }\n}\n";
}

TEST(Run, ReluOnSeveralCores) {
  Device device;
  ASSERT_NE(device.api, nullptr) << dlerror();
  for (uint32_t blocks : {1u, 2u, 24u}) {
    std::vector<float> x = random(37 * 61, blocks);
    std::vector<std::vector<float>> buffers{x, std::vector<float>(37 * 61, 7.f)};
    device.run(reluKernel().c_str(), blocks, buffers);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(buffers[1][i], std::max(x[i], 0.f)) << i << " on " << blocks;
  }
}

// y = relu(x * w + bias) of [5, 24] x [24, 20]: row-major in global memory, NZ in L1, ZZ and ZN in L0, stored by the
// fixpipe.
const char *kMatmul = R"(
!X = !pto.tile_buf<mat, 16x24xf32, valid=5x24, blayout=col_major, slayout=row_major>
!W = !pto.tile_buf<mat, 32x32xf32, valid=24x20, blayout=col_major, slayout=row_major>
!ROW = !pto.tile_buf<mat, 1x32xf32, valid=1x20>
!L = !pto.tile_buf<left, 16x24xf32, valid=5x24, slayout=row_major>
!R = !pto.tile_buf<right, 24x32xf32, valid=24x20, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, valid=5x20, blayout=col_major, slayout=row_major, fractal=1024>
!B = !pto.tile_buf<bias, 1x32xf32, valid=1x20>
module {
  module @matmul attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    func.func @mte2(%x: !pto.ptr<f32>, %w: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_MTE2>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %c20 = arith.constant 20 : index
      %c24 = arith.constant 24 : index
      %a0 = arith.constant 0 : i64
      %a4096 = arith.constant 4096 : i64
      %a8192 = arith.constant 8192 : i64
      %vx = pto.make_tensor_view %x, shape = [%c5, %c24], strides = [%c24, %c1] : !pto.tensor_view<5x24xf32>
      %px = pto.partition_view %vx, offsets = [%c0, %c0], sizes = [%c5, %c24] : !pto.tensor_view<5x24xf32> -> !pto.partition_tensor_view<5x24xf32>
      %vw = pto.make_tensor_view %w, shape = [%c24, %c20], strides = [%c20, %c1] : !pto.tensor_view<24x20xf32>
      %pw = pto.partition_view %vw, offsets = [%c0, %c0], sizes = [%c24, %c20] : !pto.tensor_view<24x20xf32> -> !pto.partition_tensor_view<24x20xf32>
      %vb = pto.make_tensor_view %b, shape = [%c1, %c20], strides = [%c20, %c1] : !pto.tensor_view<1x20xf32>
      %pb = pto.partition_view %vb, offsets = [%c0, %c0], sizes = [%c1, %c20] : !pto.tensor_view<1x20xf32> -> !pto.partition_tensor_view<1x20xf32>
      %tx = pto.alloc_tile addr = %a0 : !X
      %tw = pto.alloc_tile addr = %a4096 : !W
      %tb = pto.alloc_tile addr = %a8192 : !ROW
      pto.tload ins(%px : !pto.partition_tensor_view<5x24xf32>) outs(%tx : !X)
      pto.tload ins(%pw : !pto.partition_tensor_view<24x20xf32>) outs(%tw : !W)
      pto.tload ins(%pb : !pto.partition_tensor_view<1x20xf32>) outs(%tb : !ROW)
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      return
    }
    func.func @mte1(%x: !pto.ptr<f32>, %w: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_MTE1>} {
      %c0 = arith.constant 0 : index
      %a0 = arith.constant 0 : i64
      %a4096 = arith.constant 4096 : i64
      %a8192 = arith.constant 8192 : i64
      %tx = pto.alloc_tile addr = %a0 : !X
      %tw = pto.alloc_tile addr = %a4096 : !W
      %tb = pto.alloc_tile addr = %a8192 : !ROW
      %l = pto.alloc_tile addr = %a0 : !L
      %r = pto.alloc_tile addr = %a0 : !R
      %z = pto.alloc_tile addr = %a0 : !B
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.textract ins(%tx, %c0, %c0 : !X, index, index) outs(%l : !L)
      pto.textract ins(%tw, %c0, %c0 : !W, index, index) outs(%r : !R)
      pto.tmov ins(%tb : !ROW) outs(%z : !B)
      pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID3>]
      return
    }
    func.func @m(%x: !pto.ptr<f32>, %w: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_M>} {
      %a0 = arith.constant 0 : i64
      %l = pto.alloc_tile addr = %a0 : !L
      %r = pto.alloc_tile addr = %a0 : !R
      %z = pto.alloc_tile addr = %a0 : !B
      %c = pto.alloc_tile addr = %a0 : !A
      pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID3>]
      pto.tmatmul.bias ins(%l, %r, %z : !L, !R, !B) outs(%c : !A)
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      return
    }
    func.func @fix(%x: !pto.ptr<f32>, %w: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_FIX>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %c20 = arith.constant 20 : index
      %a0 = arith.constant 0 : i64
      %c = pto.alloc_tile addr = %a0 : !A
      %v = pto.make_tensor_view %y, shape = [%c5, %c20], strides = [%c20, %c1] : !pto.tensor_view<5x20xf32>
      %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c5, %c20] : !pto.tensor_view<5x20xf32> -> !pto.partition_tensor_view<5x20xf32>
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tstore ins(%c : !A) outs(%p : !pto.partition_tensor_view<5x20xf32>) {reluPreMode = #pto<relu_pre_mode normal_relu>}
      return
    }
  }
}
)";

TEST(Run, MatmulBiasRelu) {
  Device device;
  ASSERT_NE(device.api, nullptr) << dlerror();
  std::vector<std::vector<float>> buffers{random(5 * 24, 1), random(24 * 20, 2), random(20, 3),
                                          std::vector<float>(5 * 20, 7.f)};
  device.run(kMatmul, 1, buffers);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 20; ++j) {
      double sum = buffers[2][j];
      for (int k = 0; k < 24; ++k)
        sum += double(buffers[0][i * 24 + k]) * buffers[1][k * 20 + j];
      EXPECT_NEAR(buffers[3][i * 20 + j], std::max(sum, 0.0), 1e-5) << i << ", " << j;
    }
}

} // namespace
