// The cube core: products relative to multiply-adds in registers, loads and stores of the cube relative to memcpy.
#include "InsnBench.h"

namespace pto_mlir::benchmarks {
namespace {

std::string shape(std::initializer_list<int> dims) {
  std::string text;
  for (int d : dims)
    text += (text.empty() ? "" : "x") + std::to_string(d);
  return text;
}

Work flops(double n) {
  return {n, "flop", [] {
            static const double peak = multiplyAddRate();
            return peak;
          }};
}

void onCube(const std::string &name, Pipe pipe, Work work, Build insn, Build before = nullptr) {
  benchmarkInsn(name, isa::CoreKind::AIC, pipe, std::move(work), std::move(insn), std::move(before));
}

void product(ElementType type, uint16_t m, uint16_t k, uint16_t n) {
  ElementType acc = type == ElementType::i8 ? ElementType::i32 : ElementType::f32;
  std::string what = std::string(isa::elementName(type)) + " " + shape({m, k, n});
  onCube("cube/tmatmul/" + what, Pipe::M, flops(2.0 * m * k * n), [=](TestKernel &t) {
    t.add(Pipe::M, isa::TMatmul{tile(acc, Layout::NZ16, 0, boxes(m), boxes(n), m, n),
                                tile(type, Layout::ZZ, 0, boxes(m), (k + 31) / 32 * 32, m, k),
                                tile(type, Layout::ZN, 0, (k + 31) / 32 * 32, boxes(n), k, n)});
  });
}

/// A product whose operands are extracted from L1 each time, so that they are packed each time.
void fedProduct(ElementType type, uint16_t m, uint16_t k, uint16_t n) {
  std::string what = std::string(isa::elementName(type)) + " " + shape({m, k, n});
  Work work = flops(2.0 * m * k * n * repeats);
  benchmarkKernel("cube/textract_l0a textract_l0b tmatmul/" + what, work, [=] {
    TestKernel t(isa::CoreKind::AIC, 2);
    isa::Tile a = tile(type, Layout::ZZ, 0, m, k), b = tile(type, Layout::ZN, 0, k, n);
    isa::Tile left = tile(type, Layout::NZ, 0, m, k), right = tile(type, Layout::NZ, 262144, k, n);
    t.add(Pipe::MTE1, isa::SetFlag{Pipe::MTE1, Pipe::M, 1}).add(Pipe::M, isa::WaitFlag{Pipe::MTE1, Pipe::M, 1});
    t.add(Pipe::MTE1, isa::Loop{0, 0, repeats, 1})
        .add(Pipe::MTE1, isa::TExtractL0a{a, left, 0, 0})
        .add(Pipe::MTE1, isa::TExtractL0b{b, right, 0, 0});
    t.add(Pipe::MTE1, isa::SetFlag{Pipe::MTE1, Pipe::M, 0})
        .add(Pipe::MTE1, isa::WaitFlag{Pipe::M, Pipe::MTE1, 0})
        .add(Pipe::MTE1, isa::End{});
    t.add(Pipe::M, isa::Loop{0, 0, repeats, 1}).add(Pipe::M, isa::WaitFlag{Pipe::MTE1, Pipe::M, 0});
    t.add(Pipe::M, isa::TMatmul{tile(ElementType::f32, Layout::NZ16, 0, m, n), a, b});
    t.add(Pipe::M, isa::SetFlag{Pipe::M, Pipe::MTE1, 0}).add(Pipe::M, isa::End{});
    return t;
  });
}

/// 3 x 3 windows of a 32 x 32 image with 64 channels, a tile of 128 pixels by 64 columns at a time.
void img2col(ElementType type, uint32_t stride) {
  double bytes = 128.0 * 64 * isa::elementBits(type) / 8;
  std::string what = std::string(isa::elementName(type)) + " stride " + std::to_string(stride);
  onCube("img2col/timg2col/" + what, Pipe::MTE1, copies(bytes), [=](TestKernel &k) {
    isa::TImg2col i;
    i.dst = tile(type, Layout::ZZ, 0, 128, 64), i.src = tile(type, Layout::NZ, 0, 1024, 64);
    i.posM = 0, i.posK = 64, i.height = 32, i.padTop = 1, i.padBottom = 1;
    i.width = 32, i.channels = 64, i.kernelH = i.kernelW = 3, i.strideH = i.strideW = stride;
    i.dilationH = i.dilationW = 1, i.padLeft = i.padRight = 1;
    k.add(Pipe::MTE1, i);
  });
}

void extraction(ElementType type) {
  double bytes = 128.0 * 128 * isa::elementBits(type) / 8;
  std::string what = std::string(isa::elementName(type)) + " 128x128";
  isa::Tile src = tile(type, Layout::NZ, 0, 128, 128), zn = tile(type, Layout::ZN, 0, 128, 128);
  onCube("extraction/textract_l0a/" + what, Pipe::MTE1, copies(bytes),
         [=](TestKernel &k) { k.add(Pipe::MTE1, isa::TExtractL0a{tile(type, Layout::ZZ, 0, 128, 128), src, 0, 0}); });
  onCube("extraction/textract_l0b/" + what, Pipe::MTE1, copies(bytes),
         [=](TestKernel &k) { k.add(Pipe::MTE1, isa::TExtractL0b{zn, src, 0, 0}); });
  onCube("extraction/textract_l0b of ZN/" + what, Pipe::MTE1, copies(bytes),
         [=](TestKernel &k) { k.add(Pipe::MTE1, isa::TExtractL0b{zn, zn, 0, 0}); });
}

void fixpipe() {
  auto f32 = ElementType::f32;
  auto acc = [&](uint16_t r, uint16_t c) { return tile(f32, Layout::NZ16, 0, r, boxes(c), r, c); };
  for (auto [r, c, type] : {std::tuple(96, 88, f32), {96, 8, f32}, {128, 256, f32}, {128, 256, ElementType::f16}})
    onCube("fixpipe/tstore_acc/" + std::string(isa::elementName(type)) + " " + shape({r, c}), Pipe::FIX,
           copies(4.0 * r * c), [=](TestKernel &k) {
             isa::TStoreAcc s{};
             s.dst = view(1, type, r, c), s.src = acc(uint16_t(r), uint16_t(c));
             k.add(Pipe::FIX, s);
           });
  onCube("fixpipe/tstore_acc_quant/i8 128x256", Pipe::FIX, copies(4.0 * 128 * 256), [=](TestKernel &k) {
    isa::TStoreAccQuant s{};
    s.dst = view(1, ElementType::i8, 128, 256), s.src = acc(128, 256), s.descriptorLow = 0x3f800000,
    s.descriptorHigh = 1 << 14;
    k.add(Pipe::FIX, s);
  });
  onCube("fixpipe/tmov_acc/f16 128x256", Pipe::FIX, copies(4.0 * 128 * 256), [=](TestKernel &k) {
    k.add(Pipe::FIX, isa::TMovAcc{tile(ElementType::f16, Layout::NZ, 0, 128, 256), acc(128, 256), isa::ReluMode::relu});
  });
}

} // namespace

void addCubeBenchmarks() {
  product(ElementType::f32, 128, 64, 128);
  product(ElementType::f32, 96, 8, 8);
  product(ElementType::f32, 96, 88, 16);
  product(ElementType::f32, 96, 16, 88);
  product(ElementType::f32, 1, 200, 56);
  product(ElementType::f16, 128, 128, 128);
  product(ElementType::f16, 96, 88, 16);
  product(ElementType::bf16, 128, 128, 128);
  product(ElementType::i8, 128, 128, 128);
  fedProduct(ElementType::f32, 128, 64, 128);
  fedProduct(ElementType::f32, 16, 64, 128);
  fedProduct(ElementType::f16, 128, 128, 128);
  img2col(ElementType::f32, 1);
  img2col(ElementType::f32, 2);
  img2col(ElementType::f16, 1);
  extraction(ElementType::f32);
  extraction(ElementType::f16);
  fixpipe();
}

} // namespace pto_mlir::benchmarks
