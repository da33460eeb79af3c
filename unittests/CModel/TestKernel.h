// Builds kernels from instruction structs and runs them through the C API of the device.
#ifndef PTO_MLIR_UNITTESTS_CMODEL_TESTKERNEL_H
#define PTO_MLIR_UNITTESTS_CMODEL_TESTKERNEL_H

#include "Levels/Api.h"
#include "pto_mlir/ISA/Codec.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace pto_mlir::cmodel::test {

/// Builds the command streams of one kernel, instruction by instruction.
class TestKernel {
public:
  explicit TestKernel(isa::CoreKind kind, uint32_t numArgs) : kind(kind), numArgs(numArgs) {}

  template <class I> TestKernel &add(isa::Pipe pipe, const I &insn) {
    auto error = isa::tryEncode(insn, words[{kind, pipe}]);
    EXPECT_FALSE(error) << *error;
    return *this;
  }
  /// Makes `to` wait until `from` has completed its preceding instructions.
  TestKernel &sync(isa::Pipe from, isa::Pipe to, int id = 0) {
    add(from, isa::SetFlag{from, to, id});
    return add(to, isa::WaitFlag{from, to, id});
  }
  TestKernel &on(isa::CoreKind k) {
    kind = k;
    return *this;
  }
  /// Index of the first word of the next instruction in a stream.
  size_t position(isa::Pipe pipe) { return words[{kind, pipe}].size(); }

  isa::CoreKind kind;
  uint32_t numArgs;
  std::map<std::pair<isa::CoreKind, isa::Pipe>, std::vector<uint32_t>> words;
};

/// A device context with typed buffers.
class TestDevice {
public:
  explicit TestDevice(uint32_t threads = 1, const pto_device_api *functions = levelApi(),
                      const char *mode = "functional", const char *processor = nullptr)
      : api(functions) {
    pto_device_options options{processor, mode, threads};
    EXPECT_EQ(api->open(&options, &context), PTO_OK);
  }
  ~TestDevice() { api->close(context); }

  template <class T> pto_arg upload(const std::vector<T> &values) {
    pto_arg arg{0, values.size() * sizeof(T)};
    EXPECT_EQ(api->alloc(context, arg.bytes, &arg.address), PTO_OK);
    EXPECT_EQ(api->copy_to_device(context, arg.address, values.data(), arg.bytes), PTO_OK);
    return arg;
  }
  template <class T> std::vector<T> download(const pto_arg &arg) {
    std::vector<T> values(arg.bytes / sizeof(T));
    EXPECT_EQ(api->copy_from_device(context, values.data(), arg.address, arg.bytes), PTO_OK);
    return values;
  }

  pto_status load(const TestKernel &kernel, uint32_t &id) {
    std::vector<pto_stream> streams;
    for (const auto &[key, words] : kernel.words)
      streams.push_back({uint32_t(key.first), uint32_t(key.second), words.data(), words.size()});
    pto_kernel_desc desc{"test", streams.data(), streams.size(), kernel.numArgs};
    return api->load_kernel(context, &desc, &id);
  }
  pto_status run(const TestKernel &kernel, const std::vector<pto_arg> &args, uint32_t blocks = 1,
                 const std::vector<int64_t> &scalars = {}) {
    uint32_t id = 0;
    if (pto_status status = load(kernel, id))
      return status;
    if (pto_status status = api->launch(context, id, blocks, args.data(), args.size(), scalars.data(), scalars.size()))
      return status;
    pto_status status = api->synchronize(context);
    api->unload_kernel(context, id);
    return status;
  }
  std::string error() { return api->last_error(context); }
  pto_fault fault() {
    pto_fault f;
    api->fault(context, &f);
    return f;
  }
  pto_profile profile() {
    pto_profile p;
    api->profile(context, &p, 1);
    return p;
  }

  const pto_device_api *api;
  pto_device_context *context = nullptr;
};

// --- operands ---

/// A tile operand; without a valid region the whole box is valid.
inline isa::Tile tile(isa::ElementType type, isa::Layout layout, uint32_t address, uint16_t rows, uint16_t cols,
                      int64_t validRows = -1, int64_t validCols = -1) {
  isa::Tile t;
  t.type = type;
  t.layout = layout;
  t.address = address;
  t.rows = rows;
  t.cols = cols;
  t.validRows = validRows < 0 ? rows : validRows;
  t.validCols = validCols < 0 ? cols : validCols;
  return t;
}

/// A contiguous row-major matrix in argument `arg`.
inline isa::View view(uint8_t arg, isa::ElementType type, int64_t rows, int64_t cols, int64_t rowStride = -1,
                      int64_t offset = 0) {
  isa::View v;
  v.arg = arg;
  v.type = type;
  v.rank = 2;
  v.offset = offset;
  v.sizes[0] = rows;
  v.sizes[1] = cols;
  v.strides[0] = rowStride < 0 ? cols : rowStride;
  v.strides[1] = 1;
  return v;
}

inline std::vector<float> randomFloats(size_t n, uint32_t seed, float low = -4.0f, float high = 4.0f) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> dist(low, high);
  std::vector<float> v(n);
  for (float &x : v)
    x = dist(engine);
  return v;
}

} // namespace pto_mlir::cmodel::test

#endif
