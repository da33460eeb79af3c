//===- Template.cpp - the templates, and what they emit with --------------===//

#include "Template.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Support/MathExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::templates {

const Template *templateOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, const Template *>(op)
      .Case<top::TopKValuesOp, top::TopKIndicesOp>([](auto) { return &topKTemplate(); })
      .Case<top::GatherElementsOp>([](auto) { return &gatherElementsTemplate(); })
      .Case<top::ScatterOp>([](auto) { return &scatterTemplate(); })
      .Case<top::RepeatRowsOp>([](auto) { return &repeatRowsTemplate(); })
      .Case<top::TakeRowsOp>([](auto) { return &takeRowsTemplate(); })
      .Case<top::ReduceRowsOp>([](auto) { return &reduceRowsTemplate(); })
      .Case<top::TransposeRowsOp>([](auto) { return &transposeRowsTemplate(); })
      .Case<top::KernelOp>([](auto) { return &userKernelTemplate(); })
      .Default([](Operation *) { return nullptr; });
}

bool hasTemplate(Operation *op) { return templateOf(op); }

bool takesEachSize(Operation *op) { return hasTemplate(op) && templateOf(op)->takesEachSize(); }

std::string refusal(Operation *op, const pto::Target &target) { return templateOf(op)->refusal(op, target); }

std::string refusalByAll(Operation *op) {
  std::string reason;
  if (!hasTemplate(op))
    return reason;
  for (const pto::Target &target : pto::allTargets())
    if (!target.testOnly && (reason = refusal(op, target)).empty())
      break;
  return reason;
}

bool shareKernel(Operation *a, Operation *b) {
  if (auto first = dyn_cast<top::KernelOp>(a), second = dyn_cast<top::KernelOp>(b); first && second)
    return a->getOperands() == b->getOperands() && first.getBodies() == second.getBodies() &&
           first.getTypes() == second.getTypes() && first.getNumber() != second.getNumber();
  bool topK = isa<top::TopKValuesOp, top::TopKIndicesOp>(a) && isa<top::TopKValuesOp, top::TopKIndicesOp>(b);
  return topK && a->getName() != b->getName() && a->getOperands() == b->getOperands() &&
         a->getAttrDictionary() == b->getAttrDictionary();
}

bool isStoredIn32Bits(Type element) {
  if (element.isUnsignedInteger())
    return !element.isInteger(64);
  return element.isInteger(1) || element.isInteger(8) || element.isInteger(64);
}

unsigned storedBits(Type element) { return isStoredIn32Bits(element) ? 32 : element.getIntOrFloatBitWidth(); }

Matrix asRows(Type tensor, unsigned number) {
  auto type = cast<RankedTensorType>(tensor);
  Matrix matrix;
  matrix.arg = number;
  matrix.element = type.getElementType();
  matrix.cols = type.getRank() ? type.getShape().back() : 1;
  matrix.rows = type.getNumElements() / matrix.cols;
  return matrix;
}

LogicalResult EmittedTemplate::fill(func::FuncOp kernel, int64_t blocks, ArrayRef<kernels::Sizes> sizes,
                                    ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
                                    ArrayRef<unsigned> results) const {
  KernelEmitter emitter(kernel, blocks);
  emitter.sizes.assign(sizes.begin(), sizes.end());
  build(emitter, ops, arguments, results);
  return success();
}

KernelEmitter::KernelEmitter(func::FuncOp func, int64_t blocks) : Emitter(func) { cores = blocks; }

int64_t KernelEmitter::coreCount() const { return (cores ? cores : arch.blocks) * arch.vectorCores; }

Ix KernelEmitter::extentOf(unsigned argument, unsigned first, unsigned end) {
  return size(kernels::product(ArrayRef(sizes[argument]).slice(first, end - first), context()));
}

void KernelEmitter::share(Ix count, Body body) {
  auto index = [&](Value number) -> Value { return b.create<arith::IndexCastOp>(loc, b.getIndexType(), number); };
  Value lane = index(b.create<pto::GetSubBlockIdxOp>(loc)), lanes = index(b.create<pto::GetSubBlockNumOp>(loc));
  Value first = lane, step = lanes;
  if (cores != 1) {
    Value block = index(b.create<pto::GetBlockIdxOp>(loc)), blocks = index(b.create<pto::GetBlockNumOp>(loc));
    first = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, block, lanes), lane);
    step = b.create<arith::MulIOp>(loc, blocks, lanes);
  }
  auto loop = b.create<scf::ForOp>(loc, first, value(count), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(isConstantIntValue(count, 1) ? constant(0) : Ix(loop.getInductionVar()));
}

Value KernelEmitter::vec(int64_t rows, int64_t columns, Type element, pto::PadValue pad) {
  auto type = pto::makeVecTile(context(), rows, roundUp(columns, pto::getC0(element)), element).withPad(pad);
  return tile(type, constant(type.getRows()), constant(type.getCols()));
}

Value KernelEmitter::row(Value tile, Ix row) {
  auto type = cast<pto::TileBufType>(tile.getType());
  if (type.getRows() == 1)
    return tile;
  return b.create<pto::SubsetOp>(loc, tile, ValueRange{value(row), value(constant(0))},
                                 ArrayRef<int64_t>{1, type.getCols()});
}

Value KernelEmitter::reshaped(Value tile, int64_t rows, int64_t columns) {
  auto type = cast<pto::TileBufType>(tile.getType());
  if (type.getRows() == rows && type.getCols() == columns)
    return tile;
  return b.create<pto::TReshapeOp>(loc, pto::makeVecTile(context(), rows, columns, type.getElementType()), tile);
}

Value KernelEmitter::as(Value tile, Type element) {
  auto type = cast<pto::TileBufType>(tile.getType());
  return type.getElementType() == element
             ? tile
             : b.create<pto::BitcastOp>(loc, type.withElementType(element), tile).getResult();
}

Value KernelEmitter::scalar(Type element, double number) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(argument(0).getParentBlock());
  TypedAttr attribute = isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, number))
                                                : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(number)));
  return b.create<arith::ConstantOp>(loc, attribute);
}

Value KernelEmitter::i32(Ix x) {
  if (auto known = getConstantIntValue(x))
    return scalar(b.getI32Type(), static_cast<double>(*known));
  return b.create<arith::IndexCastOp>(loc, b.getI32Type(), value(x));
}

void KernelEmitter::fill(Value tile, double number) {
  Type element = cast<pto::TileBufType>(tile.getType()).getElementType();
  b.create<pto::TExpandSOp>(loc, scalar(element, number), tile);
}

void KernelEmitter::convert(Value from, Value to) { b.create<pto::TCvtOp>(loc, from, to, pto::RoundMode::CAST_RINT); }

void KernelEmitter::store(Value tile, Value view) {
  b.create<pto::TStoreOp>(loc, tile, view, pto::ReluPreMode::no_relu);
}

} // namespace pto_mlir::templates
