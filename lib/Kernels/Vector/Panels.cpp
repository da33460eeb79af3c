//===- Panels.cpp - a part of what a vector kernel computes ---------------===//

#include "Panels.h"

#include "../Reshapes.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::vector_kernels {

/// Of the row of a matrix that has a single one.
constexpr unsigned kNoClass = std::numeric_limits<unsigned>::max();

/// Whether the kernel has only elementwise ops and reductions.
static bool isPlain(func::FuncOp kernel) {
  if (!kernel.getBody().hasOneBlock())
    return false;
  return llvm::all_of(kernel.getBody().front(), [](Operation &op) {
    if (auto generic = dyn_cast<linalg::LinalgOp>(op))
      return !isWindowOp(&op) && !generic
                                      ->walk([](Operation *inner) {
                                        return isa<linalg::IndexOp, tensor::ExtractOp>(inner) ? WalkResult::interrupt()
                                                                                              : WalkResult::advance();
                                      })
                                      .wasInterrupted();
    return isReshape(&op) || isa<tensor::EmptyOp, func::ReturnOp>(op) ||
           (isa<arith::ConstantOp>(op) && !isa<TensorType>(op.getResult(0).getType()));
  });
}

std::optional<Panels> Panels::of(func::FuncOp kernel, unsigned argument, int64_t rows, int64_t columns,
                                 const PhaseContext &context) {
  if (!isPlain(kernel))
    return std::nullopt;
  Panels panels;
  panels.body = OwningOpRef<func::FuncOp>(kernel.clone());
  if (failed(normalizeShapes(*panels.body, context, argument)) || !panels.read(argument, rows, columns))
    return std::nullopt;
  return panels;
}

bool Panels::readClasses(ArrayRef<linalg::LinalgOp> ops) {
  Domain domain(ops);
  for (linalg::LinalgOp op : ops) {
    SmallVector<unsigned> &loops = loopsOf[op] = domain.loopClasses(op);
    auto note = [&](Value value, AffineMap map) {
      if (!isa<RankedTensorType>(value.getType()) || value.getDefiningOp<tensor::EmptyOp>())
        return true;
      SmallVector<unsigned> dims;
      for (AffineExpr expr : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim)
          return false;
        dims.push_back(loops[dim.getPosition()]);
      }
      return classesOf.try_emplace(value, dims).first->second == dims;
    };
    for (OpOperand &operand : op->getOpOperands())
      if (!note(operand.get(), op.getMatchingIndexingMap(&operand)))
        return false;
    for (OpResult result : op->getResults())
      if (!note(result, op.getIndexingMapMatchingResult(result)))
        return false;
  }
  return true;
}

std::optional<SmallVector<unsigned>> Panels::dimsOf(Value value) const {
  SmallVector<unsigned> dims;
  for (unsigned cls : classesOf.lookup(value)) {
    unsigned place = llvm::find(classes, cls) - classes.begin();
    if (place == classes.size() || (!dims.empty() && place <= dims.back()))
      return std::nullopt;
    dims.push_back(place);
  }
  return dims;
}

namespace {
/// The reshapes between a kernel's ops and its arguments and results.
class Reshapes {
public:
  Value behind(Value value) {
    while (value.hasOneUse() && isReshape(*value.user_begin())) {
      passed.insert(*value.user_begin());
      value = (*value.user_begin())->getResult(0);
    }
    return value;
  }
  Value inFrontOf(Value value) {
    while (isReshape(value.getDefiningOp()) && value.hasOneUse()) {
      passed.insert(value.getDefiningOp());
      value = value.getDefiningOp()->getOperand(0);
    }
    return value;
  }
  bool areAllOf(Block &block) const {
    return llvm::all_of(block, [&](Operation &op) { return !isReshape(&op) || passed.contains(&op); });
  }

private:
  llvm::SmallDenseSet<Operation *> passed;
};
} // namespace

bool Panels::read(unsigned argument, int64_t rows, int64_t columns) {
  Block &block = body->getBody().front();
  auto ops = llvm::to_vector(block.getOps<linalg::LinalgOp>());
  if (!isPlain(*body) || !readClasses(ops))
    return false;
  Reshapes reshapes;
  SmallVector<Value> ends, returned;
  for (BlockArgument arg : block.getArguments())
    ends.push_back(reshapes.behind(arg));
  for (Value operand : block.getTerminator()->getOperands())
    returned.push_back(reshapes.inFrontOf(operand));
  unsigned firstOutput = ends.size() - returned.size();
  bool isMade = argument >= firstOutput;
  Value matrix = isMade ? returned[argument - firstOutput] : ends[argument];
  if (!isMade)
    std::rotate(ends.begin(), ends.begin() + argument, ends.begin() + argument + 1);
  return readMatrix(matrix, rows, columns) && readOps(ops) && readArguments(ends) && readResults(returned) &&
         reshapes.areAllOf(block);
}

bool Panels::readMatrix(Value matrix, int64_t rows, int64_t columns) {
  auto type = cast<RankedTensorType>(matrix.getType());
  classes = classesOf.lookup(matrix);
  extents.assign(type.getShape().begin(), type.getShape().end());
  // Unit dimensions are gone: a single row has columns alone, and nothing is told apart by its row.
  if (rows == 1 && classes.size() == 1) {
    classes.insert(classes.begin(), kNoClass);
    extents.insert(extents.begin(), 1);
  }
  elements = double(rows * columns);
  return classes.size() >= 2 && extents.back() == columns && type.getNumElements() == rows * columns;
}

bool Panels::readOps(ArrayRef<linalg::LinalgOp> ops) {
  for (linalg::LinalgOp op : ops) {
    double computed = 1;
    for (auto [cls, iterator] : llvm::zip_equal(loopsOf.lookup(op), op.getIteratorTypesArray())) {
      unsigned place = llvm::find(classes, cls) - classes.begin();
      if (place == classes.size())
        return false;
      computed *= extents[place];
      if (iterator != utils::IteratorType::reduction)
        continue;
      if (place != columnPlace())
        return false;
      ++reduced;
    }
    int64_t steps = llvm::count_if(op.getBlock()->without_terminator(),
                                   [](Operation &inner) { return !isa<arith::ConstantOp>(inner); });
    work += steps * computed / elements;
  }
  return true;
}

bool Panels::readArguments(ArrayRef<Value> ends) {
  for (Value end : ends) {
    auto dims = dimsOf(end);
    if (!dims || (dims->empty() && !end.use_empty()))
      return false;
    arguments.push_back({end, *dims, !end.use_empty()});
    auto type = cast<RankedTensorType>(end.getType());
    moved += double(type.getNumElements()) * type.getElementTypeBitWidth() / 8 / elements;
  }
  return true;
}

bool Panels::readResults(ArrayRef<Value> returned) {
  for (Value result : returned) {
    auto dims = dimsOf(result);
    // Panels must store disjoint elements.
    if (!result.getDefiningOp<linalg::LinalgOp>() || !dims || dims->size() < rowPlace() + 1 ||
        dims->back() < rowPlace())
      return false;
    // Normalization may leave the output alone; it comes back when the kernel of the panel is tiled.
    Argument &output = arguments[arguments.size() - returned.size() + results.size()];
    if (!output.used)
      output = {output.end, *dims, true};
    results.push_back(result);
  }
  return true;
}

RankedTensorType Panels::typeOf(ArrayRef<unsigned> dims, Type element, int64_t rows, int64_t columns) const {
  SmallVector<int64_t> shape;
  for (unsigned place : dims)
    shape.push_back(place == columnPlace() ? columns : place == rowPlace() ? rows : 1);
  return RankedTensorType::get(shape, element);
}

SmallVector<int64_t> Panels::steps(unsigned i) const {
  const Argument &argument = arguments[i];
  SmallVector<int64_t> list = {0};
  int64_t stride = 1;
  for (unsigned place : llvm::reverse(argument.dims)) {
    if (place == columnPlace()) {
      list[0] = stride;
    } else {
      int64_t div = 1;
      for (unsigned later = place + 1; later <= rowPlace(); ++later)
        div *= extents[later];
      list.append({div, place == 0 ? 0 : extents[place], stride});
    }
    stride *= extents[place];
  }
  return argument.used ? list : SmallVector<int64_t>{0};
}

/// Says on the kernel of a panel, whose arguments have rows as the given places, that their number is its size.
static void setAnyRows(func::FuncOp panel, int64_t rows, ArrayRef<ArrayRef<unsigned>> places) {
  MLIRContext *context = panel.getContext();
  panel->setAttr(pto::kGreatestSizesAttr, DenseI64ArrayAttr::get(context, rows));
  for (auto [i, dims] : llvm::enumerate(places)) {
    auto type = cast<RankedTensorType>(panel.getArgumentTypes()[i]);
    SmallVector<AffineExpr> sizes;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      sizes.push_back(dim < dims.size() && dims[dim] == 0 ? getAffineSymbolExpr(0, context)
                                                          : getAffineConstantExpr(size, context));
    panel.setArgAttr(i, pto::kSizesAttr, AffineMapAttr::get(AffineMap::get(0, 1, sizes, context)));
  }
}

func::FuncOp Panels::make(StringRef name, int64_t rows, int64_t columns, int64_t pitch, bool anyRows) {
  OpBuilder b(body->getContext());
  SmallVector<Type> argTypes, resultTypes;
  SmallVector<int64_t> pitches;
  for (const Argument &argument : arguments) {
    Type type = argument.end.getType();
    argTypes.push_back(argument.used ? typeOf(argument.dims, getElementTypeOrSelf(type), rows, columns) : type);
    bool matrix = llvm::is_contained(argument.dims, rowPlace()) && llvm::is_contained(argument.dims, columnPlace());
    pitches.push_back(!matrix ? 0 : pitches.empty() ? pitch : extents.back());
  }
  for (Value result : results)
    resultTypes.push_back(typeOf(*dimsOf(result), getElementTypeOrSelf(result.getType()), rows, columns));
  auto func = b.create<func::FuncOp>(body->getLoc(), name, FunctionType::get(b.getContext(), argTypes, resultTypes));
  func.setPrivate();
  func->setAttr(pto::kKernelKindAttr, pto::KernelKindAttr::get(b.getContext(), pto::KernelKind::vector));
  func->setAttr(pto::kPanelAttr, b.getUnitAttr());
  if (columns != extents.back())
    func->setAttr(pto::kPitchesAttr, b.getDenseI64ArrayAttr(pitches));

  if (anyRows) {
    SmallVector<ArrayRef<unsigned>> places;
    for (const Argument &argument : arguments)
      places.push_back(argument.used ? ArrayRef(argument.dims) : ArrayRef<unsigned>());
    setAnyRows(func, rows, places);
  }
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  for (auto [argument, inner] : llvm::zip_equal(arguments, entry->getArguments()))
    mapping.map(argument.end, inner);
  for (Operation &op : body->getBody().front().without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      b.clone(op, mapping);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      continue;
    for (auto [init, result] : llvm::zip_equal(linalgOp.getDpsInits(), op.getResults()))
      if (init.getDefiningOp<tensor::EmptyOp>()) {
        auto type = typeOf(*dimsOf(result), getElementTypeOrSelf(result.getType()), rows, columns);
        mapping.map(init, b.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType()).getResult());
      }
    Operation *copy = b.clone(op, mapping);
    for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults()))
      to.setType(typeOf(*dimsOf(from), getElementTypeOrSelf(from.getType()), rows, columns));
  }
  SmallVector<Value> returned;
  for (Value result : results)
    returned.push_back(mapping.lookup(result));
  b.create<func::ReturnOp>(func.getLoc(), returned);
  return func;
}

} // namespace pto_mlir::vector_kernels
