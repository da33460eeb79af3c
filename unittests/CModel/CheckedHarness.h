// Kernels for the checked mode on vector cores, and a device to run them on.
#ifndef PTO_MLIR_UNITTESTS_CMODEL_CHECKEDHARNESS_H
#define PTO_MLIR_UNITTESTS_CMODEL_CHECKEDHARNESS_H

#include "TestKernel.h"

namespace pto_mlir::cmodel::test {

inline isa::Tile ub(uint32_t address, uint16_t rows = 4, uint16_t cols = 16, int64_t validRows = -1,
                    int64_t validCols = -1) {
  return tile(isa::ElementType::f32, isa::Layout::ND, address, rows, cols, validRows, validCols);
}
inline isa::TLoad load(isa::Tile dst, isa::View src) { return {dst, src, isa::Memory::UB}; }
inline isa::TStore store(isa::View dst, isa::Tile src, isa::AtomicMode atomic = isa::AtomicMode::none) {
  isa::TStore s;
  s.dst = dst, s.src = src, s.space = isa::Memory::UB, s.atomic = atomic;
  return s;
}
inline isa::View whole(uint8_t arg) { return view(arg, isa::ElementType::f32, 4, 16); }

/// The part of an argument that belongs to this sub-block; `ownPart` computes its offset for MTE3.
inline isa::View mine(int64_t rows = 4, uint8_t arg = 1) {
  isa::View v = view(arg, isa::ElementType::f32, rows, 16);
  v.offset = isa::Value::reg(0);
  return v;
}
inline void ownPart(TestKernel &k) {
  k.add(isa::Pipe::MTE3, isa::Get{0, isa::Query::subblock_idx})
      .add(isa::Pipe::MTE3, isa::Mul{0, isa::Value::reg(0), 256});
}

struct Checked {
  TestDevice device;
  explicit Checked(const char *processor = nullptr) : device(1, levelApi(), "checked", processor) {}
  /// Runs on x = 0, 1, ... and arguments of 512 bytes that the host never writes.
  pto_status run(const TestKernel &k, uint32_t blocks = 1) {
    std::vector<float> x(64);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i);
    args = {device.upload(x)};
    while (args.size() < k.numArgs) {
      args.push_back({0, 512});
      EXPECT_EQ(device.api->alloc(device.context, 512, &args.back().address), PTO_OK);
    }
    return device.run(k, args, blocks);
  }
  std::string kind() { return device.fault().kind; }
  std::string message() { return device.fault().message; }
  std::vector<pto_arg> args;
};

inline void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

} // namespace pto_mlir::cmodel::test

#endif
