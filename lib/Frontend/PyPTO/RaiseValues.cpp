// Types, numbers and tiles of kernels as PyPTO's.
#include "Raiser.h"
#include "Types.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pypto/ir/printer.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir::pypto_frontend {

std::optional<DataType> dtypeOf(Type type) {
  if (type.isIndex())
    return DataType::INDEX;
  for (DataType dtype : {DataType::FP32, DataType::FP16, DataType::BF16, DataType::INT32, DataType::INT16,
                         DataType::INT8, DataType::INT64, DataType::UINT32, DataType::UINT16, DataType::UINT8})
    if (elementType(*type.getContext(), dtype) == type)
      return dtype;
  return std::nullopt;
}

static std::optional<ir::MemorySpace> spaceOf(pto::AddressSpace space) {
  switch (space) {
  case pto::AddressSpace::vec:
    return ir::MemorySpace::Vec;
  case pto::AddressSpace::mat:
    return ir::MemorySpace::Mat;
  case pto::AddressSpace::left:
    return ir::MemorySpace::Left;
  case pto::AddressSpace::right:
    return ir::MemorySpace::Right;
  case pto::AddressSpace::acc:
    return ir::MemorySpace::Acc;
  case pto::AddressSpace::bias:
    return ir::MemorySpace::Bias;
  default:
    return std::nullopt;
  }
}

ir::ExprPtr numberOf(int64_t value, DataType dtype) {
  return std::make_shared<const ir::ConstInt>(value, dtype, ir::Span());
}

/// The tile that an op gives another name, shape or valid extent.
static Value renamedBy(Operation *op) {
  auto view = dyn_cast<pto::SubViewOp>(op);
  return mlir::isa<pto::TReshapeOp>(op) || (view && isWhole(view)) ? op->getOperand(0) : Value();
}

Value rootOf(Value tile) {
  while (Operation *view = tile.getDefiningOp()) {
    if (!renamedBy(view) && !mlir::isa<pto::SubsetOp, pto::SubViewOp>(view))
      break;
    tile = view->getOperand(0);
  }
  return tile;
}

Operation *partOf(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    Value renamed = renamedBy(op);
    if (!renamed)
      return mlir::isa<pto::SubsetOp, pto::SubViewOp>(op) ? op : nullptr;
    tile = renamed;
  }
  return nullptr;
}

/// Where a part begins in the tile that it is one of.
static OperandRange offsetsOf(Operation *part) {
  if (auto view = dyn_cast<pto::SubViewOp>(part))
    return view.getOffsets();
  return cast<pto::SubsetOp>(part).getOffsets();
}

/// The type of a tile; of a part that lies in the valid extent of the whole at each of its places, all is valid.
static pto::TileBufType typeOf(Value tile) {
  auto type = cast<pto::TileBufType>(tile.getType());
  auto part = tile.getDefiningOp<pto::SubsetOp>();
  if (!part || type.hasStaticValid())
    return type;
  auto whole = typeOf(part.getSource());
  int64_t sizes[] = {type.getRows(), type.getCols()}, valid[] = {type.getValidRows(), type.getValidCols()};
  int64_t all[] = {whole.getValidRows(), whole.getValidCols()}, box[] = {whole.getRows(), whole.getCols()};
  for (unsigned i : {0, 1}) {
    LinearForm end(part.getOffsets()[i]);
    auto last = boundsOf(end).most;
    bool isInside = all[i] == box[i] || (last && *last + sizes[i] <= all[i]); // a part lies in the box
    if (ShapedType::isDynamic(valid[i]) && !ShapedType::isDynamic(all[i]) && isInside)
      valid[i] = sizes[i];
  }
  return type.withValid(valid[0], valid[1]);
}

/// What of a part is valid, which follows from the whole's; empty where that is not known.
std::vector<ir::ExprPtr> Raiser::validOf(pto::SubsetOp part) {
  ir::TileTypePtr whole = tile(part.getSource());
  std::vector<ir::ExprPtr> offsets, shape;
  for (Value offset : part.getOffsets())
    offsets.push_back(scalars.lookup(offset));
  if (!whole || llvm::is_contained(offsets, nullptr))
    return {};
  auto type = cast<pto::TileBufType>(part.getType());
  shape = {numberOf(type.getRows()), numberOf(type.getCols())};
  auto tuple = [](std::vector<ir::ExprPtr> &elements) {
    return ir::ExprPtr(std::make_shared<const ir::MakeTuple>(elements, ir::Span()));
  };
  ir::ExprPtr from = std::make_shared<const ir::Var>("whole", whole, ir::Span());
  auto call = ir::CreateOp("tile.slice", {{"", from}, {"", tuple(shape)}, {"", tuple(offsets)}}, ir::Span());
  auto given = ir::As<ir::TileType>(call->type_);
  return given && given->tile_view_ ? given->tile_view_->valid_shape : std::vector<ir::ExprPtr>();
}

/// The type of a tile; null where PyPTO has none like it.
ir::TileTypePtr Raiser::tile(Value value) {
  if (ir::TileTypePtr known = types.lookup(value))
    return known;
  pto::TileBufType type = typeOf(value);
  auto dtype = dtypeOf(type.getElementType());
  auto space = spaceOf(type.getLoc());
  Value root = rootOf(value);
  auto alloc = root.getDefiningOp<pto::AllocTileOp>();
  auto part = value.getDefiningOp<pto::SubsetOp>();
  auto whole = value.getDefiningOp<pto::SubViewOp>();
  if (!dtype || !space || (!type.hasStaticValid() && !part && !whole && (!alloc || root != value)))
    return nullptr;
  auto valid = [&](int64_t extent, Value atRunTime) {
    return ShapedType::isDynamic(extent) ? scalars.lookup(atRunTime) : numberOf(extent);
  };
  std::vector<ir::ExprPtr> validShape = {valid(type.getValidRows(), whole   ? whole.getValidRow()
                                                                    : alloc ? alloc.getValidRow()
                                                                            : Value()),
                                         valid(type.getValidCols(), whole   ? whole.getValidCol()
                                                                    : alloc ? alloc.getValidCol()
                                                                            : Value())};
  if (part && !type.hasStaticValid()) {
    validShape = validOf(part);
    int64_t known[] = {type.getValidRows(), type.getValidCols()};
    for (size_t axis = 0; axis < validShape.size(); ++axis)
      if (!ShapedType::isDynamic(known[axis]))
        validShape[axis] = numberOf(known[axis]);
  }
  if (validShape.size() != 2 || !validShape[0] || !validShape[1])
    return nullptr;
  std::optional<ir::MemRefPtr> memref; // a part is a tile of its own, which is copied to the whole
  auto address = alloc && alloc.getAddr() ? getConstantIntValue(alloc.getAddr()) : std::nullopt;
  if (auto found = memrefs.find(root); found != memrefs.end() && !partOf(value))
    memref = found->second;
  else if (!partOf(value))
    memref = memrefs[root] = std::make_shared<const ir::MemRef>(
        *space, address ? numberOf(*address, DataType::INT64) : nullptr, pto::getTileBytes(type), memrefNumber++);
  std::vector<ir::ExprPtr> shape = {numberOf(type.getRows()), numberOf(type.getCols())};
  PyPTOOptions options;
  options.target = &pto::targetOf(value.getDefiningOp());
  auto made = std::make_shared<const ir::TileType>(shape, *dtype, memref, std::nullopt, *space);
  // PyPTO's extents are both known or neither.
  pto::TileBufType wanted = type.hasStaticValid() ? type : type.withValid(ShapedType::kDynamic, ShapedType::kDynamic);
  if (auto rows = ir::ConstantInt(validShape[0]), cols = ir::ConstantInt(validShape[1]); rows && cols)
    wanted = type.withValid(*rows, *cols);
  if (tileType(*type.getContext(), *made, options) != wanted) {
    ir::TileView view;
    view.valid_shape = validShape;
    view.blayout = type.getBLayout() == pto::BLayout::col_major ? ir::TileLayout::col_major : ir::TileLayout::row_major;
    view.slayout = static_cast<ir::TileLayout>(type.getSLayout());
    view.fractal = type.getFractal();
    view.pad = static_cast<ir::PadValue>(type.getPad());
    view.compact = static_cast<ir::CompactMode>(type.getCompact());
    made = std::make_shared<const ir::TileType>(shape, *dtype, memref, view, *space);
    if (tileType(*type.getContext(), *made, options) != wanted)
      return nullptr;
  }
  return types[value] = made;
}

ir::VarPtr Raiser::assign(const std::string &name, const ir::TypePtr &type, const ir::ExprPtr &value) {
  ir::VarPtr var = variable(name, type);
  out.push_back(std::make_shared<const ir::AssignStmt>(var, value, ir::Span()));
  return var;
}

bool isWrittenInPart(Value root) {
  WalkResult walked = root.getParentRegion()->walk([&](Operation *op) {
    Value dst = operandsOf(op).dst;
    bool isAll = dst && rootOf(dst) == root && !partOf(dst) && !dst.getDefiningOp<pto::SubViewOp>();
    return isAll ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

LogicalResult Raiser::define(Operation *op, Value dst, std::string_view name, ir::Attrs arguments) {
  ir::TileTypePtr type = tile(dst);
  if (!type)
    return op->emitOpError("writes a tile that PyPTO has no type for");
  ir::CallPtr call = ir::CreateOp(name, std::move(arguments), ir::Span());
  auto given = ir::As<ir::TileType>(call->type_);
  // A mask's bits have no sign.
  if (given && given->dtype_ == DataType::UINT8 && type->dtype_ == DataType::INT8)
    type = types[dst] = std::make_shared<const ir::TileType>(type->shape_, given->dtype_, type->memref_,
                                                             type->tile_view_, type->memory_space_);
  // The box may be padded otherwise than PyPTO's; what is valid is the same.
  bool same = given && given->dtype_ == type->dtype_ && given->shape_.size() == type->shape_.size();
  pto::TileBufType of = typeOf(dst);
  int64_t valid[] = {of.getValidRows(), of.getValidCols()};
  for (size_t i = 0; same && i < type->shape_.size(); ++i) {
    auto extent = ir::ConstantInt(given->shape_[i]), box = ir::ConstantInt(type->shape_[i]);
    same = extent == box || (extent && (ShapedType::isDynamic(valid[i]) ? box && *box > *extent : valid[i] <= *extent));
  }
  if (!same)
    return op->emitOpError("writes another type of tile than PyPTO's ")
           << std::string(name) << ", which gives " << ir::python_print(call->type_);
  ir::VarPtr made = assign("t", type, call);
  if (partOf(dst))
    return insert(op, dst, made);
  if (auto before = held.find(rootOf(dst)); before != held.end() && dst.getDefiningOp<pto::SubViewOp>() &&
                                            before->second.as.getType() != dst.getType() &&
                                            !isWrittenInPart(before->first))
    return op->emitOpError("writes a part with a valid extent of its own of a tile whose rest is kept, for which PyPTO "
                           "has no form");
  held[rootOf(dst)] = {made, dst};
  return success();
}

/// A write to a part of a tile, or to another view of one: the whole with the part replaced.
LogicalResult Raiser::insert(Operation *op, Value dst, const ir::VarPtr &made) {
  Operation *view = dst.getDefiningOp();
  Value source = view->getOperand(0);
  if (mlir::isa<pto::TReshapeOp>(view))
    return define(op, source, "tile.reshape", {{"", ir::ExprPtr(made)}, {"", shapeOf(source)}});
  auto offsets = list(op, offsetsOf(view));
  ir::ExprPtr whole = succeeded(offsets) ? read(op, source) : nullptr;
  if (!whole)
    return failure();
  return define(op, source, "tile.assemble", {{"", whole}, {"", ir::ExprPtr(made)}, {"", *offsets}});
}

LogicalResult Raiser::create(Operation *op, Value root) {
  ir::TileTypePtr type = tile(root);
  if (!type)
    return op->emitOpError("has a tile that PyPTO has no type for");
  return define(
      op, root, "tile.create",
      {{"shape", shapeOf(root)}, {"dtype", type->dtype_}, {"target_memory", ir::AsEnumValue(*type->memory_space_)}});
}

/// The tile with the valid extents of `wanted`.
ir::ExprPtr Raiser::withValidOf(const ir::TileTypePtr &wanted, const ir::ExprPtr &tile) {
  std::vector<ir::ExprPtr> valid = wanted->tile_view_ ? wanted->tile_view_->valid_shape : std::vector<ir::ExprPtr>();
  if (valid.empty())
    valid = wanted->shape_;
  return assign("v", wanted,
                ir::CreateOp("tile.set_validshape", {{"", tile}, {"", valid[0]}, {"", valid[1]}}, ir::Span()));
}

/// A part of a tile, or another view of one.
ir::ExprPtr Raiser::readPart(Operation *op, Value value) {
  Operation *view = value.getDefiningOp();
  ir::ExprPtr whole = read(op, view->getOperand(0));
  ir::TileTypePtr wanted = tile(value);
  if (auto of = whole ? ir::As<ir::TileType>(whole->type_) : nullptr; wanted && of) // lies where it does
    wanted = std::make_shared<const ir::TileType>(wanted->shape_, wanted->dtype_, of->memref_, wanted->tile_view_,
                                                  wanted->memory_space_);
  if (whole && !wanted)
    op->emitOpError("reads a part of a tile whose valid extent is known at run time only");
  if (!whole || !wanted)
    return nullptr;
  if (mlir::isa<pto::TReshapeOp>(view))
    return assign("v", wanted, ir::CreateOp("tile.reshape", {{"", whole}, {"", shapeOf(value)}}, ir::Span()));
  auto offsets = list(op, offsetsOf(view));
  if (failed(offsets))
    return nullptr;
  ir::Attrs arguments = {{"", whole}, {"", shapeOf(value)}, {"", *offsets}};
  if (!mlir::isa<pto::SubViewOp>(view))
    return assign("v", wanted, ir::CreateOp("tile.slice", std::move(arguments), ir::Span()));
  ir::ExprPtr part = isWhole(cast<pto::SubViewOp>(view)) ? whole : nullptr;
  if (!part) {
    ir::CallPtr slice = ir::CreateOp("tile.slice", std::move(arguments), ir::Span());
    auto all = std::make_shared<const ir::TileType>(wanted->shape_, wanted->dtype_, wanted->memref_, std::nullopt,
                                                    wanted->memory_space_);
    part = assign("v", all, slice);
  }
  bool isAllValid = !wanted->tile_view_ || wanted->tile_view_->valid_shape.empty();
  return isAllValid ? part : withValidOf(wanted, part);
}

ir::ExprPtr Raiser::read(Operation *op, Value value, bool isScratch) {
  if (partOf(value))
    return readPart(op, value);
  Value root = rootOf(value);
  auto found = held.find(root);
  if (found == held.end() && isScratch) {
    if (failed(create(op, root)))
      return nullptr;
    found = held.find(root);
  }
  if (found == held.end()) {
    op->emitOpError("reads a tile that nothing has written here: PyPTO has no value for it");
    return nullptr;
  }
  ir::TileTypePtr wanted = tile(value);
  if (!wanted)
    op->emitOpError("reads a tile that PyPTO has no type for");
  if (!wanted || found->second.as.getType() == value.getType())
    return wanted ? found->second.var : nullptr;
  auto of = cast<pto::TileBufType>(value.getType()), from = cast<pto::TileBufType>(found->second.as.getType());
  ir::ExprPtr var = found->second.var;
  if (of.withValid(from.getValidRows(), from.getValidCols()) != from)
    return assign("v", wanted, ir::CreateOp("tile.reshape", {{"", var}, {"", shapeOf(value)}}, ir::Span()));
  return withValidOf(wanted, var);
}

} // namespace pto_mlir::pypto_frontend
