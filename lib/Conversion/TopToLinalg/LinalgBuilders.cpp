//===- LinalgBuilders.cpp - helpers of the lowerings ----------------------===//

#include "LinalgBuilders.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {

Type computeType(Type type, bool wide) {
  if (type.isBF16() || (wide && type.isF16()))
    return Float32Type::get(type.getContext());
  return type;
}

Location innerLoc(Location loc) { return CallSiteLoc::get(UnknownLoc::get(loc.getContext()), loc); }

Value scalar(OpBuilder &builder, Location loc, Type type, double value) {
  TypedAttr attribute;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    attribute = FloatAttr::get(floatType, number);
  } else {
    attribute = builder.getIntegerAttr(type, static_cast<int64_t>(value));
  }
  return builder.create<arith::ConstantOp>(loc, attribute);
}

/// A constant of type `from` as a `type`: one that a narrower type cannot hold is rounded where it is used, for who
/// computes wide there.
static Value scalarFrom(OpBuilder &builder, Location loc, Type from, Type type, double value) {
  auto narrow = dyn_cast<FloatType>(type);
  if (narrow && from.isF32() && narrow.getWidth() < 32) {
    llvm::APFloat number(value);
    bool losesInfo = false;
    number.convert(narrow.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    if (losesInfo)
      return convertScalar(builder, loc, scalar(builder, loc, from, value), type);
  }
  return scalar(builder, loc, type, value);
}

Value convertScalar(OpBuilder &builder, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(type);
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = type.getIntOrFloatBitWidth();
  if (type.isInteger(1)) {
    Value zero = scalar(builder, loc, from, 0);
    if (fromFloat)
      return builder.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, value, zero);
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (fromFloat && toFloat) {
    if (fromBits == toBits) // f16 <-> bf16
      return convertScalar(builder, loc, convertScalar(builder, loc, value, builder.getF32Type()), type);
    if (fromBits < toBits)
      return builder.create<arith::ExtFOp>(loc, type, value);
    return builder.create<arith::TruncFOp>(loc, type, value);
  }
  // bf16 converts from and to f32 only.
  if (fromFloat != toFloat && (from.isBF16() || type.isBF16()))
    return convertScalar(builder, loc, convertScalar(builder, loc, value, builder.getF32Type()), type);
  if (fromFloat)
    return builder.create<arith::FPToSIOp>(loc, type, value);
  if (toFloat) {
    if (from.isInteger(1))
      return builder.create<arith::UIToFPOp>(loc, type, value);
    return builder.create<arith::SIToFPOp>(loc, type, value);
  }
  if (fromBits > toBits)
    return builder.create<arith::TruncIOp>(loc, type, value);
  if (from.isInteger(1))
    return builder.create<arith::ExtUIOp>(loc, type, value);
  return builder.create<arith::ExtSIOp>(loc, type, value);
}

Value empty(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type type) {
  return builder.create<tensor::EmptyOp>(innerLoc(loc), shape, type);
}

Value filled(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type type, double value) {
  loc = innerLoc(loc);
  Value init = builder.create<tensor::EmptyOp>(loc, shape, type);
  return builder.create<linalg::FillOp>(loc, scalar(builder, loc, type, value), init).getResult(0);
}

// The value of a small splat, which becomes a scalar of the body. Large splats are rare and detecting them reads all
// data, so they stay in memory.
static std::optional<double> smallSplat(Value operand) {
  bool isSmall = cast<RankedTensorType>(operand.getType()).getNumElements() <= top::kMaxInlineElements;
  return isSmall ? top::getSplat(operand) : std::nullopt;
}

Value elementwiseMapped(OpBuilder &builder, Location loc, RankedTensorType resultType, ValueRange operands,
                        ArrayRef<AffineMap> maps, Type compute, ElementFn body) {
  SmallVector<Value> tensors;
  SmallVector<AffineMap> usedMaps;
  SmallVector<std::optional<double>> scalars;
  for (auto [operand, map] : llvm::zip(operands, maps)) {
    std::optional<double> splat = smallSplat(operand);
    scalars.push_back(splat);
    if (!splat) {
      tensors.push_back(operand);
      usedMaps.push_back(map);
    }
  }
  int64_t rank = resultType.getRank();
  usedMaps.push_back(builder.getMultiDimIdentityMap(rank));
  Value init = empty(builder, loc, resultType.getShape(), resultType.getElementType());
  Location inner = innerLoc(loc);
  return builder
      .create<linalg::GenericOp>(
          loc, resultType, tensors, init, usedMaps,
          SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
          [&](OpBuilder &b, Location, ValueRange args) {
            SmallVector<Value> elements;
            unsigned next = 0;
            for (auto [operand, splat] : llvm::zip(operands, scalars)) {
              Type type = compute ? compute : getElementTypeOrSelf(operand.getType());
              elements.push_back(splat ? scalarFrom(b, inner, getElementTypeOrSelf(operand.getType()), type, *splat)
                                       : convertScalar(b, inner, args[next++], type));
            }
            Value result = body(b, inner, elements);
            b.create<linalg::YieldOp>(inner, convertScalar(b, inner, result, resultType.getElementType()));
          })
      .getResult(0);
}

Value elementwise(OpBuilder &builder, Location loc, RankedTensorType resultType, ValueRange operands, Type compute,
                  ElementFn body) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  int64_t rank = resultType.getRank();
  for (Value operand : operands) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
    int64_t missing = rank - static_cast<int64_t>(shape.size());
    if (shape == resultType.getShape()) {
      inputs.push_back(operand);
      maps.push_back(builder.getMultiDimIdentityMap(rank));
      continue;
    }
    SmallVector<AffineExpr> exprs;
    SmallVector<int64_t> kept;
    for (auto [index, size] : llvm::enumerate(shape)) {
      int64_t loop = missing + static_cast<int64_t>(index);
      if (size != 1) {
        exprs.push_back(builder.getAffineDimExpr(loop));
        kept.push_back(size);
      }
    }
    // Drop unit dimensions from the operand, which are broadcast.
    if (kept.size() != shape.size())
      operand = smallSplat(operand) ? operand : reshape(builder, innerLoc(loc), operand, kept);
    inputs.push_back(operand);
    maps.push_back(AffineMap::get(rank, 0, exprs, builder.getContext()));
  }
  return elementwiseMapped(builder, loc, resultType, inputs, maps, compute, body);
}

Value reduce(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> axes, Type accumulator, double initial,
             ElementFn body) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t rank = type.getRank();
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  for (int64_t axis : axes)
    iterators[axis] = utils::IteratorType::reduction;
  SmallVector<AffineExpr> exprs;
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (iterators[dim] == utils::IteratorType::parallel) {
      exprs.push_back(builder.getAffineDimExpr(dim));
      shape.push_back(type.getDimSize(dim));
    }
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(rank),
                              AffineMap::get(rank, 0, exprs, builder.getContext())};
  Value init = filled(builder, loc, shape, accumulator, initial);
  Location inner = innerLoc(loc);
  return builder
      .create<linalg::GenericOp>(loc, init.getType(), input, init, maps, iterators,
                                 [&](OpBuilder &b, Location, ValueRange args) {
                                   Value element = convertScalar(b, inner, args[0], accumulator);
                                   Value result = body(b, inner, {element, args[1]});
                                   b.create<linalg::YieldOp>(inner, result);
                                 })
      .getResult(0);
}

Value convertTensor(OpBuilder &builder, Location loc, Value value, Type type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getElementType() == type)
    return value;
  auto to = RankedTensorType::get(from.getShape(), type);
  if (std::optional<top::Weight> weight = top::getConstant(value))
    return top::createConstant(builder, innerLoc(loc), "converted", to,
                               top::fromDoubles(type, top::toDoubles(*weight)));
  return elementwise(builder, loc, to, value, type, [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

Value joinAround(OpBuilder &builder, Location loc, Value value, size_t first, size_t end) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  return reshape(builder, loc, value,
                 {ShapedType::getNumElements(shape.take_front(first)),
                  ShapedType::getNumElements(shape.slice(first, end - first)),
                  ShapedType::getNumElements(shape.drop_front(end))});
}

Value reshape(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getShape() == shape)
    return value;
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (std::optional<SmallVector<ReassociationIndices>> groups = getReassociationIndicesForReshape(from, to)) {
    if (from.getRank() > to.getRank())
      return builder.create<tensor::CollapseShapeOp>(loc, to, value, *groups);
    if (from.getRank() < to.getRank())
      return builder.create<tensor::ExpandShapeOp>(loc, to, value, *groups);
  }
  ReassociationIndices everything = llvm::to_vector(llvm::seq<int64_t>(0, from.getRank()));
  auto flat = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  Value line = value;
  if (from.getRank() == 0)
    line = builder.create<tensor::ExpandShapeOp>(loc, flat, value, ArrayRef<ReassociationIndices>());
  else if (from.getRank() > 1)
    line = builder.create<tensor::CollapseShapeOp>(loc, flat, value, ArrayRef{everything});
  if (to.getRank() == 1)
    return line;
  if (to.getRank() == 0)
    return builder.create<tensor::CollapseShapeOp>(loc, to, line, ArrayRef<ReassociationIndices>());
  everything = llvm::to_vector(llvm::seq<int64_t>(0, to.getRank()));
  return builder.create<tensor::ExpandShapeOp>(loc, to, line, ArrayRef{everything});
}

Value pad(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
          double constant) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    shape[dim] += low[dim] + high[dim];
  SmallVector<OpFoldResult> lows = getAsIndexOpFoldResult(builder.getContext(), low);
  SmallVector<OpFoldResult> highs = getAsIndexOpFoldResult(builder.getContext(), high);
  Value border = scalar(builder, innerLoc(loc), type.getElementType(), constant);
  return builder.create<tensor::PadOp>(loc, RankedTensorType::get(shape, type.getElementType()), value, lows, highs,
                                       border);
}

FailureOr<ImageWindow> ImageWindow::get(Operation *op, StringRef layout, RankedTensorType input) {
  if (layout != "NHWC") {
    op->emitOpError("has layout NCHW; run top-layout before convert-top-to-linalg");
    return failure();
  }
  int64_t spatial = input.getRank() - 2;
  if (spatial != 1 && spatial != 2) {
    op->emitOpError("has ") << spatial << " spatial dimensions; one and two are supported";
    return failure();
  }
  auto func = op->getParentOfType<func::FuncOp>();
  bool upright = spatial == 1 && input.getDimSize(0) == 1 && func && func->hasAttr(top::kSymbolsAttr);
  return ImageWindow(spatial, upright);
}

SmallVector<int64_t> ImageWindow::numbers(ArrayRef<int64_t> values, int64_t missing) const {
  SmallVector<int64_t> result(values);
  if (spatial == 1)
    result.insert(upright ? result.end() : result.begin(), missing);
  return result;
}

std::pair<SmallVector<int64_t>, SmallVector<int64_t>> ImageWindow::pads(ArrayRef<int64_t> values) const {
  return {numbers(values.take_front(spatial), 0), numbers(values.drop_front(spatial), 0)};
}

SmallVector<int64_t> ImageWindow::shape(ArrayRef<int64_t> shape, unsigned height) const {
  SmallVector<int64_t> result(shape);
  if (spatial == 1)
    result.insert(result.begin() + height + upright, 1);
  return result;
}

std::optional<int64_t> ImageWindow::ownDim(int64_t dim) const {
  if (spatial == 2)
    return dim;
  return dim == (upright ? 0 : 1) ? std::optional<int64_t>(0) : std::nullopt;
}

} // namespace pto_mlir::top_to_linalg
