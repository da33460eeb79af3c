// Ops of kernels by the table of PyPTO's operations.
#include "Forms.h"
#include "Lowering.h"
#include "Raiser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir::pypto_frontend {

Operands operandsOf(Operation *op) {
  Operands found;
  if (auto load = dyn_cast<pto::TLoadOp>(op)) {
    found.dst = load.getDst();
    return found;
  }
  const Form *form = findForm(op->getName().stripDialect().str());
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  unsigned position = 0;
  bool all = form && op->getNumOperands() == form->operands.size();
  auto given = [&](size_t i) { return segments ? segments[i] : int32_t(all || !form->operands[i].optional); };
  for (size_t i = 0; form && i < form->operands.size(); ++i)
    for (int32_t n = 0; n < given(i) && position < op->getNumOperands(); ++n) {
      Value value = op->getOperand(position++);
      if (form->operands[i].role == Role::Input)
        found.inputs.push_back(value);
      else
        (form->operands[i].role == Role::Scratch ? found.scratch : found.dst) = value;
    }
  bool several =
      form && llvm::count_if(form->operands, [](const FormOperand &operand) { return operand.role == Role::Dst; }) != 1;
  if (several)
    found.dst = nullptr;
  if (found.dst && !mlir::isa<pto::TileBufType>(found.dst.getType()))
    found.dst = nullptr;
  return found;
}

LogicalResult saysOnly(Operation *op, const ir::OpRow &row) {
  Operation *plain = Operation::create(op->getLoc(), op->getName(), TypeRange(), ValueRange(), NamedAttrList(),
                                       OpaqueProperties(nullptr), BlockRange(), 0);
  op->getName().populateDefaultProperties(plain->getPropertiesStorage());
  DictionaryAttr defaults = plain->getAttrDictionary();
  plain->destroy();
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    StringRef name = attribute.getName();
    bool isKnown = name == "operandSegmentSizes" || (name == "rmode" && row.Find("mode") >= 0) ||
                   (name == "cmpMode" && row.Find("cmp_type") >= 0) || (name == "reluPreMode" && row.Find("relu") >= 0);
    if (!isKnown && defaults.get(name) != attribute.getValue())
      return op->emitOpError("says ") << name << ", for which PyPTO's " << std::string(row.name) << " has no keyword";
  }
  return success();
}

static bool isShape(const ir::ExprPtr &sizes, int64_t rows, int64_t cols) {
  const auto &elements = ir::As<ir::MakeTuple>(sizes)->elements_;
  return elements.size() == 2 && ir::ConstantInt(elements[0]) == rows && ir::ConstantInt(elements[1]) == cols;
}

LogicalResult Raiser::load(pto::TLoadOp op) {
  if (failed(saysOnly(op, *ir::FindOp("tile.load"))))
    return failure();
  ir::TileTypePtr type = tile(op.getDst());
  if (!type)
    return op.emitOpError("has no form in PyPTO: it loads a window of a tensor to a tile of a known type");
  auto from = window(op, op.getSrc());
  if (failed(from))
    return failure();
  ir::Attrs arguments = {{"", ir::ExprPtr(from->tensor)},
                         {"", from->offsets},
                         {"", shapeOf(op.getDst())},
                         {"valid_shape", from->sizes},
                         {"target_memory", ir::AsEnumValue(*type->memory_space_)}};
  auto box = cast<pto::TileBufType>(op.getDst().getType());
  if (isShape(from->sizes, box.getRows(), box.getCols()))
    arguments.erase(arguments.begin() + 3);
  return define(op, op.getDst(), "tile.load", std::move(arguments));
}

LogicalResult Raiser::store(pto::TStoreOp op) {
  if (failed(saysOnly(op, *ir::FindOp("tile.store"))))
    return failure();
  if (op->getNumOperands() != 2)
    return op.emitOpError("has no form in PyPTO: it stores a tile to a window of an argument");
  auto to = window(op, op.getDst());
  ir::ExprPtr source = succeeded(to) ? read(op, op.getSrc()) : nullptr;
  if (!source)
    return failure();
  ir::Attrs arguments = {{"", source}, {"", to->offsets}, {"", ir::ExprPtr(to->tensor)}, {"shapes", to->sizes}};
  auto type = cast<pto::TileBufType>(op.getSrc().getType());
  if (isShape(to->sizes, type.getValidRows(), type.getValidCols()))
    arguments.pop_back();
  if (op.getReluPreMode() == pto::ReluPreMode::normal_relu)
    arguments.emplace_back("relu", true);
  return evaluate(op, "tile.store", std::move(arguments));
}

/// The value of a keyword that an op's attributes or destination say; nothing for its default.
std::optional<ir::Attr> Raiser::keyword(Operation *op, const ir::OpParam &param, Value dst) {
  ir::TileTypePtr type = tile(dst);
  if (param.name == "target_type" || param.name == "dtype")
    return type ? std::optional<ir::Attr>(type->dtype_) : std::nullopt;
  if (param.name == "target_memory")
    return type ? std::optional<ir::Attr>(ir::AsEnumValue(*type->memory_space_)) : std::nullopt;
  if (param.name == "cmp_type")
    if (auto mode = op->getAttrOfType<pto::CmpModeAttr>("cmpMode"))
      return ir::Attr(int64_t(mode.getValue()));
  if (param.name == "mode")
    if (auto mode = op->getAttrOfType<pto::RoundModeAttr>("rmode")) {
      bool plain = mode.getValue() == pto::RoundMode::CAST_RINT; // the dialect's default, another name of it
      return ir::Attr(plain ? "rint" : llvm::StringRef(pto::stringifyRoundMode(mode.getValue())).lower());
    }
  return std::nullopt;
}

LogicalResult Raiser::fromRow(Operation *op, const ir::OpRow &row, ArrayRef<Value> inputs, Value scratch, Value dst) {
  if (failed(saysOnly(op, row)))
    return failure();
  ir::Attrs arguments;
  size_t next = 0;
  for (const ir::OpParam &param : row.params) {
    if (!param.operand) {
      if (auto value = keyword(op, param, dst))
        arguments.emplace_back(std::string(param.name), *value);
      continue;
    }
    ir::ExprPtr value;
    if (param.name == "shape") {
      ir::TileTypePtr type = tile(dst);
      value = std::make_shared<const ir::MakeTuple>(type ? type->shape_ : std::vector<ir::ExprPtr>(), ir::Span());
    } else if (param.name == "tmp" || param.name == "tmp_tile") {
      if (!scratch)
        continue;
      value = read(op, scratch, /*isScratch=*/true);
    } else if (next < inputs.size()) {
      Value input = inputs[next++];
      value = mlir::isa<pto::TileBufType>(input.getType()) ? read(op, input) : scalar(op, input);
    } else {
      continue;
    }
    if (!value)
      return failure();
    arguments.emplace_back(std::string(param.name), value);
  }
  return next == inputs.size() ? define(op, dst, row.name, std::move(arguments))
                               : op->emitOpError("has more operands than PyPTO's ") << std::string(row.name);
}

LogicalResult Raiser::byTable(Operation *op) {
  StringRef name = op->getName().stripDialect();
  auto [inputs, scratch, dst] = operandsOf(op);
  if (!dst)
    return op->emitOpError("has no name in PyPTO");
  if (name == "texpands") {
    ir::TileTypePtr type = tile(dst);
    ir::ExprPtr value = type ? scalar(op, inputs[0]) : nullptr;
    if (!value)
      return failure();
    return define(op, dst, "tile.full", {{"shape", shapeOf(dst)}, {"dtype", type->dtype_}, {"value", value}});
  }
  for (const ir::OpRow &row : ir::AllOps())
    if (row.name.starts_with("tile.") && row.pto == name.str() && !Lowering::hasHandler(row.name))
      return fromRow(op, row, inputs, scratch, dst);
  return op->emitOpError("has no name in PyPTO");
}

} // namespace pto_mlir::pypto_frontend
