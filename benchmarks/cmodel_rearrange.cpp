// Transposition, sorting, gather and copies between local and global memory, relative to memcpy of the same number of
// bytes.
#include "InsnBench.h"

namespace pto_mlir::benchmarks {
namespace {

constexpr uint32_t placeA = 0, placeB = 65536, placeD = 131072;
constexpr uint16_t rows = 64, cols = 128;

isa::Tile ub(ElementType type, uint32_t place, uint16_t r = rows, uint16_t c = cols) {
  return tile(type, Layout::ND, place, r, c);
}

/// Random numbers at A, descending indices at B.
void data(TestKernel &k) {
  k.add(Pipe::MTE2, isa::TLoad{ub(ElementType::f32, placeA), view(0, ElementType::f32, rows, cols), Memory::UB});
  k.sync(Pipe::MTE2, Pipe::V);
  k.add(Pipe::V,
        isa::TCi{tile(ElementType::u32, Layout::ND, placeB, 1, rows * cols), rows * cols - 1, isa::Switch::on});
}

void onV(const std::string &name, double bytes, Build insn, Build before = data) {
  benchmarkInsn(name, isa::CoreKind::AIV, Pipe::V, copies(bytes), std::move(insn), std::move(before));
}

template <class T> void ofType(const std::string &type) {
  ElementType t = typeOf<T>();
  constexpr double bytes = double(rows) * cols * sizeof(T);
  isa::Tile a = ub(t, placeA), d = ub(t, placeD), dn = tile(t, Layout::DN, placeD, rows, cols),
            indices = ub(ElementType::u32, placeB);
  onV("rearrange/ttrans/" + type, bytes,
      [=](TestKernel &k) { k.add(Pipe::V, isa::TTrans{ub(t, placeD, cols, rows), a}); });
  onV("rearrange/tmov ND to DN/" + type, bytes, [=](TestKernel &k) { k.add(Pipe::V, isa::TMov{dn, a}); });
  onV("rearrange/tconcat/" + type, bytes, [=](TestKernel &k) {
    isa::Tile left = tile(t, Layout::ND, placeA, rows, cols, rows, 72),
              right = tile(t, Layout::ND, placeB, rows, cols, rows, 56);
    k.add(Pipe::V, isa::TConcat{d, left, right});
  });
  onV("rearrange/tfillpad/" + type, bytes, [=](TestKernel &k) {
    isa::Tile from = tile(t, Layout::ND, placeA, rows, cols, rows, 90), to = d;
    to.pad = isa::Pad::zero;
    k.add(Pipe::V, isa::TFillpad{to, from});
  });
  onV("gather/tgather/" + type, bytes, [=](TestKernel &k) { k.add(Pipe::V, isa::TGather{d, a, indices}); });
  onV("gather/tscatter/" + type, bytes, [=](TestKernel &k) { k.add(Pipe::V, isa::TScatter{d, a, indices}); });
  onV("gather/tgather_mask p0101/" + type, bytes / 2, [=](TestKernel &k) {
    isa::Tile half = ub(t, placeD, rows, cols / 2);
    k.add(Pipe::V, isa::TGatherMask{half, a, isa::MaskPattern::p0101, isa::PatternAxis::cols});
  });
}

void sorting() {
  auto f32 = ElementType::f32;
  constexpr uint16_t n = 1024; // per row
  isa::Tile scores = tile(f32, Layout::ND, placeA, 1, n), indices = tile(ElementType::u32, Layout::ND, placeB, 1, n);
  isa::Tile records = tile(f32, Layout::ND, placeD, 1, 2 * n), merged = tile(f32, Layout::ND, placeB, 1, 2 * n);
  onV("sort/tsort32/f32 1024", 8.0 * n, [=](TestKernel &k) { k.add(Pipe::V, isa::TSort32{records, scores, indices}); });
  auto sorted = [=](TestKernel &k) {
    data(k);
    k.add(Pipe::V, isa::TSort32{records, scores, indices});
  };
  onV(
      "sort/tmrgsort of 32/f32 1024", 8.0 * n,
      [=](TestKernel &k) { k.add(Pipe::V, isa::TMrgsort{merged, records, 64}); }, sorted);
  onV(
      "sort/tmrgsort4 lists/f32 4x128", 8.0 * 512,
      [=](TestKernel &k) {
        isa::TMrgsort4 m{};
        isa::Tile *lists[] = {&m.src0, &m.src1, &m.src2, &m.src3};
        for (unsigned i = 0; i < 4; ++i)
          *lists[i] = tile(f32, Layout::ND, 1024 * i, 1, 256);
        m.dst = tile(f32, Layout::ND, placeD, 1, 1024), m.counts = 1;
        k.add(Pipe::V, m);
      },
      [=](TestKernel &k) {
        sorted(k);
        k.add(Pipe::V, isa::TMrgsort{tile(f32, Layout::ND, placeA, 1, 2 * n), records, 64});
      });
}

void movement() {
  auto f32 = ElementType::f32;
  for (auto [r, c, nz] : {std::tuple(96, 88, false), {96, 88, true}, {96, 8, true}, {128, 512, true}})
    benchmarkInsn(std::string("movement/tload") + (nz ? " ND to NZ/" : "/") + "f32 " + std::to_string(r) + "x" +
                      std::to_string(c),
                  nz ? isa::CoreKind::AIC : isa::CoreKind::AIV, Pipe::MTE2, copies(4.0 * r * c), [=](TestKernel &k) {
                    isa::Tile to = tile(f32, nz ? Layout::NZ : Layout::ND, 0, boxes(r), uint16_t(c), r);
                    k.add(Pipe::MTE2, isa::TLoad{to, view(0, f32, r, c), nz ? Memory::L1 : Memory::UB});
                  });
  benchmarkInsn("movement/tstore/f32 64x128", isa::CoreKind::AIV, Pipe::MTE3, copies(4.0 * rows * cols),
                [=](TestKernel &k) {
                  isa::TStore s{};
                  s.dst = view(1, f32, rows, cols), s.src = ub(f32, 0), s.space = Memory::UB;
                  k.add(Pipe::MTE3, s);
                });
  isa::Tile column = tile(ElementType::u32, Layout::DN, placeB, rows, 1);
  auto indices = [=](TestKernel &k) {
    data(k);
    k.add(Pipe::V, isa::TCi{tile(ElementType::u32, Layout::ND, placeB, 1, rows), rows - 1, isa::Switch::on});
    k.sync(Pipe::V, Pipe::MTE2);
  };
  benchmarkInsn(
      "movement/mgather by rows/f32 64x128", isa::CoreKind::AIV, Pipe::MTE2, copies(4.0 * rows * cols),
      [=](TestKernel &k) {
        isa::Mgather g{};
        g.dst = ub(f32, placeD), g.src = view(0, f32, rows, cols), g.indices = column, g.unit = isa::IndexUnit::row;
        k.add(Pipe::MTE2, g);
      },
      indices);
}

} // namespace

void addRearrangingBenchmarks() {
  ofType<float>("f32 64x128");
  ofType<half>("f16 64x128");
  sorting();
  movement();
}

} // namespace pto_mlir::benchmarks
