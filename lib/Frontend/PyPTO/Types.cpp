// PyPTO's types as those of the pto dialect.
#include "Types.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;
namespace ir = pypto::ir;

namespace pto_mlir::pypto_frontend {

void fail(const ir::Span &span, const std::string &text) {
  if (!span.is_valid())
    throw pypto::ValueError(text); // the statement around it has a place
  throw PlacedError(span.to_string() + ": " + text);
}

Location locationOf(MLIRContext &context, const ir::Span &span) {
  if (!span.is_valid())
    return UnknownLoc::get(&context);
  return FileLineColLoc::get(&context, span.filename(), span.begin_line_, std::max(span.begin_column_, 0));
}

ir::Span spanOf(Location place) {
  auto at = place->findInstanceOf<FileLineColLoc>();
  return at ? ir::Span(at.getFilename().str(), int(at.getLine()), int(at.getColumn())) : ir::Span::unknown();
}

FirstError::FirstError(MLIRContext &context)
    : place(UnknownLoc::get(&context)), handler(&context, [this](Diagnostic &diagnostic) {
        if (problem.empty()) {
          problem = diagnostic.str();
          place = diagnostic.getLocation();
        }
        return success();
      }) {}

Type elementType(MLIRContext &context, pypto::DataType dtype) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  Type type = parseType(dtype.ToMLIRString(), &context);
  CHECK(type) << "the pto dialect has no elements of " << dtype.Name();
  return type;
}

Type memoryType(MLIRContext &context, pypto::DataType dtype) {
  return elementType(context, dtype == pypto::DataType::INDEX     ? pypto::DataType::INT64
                              : dtype == pypto::DataType::FP8E8M0 ? pypto::DataType::UINT8
                                                                  : dtype);
}

pto::PtrType pointerType(MLIRContext &context, const ir::TensorType &type) {
  CHECK(isScaleLayout(type) || type.dtype_ != pypto::DataType::FP8E8M0)
      << "a tensor of FP8E8M0 holds the scales of a product, in layout MX_A_ZZ or MX_B_NN; write "
         "`pl.Tensor[[..], pl.FP8E8M0, pl.MX_A_ZZ]`";
  return pto::PtrType::get(elementType(context, isScaleLayout(type) ? pypto::DataType::UINT16 : type.dtype_));
}

Type scalarType(MLIRContext &context, pypto::DataType dtype) {
  Type type = elementType(context, dtype);
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(&context, integer.getWidth()) : type;
}

static std::optional<int64_t> addressOf(const ir::TypePtr &type) {
  auto tile = ir::As<ir::TileType>(type);
  return tile && tile->memref_ && (*tile->memref_)->addr_ ? ir::ConstantInt((*tile->memref_)->addr_) : std::nullopt;
}

bool liesWith(const ir::TypePtr &type, const ir::TypePtr &other) {
  auto tile = ir::As<ir::TileType>(type);
  bool placed = tile && tile->memref_ && (*tile->memref_)->addr_;
  return !placed || (addressOf(type) && addressOf(type) == addressOf(other));
}

bool isWhole(pto::SubViewOp view) {
  auto from = cast<pto::TileBufType>(view.getSource().getType());
  auto sizes = view.getSizes().getAsValueRange<IntegerAttr>();
  int64_t extents[] = {from.getRows(), from.getCols()};
  auto isZero = [](Value offset) { return getConstantIntValue(offset) == 0; };
  return llvm::all_of(view.getOffsets(), isZero) &&
         llvm::equal(sizes, extents, [](const APInt &size, int64_t extent) { return size.getSExtValue() == extent; });
}

bool saysNoBox(const ir::TileType &type) {
  return type.tile_view_ && type.tile_view_->blayout == ir::TileLayout::none_box;
}

static pto::AddressSpace spaceOf(ir::MemorySpace space) {
  switch (space) {
  case ir::MemorySpace::DDR:
    break;
  case ir::MemorySpace::Vec:
    return pto::AddressSpace::vec;
  case ir::MemorySpace::Mat:
    return pto::AddressSpace::mat;
  case ir::MemorySpace::Left:
    return pto::AddressSpace::left;
  case ir::MemorySpace::Right:
    return pto::AddressSpace::right;
  case ir::MemorySpace::Acc:
    return pto::AddressSpace::acc;
  case ir::MemorySpace::Bias:
    return pto::AddressSpace::bias;
  case ir::MemorySpace::LeftScale:
  case ir::MemorySpace::RightScale:
    return pto::AddressSpace::scaling;
  }
  CHECK(false) << "a tile lies in a local memory, not in " << ir::ValueName(space);
  return pto::AddressSpace::vec;
}

/// Rows and columns of a tile of any rank; kDynamic for a product with an extent that is no constant.
static std::pair<int64_t, int64_t> box(const std::vector<ir::ExprPtr> &shape) {
  int64_t rows = 1, cols = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t extent = ir::ConstantInt(shape[i]).value_or(ShapedType::kDynamic);
    int64_t &side = i + 1 == shape.size() ? cols : rows;
    bool dynamic = ShapedType::isDynamic(extent) || ShapedType::isDynamic(side);
    side = dynamic ? ShapedType::kDynamic : side * extent;
  }
  return {rows, cols};
}

pto::TileBufType tileType(MLIRContext &context, const ir::TileType &type, const PyPTOOptions &options) {
  if (type.dtype_ == pypto::DataType::FP8E8M0)
    return scaleTileType(context, type);
  auto [rows, cols] = box(type.shape_);
  CHECK(!ShapedType::isDynamic(rows) && !ShapedType::isDynamic(cols))
      << "a tile's extents must be constants, not " << ir::ShapeText(type.shape_);
  pto::AddressSpace space = spaceOf(type.GetMemorySpace().value_or(ir::MemorySpace::Vec));
  ir::TileView view = options.layoutsOfSpaces || type.tile_view_ ? ir::TileViewOf(type) : ir::TileView();
  auto bLayout = view.blayout == ir::TileLayout::col_major ? pto::BLayout::col_major : pto::BLayout::row_major;
  if (space == pto::AddressSpace::left && view.slayout != ir::TileLayout::none_box)
    bLayout = pto::getLeftBLayout(options.target ? *options.target : pto::defaultTarget());
  auto [validRows, validCols] = view.valid_shape.empty() ? std::pair(rows, cols) : box(view.valid_shape);
  if (ShapedType::isDynamic(validRows) || ShapedType::isDynamic(validCols)) // set_validshape sets both
    validRows = validCols = ShapedType::kDynamic;
  return pto::TileBufType::get(&context, space, rows, cols, elementType(context, type.dtype_), validRows, validCols,
                               bLayout, *pto::symbolizeSLayout(static_cast<uint32_t>(view.slayout)),
                               static_cast<int32_t>(view.fractal),
                               *pto::symbolizePadValue(static_cast<uint32_t>(view.pad)),
                               *pto::symbolizeCompactMode(static_cast<uint32_t>(view.compact)));
}

} // namespace pto_mlir::pypto_frontend
