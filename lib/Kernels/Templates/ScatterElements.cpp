//===- ScatterElements.cpp - single elements replaced or combined ---------===//
//
// As Scatter.cpp, for rows of one element: a core has a stretch of the elements
// in UB. Replacing is one scattering instruction, for which places outside of the
// stretch become places beside it; combining goes element by element on engine S.
//
//===----------------------------------------------------------------------===//

#include "Scatter.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::templates {

namespace {

constexpr int64_t kMostElements = 8192, kLeastElements = 1024; ///< elements of a stretch
constexpr int64_t kUpdates = 2048;                             ///< of a batch
constexpr int64_t kBeside = 32; ///< places before and behind the stretch that nobody reads: a block of any type

class ElementScatter {
public:
  ElementScatter(KernelEmitter &e, const ScatterArguments &given)
      : e(e), given(given), one(e.constant(1)), zero(e.constant(0)), element(given.data.element), size(given.data.rows),
        count(given.updates.rows) {
    // Places have 32 bits, and the instruction takes them as wide as the elements: f32 holds all narrower ones.
    bool isNarrow = given.reduction == "none" && pto::getElementBits(element) < 32;
    if (isa<FloatType>(element) || isNarrow)
      element = e.b.getF32Type();
  }

  void run() {
    width = std::clamp(roundUp<int64_t>(ceilDiv(size, e.coreCount()), kBlock), kLeastElements, kMostElements);
    batch = std::min(roundUp<int64_t>(count, kBlock), kUpdates);
    e.share(ceilDiv(size, width), [&](Ix piece) {
      Ix first = e.mul(piece, width);
      stretch(first, e.extent(first, width, size));
    });
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  static Matrix asRow(Matrix column) {
    std::swap(column.rows, column.cols);
    return column;
  }

  /// Elements of `column` from `first` on, converted into `tile`.
  void load(const Matrix &column, Ix first, Ix columns, Value tile, int64_t most) {
    Value target = e.valid(tile, one, columns), raw = target;
    if (column.element != element)
      raw = e.valid(e.vec(1, most, column.element), one, columns);
    e.load(e.part(asRow(column), zero, first, one, columns), raw);
    if (raw != target)
      e.convert(raw, target);
  }

  void stretch(Ix first, Ix columns) {
    Value kept = e.vec(1, width + 2 * kBeside, element);
    Value middle = e.b.create<pto::SubViewOp>(
        e.loc, cast<pto::TileBufType>(kept.getType()).withShape(1, width).withValid(1, width), kept,
        ValueRange{e.value(zero), e.value(e.constant(kBeside))}, Value(), Value(), e.b.getI64ArrayAttr({1, width}));
    load(given.data, first, columns, middle, width);
    e.loop(e.constant(ceilDiv(count, batch)), 1, [&](Ix number) {
      Ix begin = e.mul(number, batch), updates = e.extent(begin, batch, count);
      Value values = e.vec(1, batch, element), places = e.vec(1, batch, e.b.getI32Type());
      load(given.updates, begin, updates, values, batch);
      Matrix positions;
      positions.arg = given.positions;
      positions.element = e.b.getI32Type();
      positions.cols = count;
      e.load(e.part(positions, zero, begin, one, updates), e.valid(places, one, updates));
      if (given.reduction == "none")
        replace(first, updates, values, places, kept);
      else
        combine(first, columns, updates, values, places, middle);
    });
    Value result = e.valid(middle, one, columns);
    if (given.out.element != element) {
      Value narrow = e.valid(e.vec(1, width, given.out.element), one, columns);
      e.convert(result, narrow);
      result = narrow;
    }
    e.store(result, e.part(asRow(given.out), zero, first, one, columns));
  }

  void replace(Ix first, Ix updates, Value values, Value places, Value kept) {
    Type i32 = e.b.getI32Type();
    Value there = e.valid(places, one, updates);
    e.b.create<pto::TSubSOp>(e.loc, there, e.i32(first), there);
    e.b.create<pto::TMaxSOp>(e.loc, there, e.scalar(i32, -1), there);
    e.b.create<pto::TMinSOp>(e.loc, there, e.scalar(i32, static_cast<double>(width)), there);
    e.b.create<pto::TAddSOp>(e.loc, there, e.scalar(i32, kBeside), there);
    e.b.create<pto::TScatterOp>(e.loc, e.valid(values, one, updates), there, kept);
  }

  void combine(Ix first, Ix columns, Ix updates, Value values, Value places, Value middle) {
    e.loop(updates, 1, [&](Ix i) {
      auto get = [&](Type type, Value tile, Ix at) {
        return e.b.create<pto::TGetValOp>(e.loc, type, tile, e.value(at)).getResult();
      };
      Value place = get(e.b.getI32Type(), places, i);
      Ix at = e.sub(e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), place).getResult(), first);
      e.ifZero(
          isInside(e, at, columns), [] {},
          [&] {
            Value combined = apply(get(element, middle, at), get(element, values, i));
            e.b.create<pto::TSetValOp>(e.loc, middle, e.value(at), combined);
          });
    });
  }

  Value apply(Value x, Value y) {
    bool real = isa<FloatType>(element);
    StringRef reduction = given.reduction;
    auto binary = [&](auto whole, auto floating) -> Value {
      return real ? e.b.create<typename decltype(floating)::type>(e.loc, x, y).getResult()
                  : e.b.create<typename decltype(whole)::type>(e.loc, x, y).getResult();
    };
    if (reduction == "add")
      return binary(std::type_identity<arith::AddIOp>(), std::type_identity<arith::AddFOp>());
    if (reduction == "mul")
      return binary(std::type_identity<arith::MulIOp>(), std::type_identity<arith::MulFOp>());
    if (reduction == "max")
      return binary(std::type_identity<arith::MaxSIOp>(), std::type_identity<arith::MaximumFOp>());
    return binary(std::type_identity<arith::MinSIOp>(), std::type_identity<arith::MinimumFOp>());
  }

  KernelEmitter &e;
  const ScatterArguments &given;
  Ix one, zero;
  Type element; ///< of the computation
  int64_t size, count, width = kMostElements, batch = kUpdates;
};

} // namespace

void buildElementScatter(KernelEmitter &e, const ScatterArguments &given) { ElementScatter(e, given).run(); }

} // namespace pto_mlir::templates
