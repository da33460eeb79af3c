// Elementwise instructions, comparisons, reductions, broadcasts and conversions, relative to plain loops.
#include "InsnBench.h"

#include <type_traits>

namespace pto_mlir::benchmarks {
namespace {

constexpr uint32_t placeA = 0, placeB = 65536, placeD = 131072; // 64 KiB apart

template <class T> const char *nameOf() { return isa::elementName(typeOf<T>()); }

/// 64 KiB of random f32 numbers at each source; their bits also serve as integers.
void randomData(TestKernel &k) {
  for (uint32_t place : {placeA, placeB, placeD})
    k.add(Pipe::MTE2, isa::TLoad{tile(ElementType::f32, Layout::ND, place, 64, 128), view(0, ElementType::f32, 64, 128),
                                 Memory::UB});
  k.sync(Pipe::MTE2, Pipe::V);
}

/// f16 needs its own data: the halves of random f32 patterns contain many infinities.
void randomHalves(TestKernel &k) {
  randomData(k);
  for (uint32_t place : {placeA, placeB}) {
    isa::TCvt cvt{};
    cvt.dst = tile(ElementType::f16, Layout::ND, place, 64, 128),
    cvt.src = tile(ElementType::f32, Layout::ND, placeD, 64, 128);
    k.add(Pipe::V, cvt);
  }
}

template <class T> struct Tiles {
  uint16_t rows, cols;
  int64_t valid;
  ElementType type = typeOf<T>();
  isa::Tile a = tile(type, Layout::ND, placeA, rows, cols, rows, valid), b = at(a, placeB), d = at(a, placeD);
  isa::Tile row = tile(type, Layout::ND, placeB, 1, cols, 1, valid),
            column = tile(type, Layout::DN, placeB, boxes(rows), 1, rows, 1);
  isa::Tile mask = tile(ElementType::u8, Layout::ND, placeD, rows, 128);

  static isa::Tile at(isa::Tile t, uint32_t place) {
    t.address = place;
    return t;
  }
};

/// The instruction with its operands set by field name.
template <class I, class T> I make(const Tiles<T> &t) {
  I i{};
  if constexpr (requires { i.dst; })
    i.dst = t.d;
  if constexpr (requires {
                  i.src0;
                  i.src1;
                })
    i.src0 = t.a, i.src1 = t.b;
  else if constexpr (requires { i.src; })
    i.src = t.a;
  if constexpr (requires { i.scalar; })
    i.scalar = std::is_integral_v<T> ? 3 : 0x3f800000;
  return i;
}

template <class T> Work plain(const Tiles<T> &t) {
  size_t n = size_t(t.rows) * size_t(t.valid);
  return {double(n), "elements", [n] { return addRate<T>(n); }};
}

template <class T> void run(const std::string &family, const char *name, const Tiles<T> &t, Work work, Build insn) {
  std::string what = std::string(nameOf<T>()) + " " + std::to_string(t.rows) + "x" + std::to_string(t.valid);
  Build data = std::is_same_v<T, half> ? randomHalves : randomData;
  benchmarkInsn(family + "/" + name + "/" + what, isa::CoreKind::AIV, Pipe::V, std::move(work), std::move(insn), data);
}

template <class I, class T> void simple(const std::string &family, Tiles<T> t, Work work) {
  run(family, isa::infoOf(isa::OpcodeOf<I>::value).mnemonic, t, std::move(work),
      [=](TestKernel &k) { k.add(Pipe::V, make<I>(t)); });
}

template <class I, class... T> void elementwise() {
  (simple<I, T>("elementwise", {64, 128, 128}, plain(Tiles<T>{64, 128, 128})), ...);
}

template <class I, class... T> void fused() {
  constexpr size_t n = 64 * 128;
  (simple<I, T>("elementwise", {64, 128, 128}, {double(n), "elements", [] { return multiplyAddLoopRate<T>(n); }}), ...);
}

template <class I> void function(Function f) {
  constexpr size_t n = 64 * 128;
  simple<I, float>("functions", {64, 128, 128}, {double(n), "elements", [f] { return functionRate(f, n, false); }});
  simple<I, half>("functions", {64, 128, 128}, {double(n), "elements", [f] { return functionRate(f, n, true); }});
}

/// `dst` returns the result tile for a source tile. Argument reductions return integers.
template <class I, class... T> void reduction(const char *family, auto dst) {
  (run(family, isa::infoOf(isa::OpcodeOf<I>::value).mnemonic, Tiles<T>{64, 128, 128}, plain(Tiles<T>{64, 128, 128}),
       [t = Tiles<T>{64, 128, 128}, dst](TestKernel &k) {
         I i = make<I>(t);
         i.dst = dst(t);
         if constexpr (std::is_same_v<I, isa::TRowargmax> || std::is_same_v<I, isa::TColargmax>)
           i.dst.type = ElementType::u32;
         k.add(Pipe::V, i);
       }),
   ...);
}
template <class I, class... T> void rowReduction() {
  reduction<I, T...>("row reductions", [](const auto &t) { return t.column; });
}
template <class I, class... T> void columnReduction() {
  reduction<I, T...>("column reductions", [](const auto &t) { return t.row; });
}

template <class I, class... T> void expansion(bool ofRows) {
  (run("expands", isa::infoOf(isa::OpcodeOf<I>::value).mnemonic, Tiles<T>{64, 128, 128}, plain(Tiles<T>{64, 128, 128}),
       [t = Tiles<T>{64, 128, 128}, ofRows](TestKernel &k) {
         I i = make<I>(t);
         if constexpr (requires { i.src1; })
           i.src1 = ofRows ? t.column : t.row;
         else
           i.src = ofRows ? t.column : t.row;
         k.add(Pipe::V, i);
       }),
   ...);
}

/// Converts random numbers of type T to `dst`.
template <class T> void conversion(ElementType dst) {
  Tiles<T> t{64, 128, 128};
  isa::TCvt cvt{};
  cvt.dst = t.d, cvt.src = t.a, cvt.rounding = isa::RoundMode::rint, cvt.saturate = isa::Switch::on;
  cvt.dst.type = dst;
  double bytes = 64.0 * 128 * std::max(isa::elementBits(dst), isa::elementBits(t.type)) / 8;
  run("conversions", ("tcvt to " + std::string(isa::elementName(dst))).c_str(), t, copies(bytes),
      [=](TestKernel &k) { k.add(Pipe::V, cvt); });
}

} // namespace

void addVectorBenchmarks() {
  using namespace isa;
  elementwise<TAdd, float, half, int32_t, int16_t>();
  for (Tiles<float> t : {Tiles<float>{1, 8, 8}, Tiles<float>{64, 88, 88}, Tiles<float>{64, 96, 90}})
    simple<TAdd, float>("elementwise", t, plain(t));
  elementwise<TSub, float, half>();
  elementwise<TMul, float, half>();
  elementwise<TDiv, float, half>();
  elementwise<TMax, float, half>();
  elementwise<TMin, float, half>();
  elementwise<TAnd, int32_t, int16_t>();
  elementwise<TPrelu, float, half>();
  fused<TMuladddst, float, half>();
  fused<TFusedmuladd, float, half>();
  fused<TAxpy, float, half>();
  elementwise<TSubrelu, float, half>();
  elementwise<TPartadd, float, half>();
  elementwise<TAdds, float, half, int32_t>();
  elementwise<TMuls, float, half>();
  elementwise<TMaxs, float, half>();
  elementwise<TDivs, float, half>();
  elementwise<TLrelu, float, half>();
  elementwise<TAbs, float, half>();
  elementwise<TNeg, float, half>();
  elementwise<TRelu, float, half>();
  elementwise<TMov, float, half>();
  elementwise<TExpands, float, half>();
  function<TExp>(Function::Exp);
  function<TLog>(Function::Log);
  function<TSqrt>(Function::Sqrt);
  function<TRsqrt>(Function::ReciprocalSqrt);
  function<TRecip>(Function::Reciprocal);

  auto compare = [&]<class T>(T) {
    Tiles<T> t{64, 128, 128};
    run("compare and select", "tcmp", t, plain(t),
        [=](TestKernel &k) { k.add(Pipe::V, TCmp{t.mask, t.a, t.b, CompareMode::lt}); });
    run("compare and select", "tcmps", t, plain(t),
        [=](TestKernel &k) { k.add(Pipe::V, TCmps{t.mask, t.a, 0, CompareMode::lt}); });
    run("compare and select", "tsel", t, plain(t), [=](TestKernel &k) { k.add(Pipe::V, TSel{t.a, t.mask, t.a, t.b}); });
    run("compare and select", "tsels", t, plain(t), [=](TestKernel &k) { k.add(Pipe::V, TSels{t.a, t.mask, t.a, 0}); });
  };
  compare(float());
  compare(half());

  rowReduction<TRowsum, float, half, int32_t>();
  rowReduction<TRowmax, float, half>();
  rowReduction<TRowprod, float, half>();
  rowReduction<TRowargmax, float, half>();
  columnReduction<TColsum, float, half, int32_t>();
  columnReduction<TColmax, float, half>();
  columnReduction<TColargmax, float, half>();

  expansion<TRowexpand, float, half>(true);
  expansion<TRowexpandmul, float, half>(true);
  expansion<TRowexpandsub, float, half>(true);
  expansion<TRowexpanddiv, float, half>(true);
  expansion<TRowexpandexpdif, float, half>(true);
  expansion<TColexpand, float, half>(false);
  expansion<TColexpandadd, float, half>(false);
  expansion<TColexpandmul, float, half>(false);

  for (auto to : {ElementType::f16, ElementType::bf16, ElementType::i32, ElementType::i16})
    conversion<float>(to);
  for (auto to : {ElementType::f32, ElementType::i32, ElementType::i8, ElementType::u8})
    conversion<half>(to);
  conversion<int32_t>(ElementType::f32);
  conversion<int16_t>(ElementType::f32);
  Tiles<float> t{64, 128, 128};
  Tile bytes = tile(ElementType::i8, Layout::ND, placeD, 64, 128);
  run("conversions", "tquant to i8", t, copies(64 * 128 * 4),
      [=](TestKernel &k) { k.add(Pipe::V, TQuant{bytes, t.a, t.column, 0}); });
  run("conversions", "tdequant of i8", t, copies(64 * 128 * 4), [=](TestKernel &k) {
    Tile from = bytes;
    from.address = placeA;
    k.add(Pipe::V, TDequant{t.d, from, t.column, t.column});
  });
}

} // namespace pto_mlir::benchmarks
