//===- ConvertMemRefs.cpp - memref operands of tile ops to tiles, pointers, views ---------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#define DEBUG_TYPE "pto-convert-memrefs"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOCONVERTMEMREFS
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// The local memory of a memref; nullopt for global memory.
static std::optional<AddressSpace> localSpace(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  auto space = memref ? dyn_cast_or_null<AddressSpaceAttr>(memref.getMemorySpace()) : AddressSpaceAttr();
  if (!space || space.getValue() == AddressSpace::gm || space.getValue() == AddressSpace::zero)
    return std::nullopt;
  return space.getValue();
}

/// Rows and columns of a memref of any rank: all leading dimensions are collapsed into rows.
static std::pair<int64_t, int64_t> boxOf(MemRefType type) {
  int64_t cols = type.getRank() ? type.getShape().back() : 1;
  return {type.getRank() ? type.getNumElements() / std::max<int64_t>(cols, 1) : 1, cols};
}

/// Collapses contiguous leading dimensions into rows, as `boxOf` does: in a view with three or more dimensions the
/// leading ones would denote blocks of a layout, which memrefs do not have.
static void joinRows(SmallVector<OpFoldResult> &sizes, SmallVector<OpFoldResult> &strides, Builder b) {
  while (sizes.size() > 2) {
    std::optional<int64_t> outer = getConstantIntValue(sizes[0]), inner = getConstantIntValue(sizes[1]),
                           outerStride = getConstantIntValue(strides[0]), innerStride = getConstantIntValue(strides[1]);
    bool follows = outer && inner && outerStride && innerStride && *outerStride == *inner * *innerStride;
    if (!follows && outer != 1)
      return;
    if (follows)
      sizes[1] = b.getIndexAttr(*outer * *inner);
    sizes.erase(sizes.begin());
    strides.erase(strides.begin());
  }
}

/// The tile type of a memref in local memory, in the layout given by `config` or else expected by the instructions of
/// its memory.
static TileBufType tileType(MemRefType type, AddressSpace space, TileBufConfigAttr config, const Target &arch) {
  auto [rows, cols] = boxOf(type);
  MLIRContext *context = type.getContext();
  Type element = type.getElementType();
  TileBufType tile = makeVecTile(context, rows, cols, element);
  switch (space) {
  case AddressSpace::mat:
    tile = makeMatTile(context, rows, cols, element);
    break;
  case AddressSpace::left:
    tile = makeLeftTile(context, arch, rows, cols, element);
    break;
  case AddressSpace::right:
    tile = makeRightTile(context, rows, cols, element);
    break;
  case AddressSpace::acc:
    tile = makeAccTile(context, rows, cols, element);
    break;
  default:
    break;
  }
  if (config)
    return TileBufType::get(context, space, rows, cols, element, rows, cols, config.getBLayout(), config.getSLayout(),
                            config.getFractal(), config.getPad(), config.getCompact());
  return TileBufType::get(context, space, rows, cols, element, rows, cols, tile.getBLayout(), tile.getSLayout(),
                          tile.getFractal(), tile.getPad(), tile.getCompact());
}

namespace {
class Converter {
public:
  explicit Converter(func::FuncOp func) : func(func) {}
  LogicalResult run();

private:
  LogicalResult convert(Operation *op);
  /// Creates after `at` the view of `memref`, which begins at `ptr`.
  LogicalResult makeView(Operation *at, Value memref, Value ptr, SmallVector<OpFoldResult> sizes,
                         SmallVector<OpFoldResult> strides);
  Value index(OpBuilder &b, Location loc, OpFoldResult value);
  /// Creates before `op` a view of a contiguous memref as blocks of 16 rows and 32 bytes in column-major order (nz).
  Value blockView(Operation *op, Value ptr, MemRefType memref);

  func::FuncOp func;
  DenseMap<Value, MemRefType> arguments; // original types of converted arguments
  DenseMap<Value, Value> pointers;       // start pointers of memrefs in global memory
  DenseMap<Value, Value> operands;       // converted operands by memref
};
} // namespace

/// Whether a blocked UB tile reads the memref's memory as blocks: if so declared, or if rows have the width of one
/// block, for which both orders are equal.
static bool readsBlocks(Operation *op, MemRefType memref) {
  auto [rows, cols] = boxOf(memref);
  int64_t c0 = getC0(memref.getElementType());
  if (!memref.hasStaticShape() || !memref.getLayout().isIdentity() || rows % 16 != 0 || cols % c0 != 0)
    return false;
  bool boxed = llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto tile = dyn_cast<TileBufType>(type);
    return tile && tile.getLoc() == AddressSpace::vec && getTileLayout(tile) == TileLayout::NZ;
  });
  auto layout = op->getAttrOfType<LayoutAttr>("layout");
  return boxed && (cols == c0 || (layout && layout.getValue() == Layout::nz));
}

Value Converter::blockView(Operation *op, Value ptr, MemRefType memref) {
  OpBuilder b(op);
  auto [rows, cols] = boxOf(memref);
  int64_t c0 = getC0(memref.getElementType());
  SmallVector<int64_t> sizes = {1, cols / c0, rows / 16, 16, c0}, strides = {rows * cols, rows * c0, 16 * c0, c0, 1};
  SmallVector<Value> shape, pitch, zeros;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    shape.push_back(index(b, op->getLoc(), b.getIndexAttr(size)));
    pitch.push_back(index(b, op->getLoc(), b.getIndexAttr(stride)));
    zeros.push_back(index(b, op->getLoc(), b.getIndexAttr(0)));
  }
  Type element = memref.getElementType();
  Value view = b.create<MakeTensorViewOp>(op->getLoc(), TensorViewType::get(b.getContext(), sizes, element), ptr, shape,
                                          pitch, LayoutAttr::get(b.getContext(), Layout::nz));
  return b.create<PartitionViewOp>(op->getLoc(), PartitionTensorViewType::get(b.getContext(), sizes, element), view,
                                   zeros, shape);
}

Value Converter::index(OpBuilder &b, Location loc, OpFoldResult value) {
  if (auto constant = getConstantIntValue(value))
    return b.create<arith::ConstantIndexOp>(loc, *constant);
  return cast<Value>(value);
}

LogicalResult Converter::makeView(Operation *at, Value memref, Value ptr, SmallVector<OpFoldResult> sizes,
                                  SmallVector<OpFoldResult> strides) {
  OpBuilder b(at);
  b.setInsertionPointAfter(at);
  Location loc = at->getLoc();
  joinRows(sizes, strides, b);
  if (sizes.empty() || sizes.size() > 5)
    return at->emitError("makes a memref of rank ")
           << sizes.size() << " in global memory, which has to be 1 to 5 once gapless dimensions are joined";
  SmallVector<Value> shape, pitch, zeros;
  SmallVector<int64_t> dims;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    shape.push_back(index(b, loc, size));
    pitch.push_back(index(b, loc, stride));
    zeros.push_back(index(b, loc, b.getIndexAttr(0)));
    dims.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  }
  Type element = cast<PtrType>(ptr.getType()).getElementType();
  Value view = b.create<MakeTensorViewOp>(loc, TensorViewType::get(b.getContext(), dims, element), ptr, shape, pitch,
                                          LayoutAttr());
  pointers[memref] = ptr;
  operands[memref] =
      b.create<PartitionViewOp>(loc, PartitionTensorViewType::get(b.getContext(), dims, element), view, zeros, shape);
  return success();
}

LogicalResult Converter::convert(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    Value result = op->getResult(0);
    auto type = cast<MemRefType>(result.getType());
    auto space = localSpace(type);
    if (!space)
      return success(); // its users report the error
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      return op->emitOpError("allocates ") << type << "; a tile has constant sizes and no strides of its own";
    TileBufConfigAttr config;
    for (Operation *user : result.getUsers())
      if (auto bind = dyn_cast<BindTileOp>(user); bind && !config)
        config = bind.getConfig();
    operands[result] =
        b.create<AllocTileOp>(loc, tileType(type, *space, config, targetOf(func)), Value(), Value(), Value());
    return success();
  }
  if (auto bind = dyn_cast<BindTileOp>(op)) {
    // getSource() would assert that the operand is a memref; a converted argument is none.
    auto source = operands.find(op->getOperand(0));
    auto type = dyn_cast<MemRefType>(op->getOperand(0).getType());
    auto space = localSpace(type);
    if (source == operands.end())
      return success(); // its users report the error
    if (!space)
      return op->emitOpError("takes a memref in local memory, got ") << op->getOperand(0).getType();
    TileBufType bound = tileType(type, *space, bind.getConfig(), targetOf(func));
    Value rows = bind.getValidRow(), cols = bind.getValidCol();
    // The valid extents of a memref with two dimensions are known.
    if (rows && cols && type.getRank() == 2) {
      std::optional<int64_t> constantRows = getConstantIntValue(rows), constantCols = getConstantIntValue(cols);
      if (!constantRows || !constantCols)
        return op->emitOpError(
            "has a valid part that is known at run time only; pto.alloc_tile valid_row = .. valid_col = .. takes one");
      bound = TileBufType::get(b.getContext(), bound.getLoc(), bound.getRows(), bound.getCols(), bound.getElementType(),
                               *constantRows, *constantCols, bound.getBLayout(), bound.getSLayout(), bound.getFractal(),
                               bound.getPad(), bound.getCompact());
    }
    Value tile = source->second;
    operands[bind.getResult()] = tile.getType() == bound ? tile : b.create<TReshapeOp>(loc, bound, tile).getResult();
    return success();
  }
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    auto source = pointers.find(op->getOperand(0));
    if (source == pointers.end())
      return success();
    OpFoldResult offset = cast.getMixedOffsets()[0];
    Value ptr = source->second;
    if (getConstantIntValue(offset) != 0)
      ptr = b.create<AddPtrOp>(loc, ptr.getType(), ptr, index(b, loc, offset));
    return makeView(op, cast.getResult(), ptr, cast.getMixedSizes(), cast.getMixedStrides());
  }
  if (!isa<PTODialect>(op->getDialect()))
    return success();
  bool pointer = isa<LoadScalarOp, StoreScalarOp, InitializeL2G2LPipeOp>(op);
  // Tiles first: their layout determines the view of a memref in global memory.
  for (bool inGlobal : {false, true})
    for (OpOperand &operand : op->getOpOperands()) {
      auto &map = pointer ? pointers : operands;
      auto found = map.find(operand.get());
      MemRefType memref = arguments.lookup(operand.get());
      if (found == map.end() || inGlobal != static_cast<bool>(memref))
        continue;
      bool blocks = memref && isa<TLoadOp, TStoreOp>(op) && readsBlocks(op, memref);
      operand.set(blocks ? blockView(op, pointers[operand.get()], memref) : found->second);
    }
  return success();
}

LogicalResult Converter::run() {
  Block &entry = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  SmallVector<Operation *> ops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != func)
      ops.push_back(op);
  });
  // An argument in local memory of an uncalled function becomes a tile.
  if (SymbolTable::symbolKnownUseEmpty(func, func->getParentOp()))
    for (BlockArgument argument : entry.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      auto space = localSpace(argument.getType());
      if (!space || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
          !llvm::all_of(argument.getUsers(), llvm::IsaPred<PipeOpInterface>))
        continue;
      argument.setType(tileType(type, *space, TileBufConfigAttr(), targetOf(func)));
    }
  // Arguments in global memory used only by tile ops become pointers; others keep their type.
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    bool tiles =
        type && !argument.use_empty() && !localSpace(type) && llvm::all_of(argument.getUsers(), [](Operation *user) {
          return isa<memref::ReinterpretCastOp, PipeOpInterface, InitializeL2G2LPipeOp>(user);
        });
    if (!tiles)
      continue;
    int64_t offset;
    SmallVector<int64_t> strides;
    if (failed(getStridesAndOffset(type, strides, offset)) || offset != 0 || !type.hasStaticShape() ||
        llvm::is_contained(strides, ShapedType::kDynamic))
      return func.emitError("has an argument of type ")
             << type << "; a memref of constant sizes and strides can be an argument, else a !pto.ptr";
    auto fold = [&](ArrayRef<int64_t> values) -> SmallVector<OpFoldResult> {
      return llvm::map_to_vector(values, [&](int64_t value) { return OpFoldResult(b.getIndexAttr(value)); });
    };
    arguments[argument] = type;
    argument.setType(PtrType::get(b.getContext(), type.getElementType()));
    // makeView inserts after an op, so create one.
    Operation *first = b.create<arith::ConstantIndexOp>(argument.getLoc(), 0);
    if (failed(makeView(first, argument, argument, fold(type.getShape()), fold(strides))))
      return failure();
  }
  for (Operation *op : ops)
    if (failed(convert(op)))
      return failure();
  // Erase dead memref ops; memrefs with remaining users are kept.
  for (Operation *op : llvm::reverse(ops))
    if ((isa<memref::AllocOp, memref::AllocaOp, memref::ReinterpretCastOp, BindTileOp>(op) && op->use_empty()) ||
        (isa<memref::DeallocOp>(op) && operands.contains(op->getOperand(0))))
      op->erase();
  func.setType(FunctionType::get(func.getContext(), entry.getArgumentTypes(), func.getResultTypes()));
  return success();
}

namespace {
struct ConvertMemRefsPass : pto_mlir::pto::impl::PTOConvertMemRefsBase<ConvertMemRefsPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](func::FuncOp func) -> WalkResult {
      bool any = false;
      func.walk([&](Operation *op) {
        any |= llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>) ||
               llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemRefType>);
      });
      PTO_DEBUG("@" << func.getName() << (any ? " has memrefs" : " has no memrefs"));
      return func.isExternal() || !any ? success() : Converter(func).run();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
