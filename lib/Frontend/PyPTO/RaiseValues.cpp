// Types, numbers and tiles of kernels as PyPTO's.
#include "Raiser.h"
#include "Types.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

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

Value rootOf(Value tile) {
  while (auto reshape = tile.getDefiningOp<pto::TReshapeOp>())
    tile = reshape.getOperand();
  return tile;
}

/// The type of a tile; null where PyPTO has none like it.
ir::TileTypePtr Raiser::tile(Value value) {
  ir::TileTypePtr &known = types[value];
  if (known)
    return known;
  auto type = cast<pto::TileBufType>(value.getType());
  auto dtype = dtypeOf(type.getElementType());
  auto space = spaceOf(type.getLoc());
  if (!dtype || !space || !type.hasStaticValid())
    return nullptr;
  Value root = rootOf(value);
  ir::MemRefPtr &memref = memrefs[root];
  auto alloc = root.getDefiningOp<pto::AllocTileOp>();
  auto address = alloc && alloc.getAddr() ? getConstantIntValue(alloc.getAddr()) : std::nullopt;
  if (!memref)
    memref = std::make_shared<const ir::MemRef>(*space, address ? numberOf(*address, DataType::INT64) : nullptr,
                                                pto::getTileBytes(type), memrefs.size() - 1);
  std::vector<ir::ExprPtr> shape = {numberOf(type.getRows()), numberOf(type.getCols())};
  PyPTOOptions options;
  options.target = &pto::targetOf(value.getDefiningOp());
  auto made = std::make_shared<const ir::TileType>(shape, *dtype, memref, std::nullopt, *space);
  if (tileType(*type.getContext(), *made, options) != type) {
    ir::TileView view;
    view.valid_shape = {numberOf(type.getValidRows()), numberOf(type.getValidCols())};
    view.blayout = type.getBLayout() == pto::BLayout::col_major ? ir::TileLayout::col_major : ir::TileLayout::row_major;
    view.slayout = static_cast<ir::TileLayout>(type.getSLayout());
    view.fractal = type.getFractal();
    view.pad = static_cast<ir::PadValue>(type.getPad());
    view.compact = static_cast<ir::CompactMode>(type.getCompact());
    made = std::make_shared<const ir::TileType>(shape, *dtype, memref, view, *space);
    if (tileType(*type.getContext(), *made, options) != type)
      return nullptr;
  }
  return known = made;
}

ir::VarPtr Raiser::assign(const std::string &name, const ir::TypePtr &type, const ir::ExprPtr &value) {
  auto var = std::make_shared<const ir::Var>(name + std::to_string(count++), type, ir::Span());
  out.push_back(std::make_shared<const ir::AssignStmt>(var, value, ir::Span()));
  return var;
}

LogicalResult Raiser::define(Operation *op, Value dst, std::string_view name, ir::Attrs arguments) {
  ir::TileTypePtr type = tile(dst);
  if (!type)
    return op->emitOpError("writes a tile that PyPTO has no type for");
  ir::CallPtr call = ir::CreateOp(name, std::move(arguments), ir::Span());
  auto given = ir::As<ir::TileType>(call->type_);
  bool same = given && given->dtype_ == type->dtype_ && given->shape_.size() == type->shape_.size();
  for (size_t i = 0; same && i < type->shape_.size(); ++i)
    same = ir::ConstantInt(given->shape_[i]) == ir::ConstantInt(type->shape_[i]);
  if (!same)
    return op->emitOpError("writes another type of tile than PyPTO's ") << std::string(name) << " gives";
  held[rootOf(dst)] = {assign("t", type, call), dst};
  return success();
}

ir::ExprPtr Raiser::read(Operation *op, Value value, bool isScratch) {
  Value root = rootOf(value);
  auto found = held.find(root);
  if (found == held.end() && isScratch) {
    ir::TileTypePtr type = tile(root);
    auto shape = std::make_shared<const ir::MakeTuple>(type ? type->shape_ : std::vector<ir::ExprPtr>(), ir::Span());
    if (!type || failed(define(op, root, "tile.create",
                               {{"shape", ir::ExprPtr(shape)},
                                {"dtype", type->dtype_},
                                {"target_memory", ir::AsEnumValue(*type->memory_space_)}})))
      return nullptr;
    found = held.find(root);
  }
  if (found == held.end()) {
    op->emitOpError(
        "reads a tile that nothing has written here, or that a loop before it wrote: PyPTO has no value for it");
    return nullptr;
  }
  ir::TileTypePtr wanted = tile(value);
  if (!wanted)
    op->emitOpError("reads a tile that PyPTO has no type for");
  if (!wanted || found->second.as.getType() == value.getType())
    return wanted ? found->second.var : nullptr;
  auto shape = std::make_shared<const ir::MakeTuple>(wanted->shape_, ir::Span());
  ir::CallPtr call =
      ir::CreateOp("tile.reshape", {{"", ir::ExprPtr(found->second.var)}, {"", ir::ExprPtr(shape)}}, ir::Span());
  return assign("v", wanted, call);
}

ir::ExprPtr Raiser::scalar(Operation *op, Value value) {
  ir::ExprPtr found = scalars.lookup(value);
  if (!found)
    op->emitOpError("takes a number that PyPTO has no form for");
  return found;
}

FailureOr<ir::ExprPtr> Raiser::list(Operation *op, ValueRange values) {
  std::vector<ir::ExprPtr> elements;
  for (Value value : values) {
    elements.push_back(scalar(op, value));
    if (!elements.back())
      return failure();
  }
  return ir::ExprPtr(std::make_shared<const ir::MakeTuple>(elements, ir::Span()));
}

} // namespace pto_mlir::pypto_frontend
