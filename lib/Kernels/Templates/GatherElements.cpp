//===- GatherElements.cpp - elements of rows by the rows' own indices -----===//
//
// Rows of the data lie in UB; each row of indices selects from its row there.
//
//===----------------------------------------------------------------------===//

#include "Template.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::templates {

namespace {

constexpr int64_t kMostIndices = 2048; ///< of a piece

/// Bytes of data that are in UB at a time: with two buffers half of what tiles may take.
int64_t dataBytes(const pto::Target &target) { return target.tileBytes / 2; }

/// See Template::refusal.
std::string refusalOf(RankedTensorType data, const pto::Target &target) {
  Type element = data.getElementType();
  unsigned bits = storedBits(element);
  if (bits != 16 && bits != 32)
    return "elements of 16 and 32 bits can be gathered";
  int64_t bytes = data.getShape().back() * (bits / 8);
  if (bytes > dataBytes(target))
    return "a row has " + std::to_string(bytes) + " bytes; " + std::to_string(dataBytes(target)) + " are the most on " +
           target.name;
  return "";
}

class GatherElements final : public EmittedTemplate {
public:
  std::string refusal(Operation *op, const pto::Target &target) const override {
    return refusalOf(cast<RankedTensorType>(op->getOperand(0).getType()), target);
  }

  void build(KernelEmitter &e, ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
             ArrayRef<unsigned> results) const override {
    Operation *op = ops.front();
    Matrix data = asRows(op->getOperand(0).getType(), arguments[0]),
           indices = asRows(op->getOperand(1).getType(), arguments[1]),
           out = asRows(op->getResult(0).getType(), results[0]);
    int64_t rowBytes = roundUp<int64_t>(data.cols * (pto::getElementBits(data.element) / 8), 32);
    int64_t columns = std::min(indices.cols, kMostIndices);
    // Short rows side by side, but not so many that cores are left without.
    int64_t together = std::max<int64_t>(
        1, std::min({dataBytes(e.arch) / 2 / rowBytes, kMostIndices / columns, data.rows / e.coreCount()}));
    e.share(ceilDiv(data.rows, together), [&](Ix piece) {
      Ix row = e.mul(piece, together), rows = e.extent(row, together, data.rows);
      Value source = e.vec(together, data.cols, data.element);
      Ix zero = e.constant(0);
      e.load(e.part(data, row, zero, rows, e.constant(data.cols)), e.valid(source, rows, e.constant(data.cols)));
      e.loop(e.constant(ceilDiv(indices.cols, columns)), 1, [&](Ix number) {
        Ix column = e.mul(number, columns), count = e.extent(column, columns, indices.cols);
        Value from = e.vec(together, columns, e.b.getI32Type()), to = e.vec(together, columns, data.element);
        Value given = e.valid(from, rows, count);
        e.load(e.part(indices, row, column, rows, count), given);
        fromBegin(e, given, data.cols, e.valid(e.vec(together, columns, e.b.getI32Type()), rows, count));
        Value scratch = e.vec(1, columns, e.b.getI32Type());
        Ix one = e.constant(1);
        e.loop(rows, 1, [&](Ix r) {
          e.b.create<pto::TGatherOp>(e.loc, e.row(source, r), e.valid(e.row(to, r), one, count), Value(),
                                     e.valid(e.row(from, r), one, count), scratch, Value(), pto::MaskPatternAttr(),
                                     pto::CmpModeAttr(), IntegerAttr());
        });
        e.store(e.valid(to, rows, count), e.part(out, row, column, rows, count));
      });
    });
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  /// Indices in [0, size), of which negative ones count from the end.
  static void fromBegin(KernelEmitter &e, Value indices, int64_t size, Value scratch) {
    Type i32 = e.b.getI32Type();
    // size times whether an index is negative
    e.b.create<pto::TMinSOp>(e.loc, indices, e.scalar(i32, 0), scratch);
    e.b.create<pto::TMaxSOp>(e.loc, scratch, e.scalar(i32, -1), scratch);
    e.b.create<pto::TMulSOp>(e.loc, scratch, e.scalar(i32, -double(size)), scratch);
    e.b.create<pto::TAddOp>(e.loc, indices, scratch, indices);
    e.b.create<pto::TMaxSOp>(e.loc, indices, e.scalar(i32, 0), indices);
    e.b.create<pto::TMinSOp>(e.loc, indices, e.scalar(i32, double(size - 1)), indices);
  }
};

} // namespace

bool gathersRows(RankedTensorType data) {
  return data.getRank() > 0 && llvm::all_of(pto::allTargets(), [&](const pto::Target &target) {
           return target.testOnly || refusalOf(data, target).empty();
         });
}

const Template &gatherElementsTemplate() {
  static const GatherElements instance;
  return instance;
}

} // namespace pto_mlir::templates
