// Gathers, merges and generated tiles: pto ops whose operands are not in the order of the rows.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// `operands` by the segments of the op; null ones are absent.
Operation *Lowering::createOp(StringRef name, ArrayRef<SmallVector<Value>> operands,
                              ArrayRef<NamedAttribute> attributes, bool segments) {
  OperationState state(loc, ("pto." + name).str());
  SmallVector<int32_t> sizes;
  for (const SmallVector<Value> &group : operands) {
    auto given = llvm::make_filter_range(group, [](Value value) { return value != nullptr; });
    size_t before = state.operands.size();
    state.addOperands(SmallVector<Value>(given));
    sizes.push_back(int32_t(state.operands.size() - before));
  }
  state.addAttributes(attributes);
  if (segments)
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(sizes));
  return b.create(state);
}

Value Lowering::scratchLike(const ir::ExprPtr &given, Value like) {
  return given ? valueOf(given) : scratch(cast<pto::TileBufType>(like.getType()));
}

Value Lowering::scratch(pto::TileBufType type) { return allocate(type, Value()); }

/// Indices of 16 bits as the instruction takes them; they are exact in f32.
static Value wideIndices(OpBuilder &b, Location loc, Value indices, llvm::function_ref<Value(pto::TileBufType)> make) {
  auto type = cast<pto::TileBufType>(indices.getType());
  if (type.getElementType().getIntOrFloatBitWidth() != 16 || !type.hasStaticValid())
    return indices;
  Value real = make(type.withElementType(b.getF32Type())), wide = make(type.withElementType(b.getI32Type()));
  b.create<pto::TCvtOp>(loc, indices, real, pto::RoundMode::RINT);
  b.create<pto::TCvtOp>(loc, real, wide, pto::RoundMode::RINT);
  return wide;
}

Value Lowering::gather(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value source = valueOf(call.Operand("src")), indices = valueOf(call.Operand("idx"));
  indices = wideIndices(b, loc, indices, [&](pto::TileBufType type) { return scratch(type); });
  Value scratch = scratchLike(call.Operand("tmp"), indices), dst = destination(*op, var);
  createOp("tgather", {{source}, {dst}, {}, {indices}, {scratch}, {}}, {}, true);
  return dst;
}

Value Lowering::gatherMask(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto pattern = *call.Enum<ir::MaskPattern>("mask_pattern");
  auto named = pto::symbolizeMaskPattern(ir::ValueName(pattern));
  if (!named)
    fail(op->span_, "mask_pattern " + std::string(ir::ValueName(pattern)) + " is not lowered");
  Value source = valueOf(call.Operand("src")), dst = destination(*op, var), target = dst;
  auto attribute = pto::MaskPatternAttr::get(b.getContext(), *named);
  auto element = cast<pto::TileBufType>(source.getType()).getElementType();
  auto type = cast<pto::TileBufType>(dst.getType());
  if (type.getElementType() != element) { // the same bits by another name
    if (type.getElementType().getIntOrFloatBitWidth() != element.getIntOrFloatBitWidth())
      fail(op->span_, "output_dtype must be as wide as the elements of src");
    target = b.create<pto::BitcastOp>(loc, type.withElementType(element), dst);
  }
  createOp("tgather", {{source}, {target}, {}, {}, {}, {}}, {b.getNamedAttr("maskPattern", attribute)}, true);
  return dst;
}

/// Blocks of 32 bytes, as elements of any type: those that the instruction does not know, or that are others in the
/// result, are moved as words.
Value Lowering::gatherBlocks(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value source = valueOf(call.Operand("src")), offsets = valueOf(call.Operand("byte_offsets"));
  Value dst = destination(*op, var);
  auto from = cast<pto::TileBufType>(source.getType()), to = cast<pto::TileBufType>(dst.getType());
  bool isPlain = from.getElementType() == to.getElementType() && from.getElementType().getIntOrFloatBitWidth() > 8;
  auto asWords = [&](Value tile) -> Value {
    auto type = cast<pto::TileBufType>(tile.getType());
    Type word = b.getI32Type();
    int64_t bits = type.getElementType().getIntOrFloatBitWidth();
    if (isPlain || type.getElementType() == word)
      return tile;
    auto words = [&](int64_t columns) { return ShapedType::isDynamic(columns) ? columns : columns * bits / 32; };
    if (type.isBoxed() || !type.hasStaticValid() || type.getCols() * bits % 32 || type.getValidCols() * bits % 32)
      fail(op->span_, "gatherb between these elements is lowered for whole words of row-major tiles");
    auto view = type.withElementType(word)
                    .withShape(type.getRows(), words(type.getCols()))
                    .withValid(type.getValidRows(), words(type.getValidCols()));
    return b.create<pto::TReshapeOp>(loc, view, tile);
  };
  createOp("tgatherb", {{asWords(source)}, {offsets}, {asWords(dst)}}, {}, false);
  return dst;
}

/// Two tiles: indices and counts.
Value Lowering::gatherCompare(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  if (!var)
    fail(op->span_, op->op_->name_ + " gives two tiles; assign them");
  Value source = valueOf(call.Operand("src"));
  auto element = cast<pto::TileBufType>(source.getType()).getElementType();
  Value wantedValue = scalarOf(call.Operand("kvalue"), element), scratch = valueOf(call.Operand("tmp"));
  auto mode = pto::symbolizeCmpMode(*call.Keyword<std::string>("cmp_mode"));
  if (!mode)
    fail(op->span_, "cmp_mode is eq or gt, not " + *call.Keyword<std::string>("cmp_mode"));
  std::vector<Value> &parts = tuples[var.get()];
  const auto &types = ir::As<ir::TupleType>(op->type_)->types_;
  parts.reserve(types.size());
  for (const ir::TypePtr &type : types)
    parts.push_back(buffer(ir::As<ir::TileType>(type), type.get()));
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr("cmpMode", pto::CmpModeAttr::get(b.getContext(), *mode)),
      b.getNamedAttr("offset", b.getI32IntegerAttr(int32_t(*call.Keyword<int64_t>("offset"))))};
  createOp("tgather", {{source}, {parts[0]}, {parts[1]}, {}, {scratch}, {wantedValue}}, attributes, true);
  return parts[0];
}

void Lowering::VisitExpr_(const ir::TupleGetItemExprPtr &op) {
  auto var = ir::As<ir::Var>(op->tuple_);
  auto found = var ? tuples.find(var.get()) : tuples.end();
  if (found == tuples.end())
    fail(op->span_, "only the results of a call are taken apart in a kernel");
  if (op->index_ < 0 || size_t(op->index_) >= found->second.size())
    fail(op->span_, "the call gives " + std::to_string(found->second.size()) + " values");
  result = found->second[op->index_];
}

Value Lowering::mergeSort(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  SmallVector<Value> sources;
  for (const char *name : {"src0", "src1", "src2", "src3"})
    if (ir::ExprPtr source = call.Operand(name))
      sources.push_back(valueOf(source));
  ir::ExprPtr length = call.Operand("block_len");
  bool exhausted = call.Keyword<bool>("exhausted").value_or(false);
  if ((length != nullptr) != (sources.size() == 1) || (length && exhausted))
    fail(op->span_, "mrgsort takes one source and its block_len, or two to four sources");
  Value dst = destination(*op, var);
  if (length) {
    Value runs = scalarOf(length, b.getI32Type());
    createOp("tmrgsort", {sources, {runs}, {dst}, {}, {}}, {}, true);
    return dst;
  }
  Value scratch = scratchLike(call.Operand("tmp"), dst);
  auto counts = DenseIntElementsAttr::get(VectorType::get({4}, b.getI16Type()), ArrayRef<int16_t>{0, 0, 0, 0});
  Value executed = constant(counts, counts.getType());
  createOp("tmrgsort", {sources, {}, {dst}, {scratch}, {executed}},
           {b.getNamedAttr("exhausted", b.getBoolAttr(exhausted))}, true);
  return dst;
}

Value Lowering::countUp(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value dst = destination(*op, var);
  auto element = cast<pto::TileBufType>(dst.getType()).getElementType();
  Value start = scalarOf(call.Operand("start"), b.getIntegerType(element.getIntOrFloatBitWidth()));
  createOp("tci", {{start}, {dst}},
           {b.getNamedAttr("descending", b.getBoolAttr(call.Keyword<bool>("descending").value_or(false)))}, false);
  return dst;
}

Value Lowering::triangle(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value diagonal = scalarOf(call.Operand("diagonal"), b.getI32Type()), dst = destination(*op, var);
  createOp("ttri", {{diagonal}, {dst}},
           {b.getNamedAttr("upperOrLower", b.getI32IntegerAttr(call.Keyword<bool>("upper").value_or(false)))}, false);
  return dst;
}

Value Lowering::random(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  SmallVector<Value> words;
  for (const char *name : {"key0", "key1", "c0", "c1", "c2", "c3"})
    words.push_back(scalarOf(call.Operand(name), b.getI32Type()));
  Value dst = destination(*op, var);
  createOp("trandom", {words, {dst}},
           {b.getNamedAttr("rounds", b.getI32IntegerAttr(int32_t(*call.Keyword<int64_t>("rounds"))))}, false);
  return dst;
}

/// Rows of a tensor into a tile in Mat, each by a load of its own. Transposed rows are columns of a tile in boxes by
/// columns, whose bytes are those of its transpose in boxes by rows.
Value Lowering::gatherRowsToMat(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto shapes = call.Elements("shapes"), valid = call.Elements("valid_shape"), to = call.Elements("dst_offset"),
       from = call.Elements("src_offset");
  valid = valid.empty() ? shapes : valid;
  Value source = valueOf(call.Operand("src"));
  auto view = cast<pto::TensorViewType>(source.getType());
  auto whole = cast<pto::TileBufType>(valueOf(call.Operand("dst")).getType());
  bool transposed = call.Keyword<bool>("transpose").value_or(false);
  if ((pto::getTileLayout(whole) == pto::TileLayout::ZN) != transposed)
    fail(op->span_, transposed ? "transposed rows go into a tile in Mat that is made with `transpose=True`"
                               : "rows go into a tile in Mat that is made without `transpose=True`");
  if (transposed && to.size() == 2) {
    std::swap(to[0], to[1]);
    whole = pto::makeMatTile(b.getContext(), whole.getCols(), whole.getRows(), whole.getElementType(),
                             whole.getValidCols(), whole.getValidRows());
  }
  if (view.getRank() != 2 || shapes.size() != 2 || to.size() != 2 || from.size() != 2 || valid.size() != 2)
    fail(op->span_, "gather_row into Mat takes rows of a tensor of two axes");
  auto width = ir::ConstantInt(valid[1]);
  if (ir::ConstantInt(to[1]) != 0 || ir::ConstantInt(shapes[1]) != whole.getCols() || !width || *width < 1 ||
      *width > whole.getCols())
    fail(op->span_, "gather_row into Mat writes rows from their first column on, as long as the tile's and with valid "
                    "columns that are known");
  Value result = changeable(call.Operand("dst"), op, var);
  Value dst = transposed ? b.create<pto::TReshapeOp>(loc, whole, result) : result;
  Value row = indexOf(to[0]), first = indexOf(from[0]), column = indexOf(from[1]), one = indexConstant(1),
        columns = indexConstant(*width);
  bool ragged = *width != whole.getCols();
  forEach({indexOf(valid[0])}, [&](ValueRange at) {
    Value line = b.create<arith::AddIOp>(loc, first, at[0]), place = b.create<arith::AddIOp>(loc, row, at[0]);
    auto part =
        b.create<pto::PartitionViewOp>(loc, pto::PartitionTensorViewType::get({1, *width}, view.getElementType()),
                                       source, ValueRange{line, column}, ValueRange{one, columns});
    auto target = b.create<pto::SubViewOp>(loc, whole.withShape(1, whole.getCols()).withValid(1, *width), dst,
                                           ValueRange{place, indexConstant(0)}, ragged ? one : Value(),
                                           ragged ? columns : Value(), b.getI64ArrayAttr({1, whole.getCols()}));
    b.create<pto::TLoadOp>(loc, part, target);
  });
  return result;
}

/// Rows of a tensor into the tile: a load, and an assemble.
Value Lowering::gatherRow(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  if (!ir::IsA<ir::TensorType>(call.Operand("src")->type_))
    fail(op->span_, "gather_row takes rows of a tensor in global memory; take those of a tile with pl.slice");
  if (auto type = ir::As<ir::TileType>(call.Operand("dst")->type_); type->GetMemorySpace() == ir::MemorySpace::Mat)
    return gatherRowsToMat(call, op, var);
  ir::Attrs arguments{{"", call.Operand("src")}, {"", call.Operand("src_offset")}, {"", call.Operand("shapes")}};
  if (ir::ExprPtr valid = call.Operand("valid_shape"))
    arguments.emplace_back("valid_shape", valid);
  ir::CallPtr read = ir::CreateOp("tile.load", std::move(arguments), op->span_);
  auto rows = std::make_shared<const ir::Var>("rows", read->type_, op->span_);
  values[rows.get()] = load(ir::OpView(*read), read, rows);
  if (call.Keyword<bool>("transpose").value_or(false)) {
    auto axis = [&](int64_t number) -> ir::ExprPtr {
      return std::make_shared<const ir::ConstInt>(number, pypto::DataType::INDEX, op->span_);
    };
    ir::CallPtr turned = ir::CreateOp("tile.transpose", {ir::ExprPtr(rows), axis(0), axis(1)}, op->span_);
    auto columns = std::make_shared<const ir::Var>("columns", turned->type_, op->span_);
    values[columns.get()] = transpose(ir::OpView(*turned), turned, columns);
    rows = columns;
  }
  ir::CallPtr put =
      ir::CreateOp("tile.assemble", {call.Operand("dst"), ir::ExprPtr(rows), call.Operand("dst_offset")}, op->span_);
  return assemble(ir::OpView(*put), op, var);
}

} // namespace pto_mlir::pypto_frontend
