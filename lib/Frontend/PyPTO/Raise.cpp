// Kernels of the pto dialect as PyPTO's: what each op writes to a buffer becomes a value.
#include "pto_mlir/Frontend/PyPTO/RaisePyPTO.h"

#include "Forms.h"
#include "Lowering.h"
#include "Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/verify.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
namespace ir = pypto::ir;
using pypto::DataType;

namespace pto_mlir {
namespace {

using namespace pypto_frontend;

std::optional<DataType> dtypeOf(Type type) {
  if (type.isIndex())
    return DataType::INDEX;
  for (DataType dtype : {DataType::FP32, DataType::FP16, DataType::BF16, DataType::INT32, DataType::INT16,
                         DataType::INT8, DataType::INT64, DataType::UINT32, DataType::UINT16, DataType::UINT8})
    if (elementType(*type.getContext(), dtype) == type)
      return dtype;
  return std::nullopt;
}

std::optional<ir::MemorySpace> spaceOf(pto::AddressSpace space) {
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

ir::ExprPtr number(int64_t value, DataType dtype = DataType::INDEX) {
  return std::make_shared<const ir::ConstInt>(value, dtype, ir::Span());
}

/// The buffer that a tile is, or is another view of.
Value rootOf(Value tile) {
  while (auto reshape = tile.getDefiningOp<pto::TReshapeOp>())
    tile = reshape.getOperand();
  return tile;
}

/// The operands of an op of the table by what they are to it.
struct Operands {
  SmallVector<Value> inputs;
  Value scratch, dst;
};

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

/// Fails with an error for an attribute that the operation has no keyword for.
LogicalResult saysOnly(Operation *op, const ir::OpRow &row) {
  Operation *plain = Operation::create(op->getLoc(), op->getName(), TypeRange(), ValueRange(), NamedAttrList(),
                                       OpaqueProperties(nullptr), BlockRange(), 0);
  op->getName().populateDefaultProperties(plain->getPropertiesStorage());
  DictionaryAttr defaults = plain->getAttrDictionary();
  plain->destroy();
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    StringRef name = attribute.getName();
    bool isKnown = name == "operandSegmentSizes" || (name == "rmode" && row.Find("mode") >= 0) ||
                   (name == "cmpMode" && row.Find("cmp_type") >= 0);
    if (!isKnown && defaults.get(name) != attribute.getValue())
      return op->emitOpError("says ") << name << ", for which PyPTO's " << std::string(row.name) << " has no keyword";
  }
  return success();
}

class Raiser {
public:
  ir::FunctionPtr function(func::FuncOp func);

private:
  LogicalResult parameters(func::FuncOp func);
  LogicalResult block(Block &block);
  LogicalResult statement(Operation *op);
  LogicalResult loop(scf::ForOp op);
  LogicalResult arithmetic(Operation *op);
  LogicalResult load(pto::TLoadOp op);
  LogicalResult store(pto::TStoreOp op);
  LogicalResult byTable(Operation *op);
  LogicalResult fromRow(Operation *op, const ir::OpRow &row, ArrayRef<Value> inputs, Value scratch, Value dst);

  ir::TileTypePtr tile(Value value);
  /// What a buffer holds, as the type of `value`; null with an error where nothing has written it.
  ir::ExprPtr read(Operation *op, Value value, bool isScratch = false);
  ir::ExprPtr scalar(Operation *op, Value value);
  ir::VarPtr assign(const std::string &name, const ir::TypePtr &type, const ir::ExprPtr &value);
  LogicalResult define(Operation *op, Value dst, std::string_view name, ir::Attrs arguments);
  std::optional<ir::Attr> keyword(Operation *op, const ir::OpParam &param, Value dst);
  FailureOr<ir::ExprPtr> list(Operation *op, ValueRange values);

  struct Held {
    ir::VarPtr var;
    Value as; ///< the tile whose type it has
  };
  std::vector<ir::VarPtr> params;
  std::vector<ir::StmtPtr> out;
  DenseMap<Value, ir::ExprPtr> scalars;
  DenseMap<Value, ir::VarPtr> tensors; // by pointer, and by view
  llvm::MapVector<Value, Held> held;   // by buffer
  DenseMap<Value, ir::MemRefPtr> memrefs;
  DenseMap<Value, ir::TileTypePtr> types;
  unsigned count = 0;
};

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
    memref = std::make_shared<const ir::MemRef>(*space, address ? number(*address, DataType::INT64) : nullptr,
                                                pto::getTileBytes(type), memrefs.size() - 1);
  std::vector<ir::ExprPtr> shape = {number(type.getRows()), number(type.getCols())};
  PyPTOOptions options;
  options.target = &pto::targetOf(value.getDefiningOp());
  auto made = std::make_shared<const ir::TileType>(shape, *dtype, memref, std::nullopt, *space);
  if (tileType(*type.getContext(), *made, options) != type) {
    ir::TileView view;
    view.valid_shape = {number(type.getValidRows()), number(type.getValidCols())};
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

/// Pointers become tensors of the shape that their views have.
LogicalResult Raiser::parameters(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    std::string name = "a" + std::to_string(argument.getArgNumber());
    auto pointer = dyn_cast<pto::PtrType>(argument.getType());
    auto dtype = dtypeOf(pointer ? pointer.getElementType() : argument.getType());
    if (!dtype)
      return func.emitError("argument ") << argument.getArgNumber() << " has no type in PyPTO";
    ir::TypePtr type = std::make_shared<const ir::ScalarType>(*dtype);
    std::vector<int64_t> shape;
    for (Operation *user : pointer ? llvm::to_vector(argument.getUsers()) : SmallVector<Operation *>()) {
      auto view = dyn_cast<pto::MakeTensorViewOp>(user);
      if (!view)
        return user->emitOpError("uses a pointer in a way that PyPTO has no form for");
      auto sizes = getConstantIntValues(getAsOpFoldResult(view.getShape()));
      auto strides = getConstantIntValues(getAsOpFoldResult(view.getStrides()));
      int64_t dense = 1;
      bool rowMajor = sizes && strides;
      for (size_t i = rowMajor ? sizes->size() : 0; i-- > 0; dense *= (*sizes)[i])
        rowMajor &= (*strides)[i] == dense || (*sizes)[i] == 1;
      bool isColumn = sizes && sizes->back() == 1;
      rowMajor &= !view.getLayout() || *view.getLayout() == pto::Layout::nd || isColumn;
      if (!rowMajor || (!shape.empty() && shape != std::vector<int64_t>(sizes->begin(), sizes->end())))
        return view.emitOpError("is no view of the whole argument in row-major order, which PyPTO's tensors are");
      shape.assign(sizes->begin(), sizes->end());
    }
    if (pointer && shape.empty())
      return func.emitError("argument ") << argument.getArgNumber() << " has no view that would say its shape";
    if (pointer)
      type = std::make_shared<const ir::TensorType>(shape, *dtype);
    params.push_back(std::make_shared<const ir::Var>(name, type, ir::Span()));
    if (pointer)
      tensors[argument] = params.back();
    else
      scalars[argument] = params.back();
  }
  return success();
}

LogicalResult Raiser::load(pto::TLoadOp op) {
  auto part = op.getSrc().getDefiningOp<pto::PartitionViewOp>();
  ir::TileTypePtr type = tile(op.getDst());
  if (!part || !type)
    return op.emitOpError("has no form in PyPTO: it loads a window of a tensor to a tile of a known type");
  auto offsets = list(op, part.getOffsets()), sizes = list(op, part.getSizes());
  if (failed(offsets) || failed(sizes))
    return failure();
  auto whole = std::make_shared<const ir::MakeTuple>(type->shape_, ir::Span());
  auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
  ir::VarPtr tensor = view ? tensors.lookup(view.getPtr()) : nullptr;
  if (!tensor)
    return op.emitOpError("loads of what is no argument");
  ir::Attrs arguments = {{"", ir::ExprPtr(tensor)},
                         {"", *offsets},
                         {"", ir::ExprPtr(whole)},
                         {"valid_shape", *sizes},
                         {"target_memory", ir::AsEnumValue(*type->memory_space_)}};
  auto known = getConstantIntValues(getAsOpFoldResult(part.getSizes()));
  auto box = cast<pto::TileBufType>(op.getDst().getType());
  if (known && *known == SmallVector<int64_t>{box.getRows(), box.getCols()})
    arguments.erase(arguments.begin() + 3);
  return define(op, op.getDst(), "tile.load", std::move(arguments));
}

LogicalResult Raiser::store(pto::TStoreOp op) {
  auto part = op.getDst().getDefiningOp<pto::PartitionViewOp>();
  auto view = part ? part.getSource().getDefiningOp<pto::MakeTensorViewOp>() : nullptr;
  ir::VarPtr tensor = view ? tensors.lookup(view.getPtr()) : nullptr;
  if (!tensor || op->getNumOperands() != 2)
    return op.emitOpError("has no form in PyPTO: it stores a tile to a window of an argument");
  ir::ExprPtr source = read(op, op.getSrc());
  auto offsets = list(op, part.getOffsets()), sizes = list(op, part.getSizes());
  if (!source || failed(offsets) || failed(sizes))
    return failure();
  ir::Attrs arguments = {{"", source}, {"", *offsets}, {"", ir::ExprPtr(tensor)}, {"shapes", *sizes}};
  auto known = getConstantIntValues(getAsOpFoldResult(part.getSizes()));
  auto type = cast<pto::TileBufType>(op.getSrc().getType());
  if (known && *known == SmallVector<int64_t>{type.getValidRows(), type.getValidCols()})
    arguments.pop_back();
  ir::CallPtr call = ir::CreateOp("tile.store", std::move(arguments), ir::Span());
  out.push_back(std::make_shared<const ir::EvalStmt>(call, ir::Span()));
  return success();
}

LogicalResult Raiser::arithmetic(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dtype = dtypeOf(constant.getType());
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    auto real = dyn_cast<FloatAttr>(constant.getValue());
    if (!dtype || (!integer && !real))
      return op->emitOpError("has no form in PyPTO");
    scalars[constant] = integer ? number(integer.getInt(), *dtype)
                                : std::make_shared<const ir::ConstFloat>(real.getValueAsDouble(), *dtype, ir::Span());
    return success();
  }
  std::vector<ir::ExprPtr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(scalar(op, operand));
    if (!operands.back())
      return failure();
  }
  if (mlir::isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    scalars[op->getResult(0)] = operands[0];
    return success();
  }
  auto kind = llvm::StringSwitch<std::optional<ir::NodeKind>>(op->getName().getStringRef())
                  .Case("arith.addi", ir::NodeKind::Add)
                  .Case("arith.subi", ir::NodeKind::Sub)
                  .Case("arith.muli", ir::NodeKind::Mul)
                  .Case("arith.minsi", ir::NodeKind::Min)
                  .Case("arith.maxsi", ir::NodeKind::Max)
                  .Default(std::nullopt);
  if (op->getNumResults() != 1 || !(op->getResult(0).getType().isIndex() || op->getResult(0).getType().isInteger(64)))
    kind.reset(); // narrower numbers wrap around
  if (!kind)
    return op->emitOpError("has no form in PyPTO");
  scalars[op->getResult(0)] = ir::MakeBinary(*kind, operands[0], operands[1], DataType::INDEX, ir::Span());
  return success();
}

/// Tiles that hold something before the loop and are written in it are carried.
LogicalResult Raiser::loop(scf::ForOp op) {
  if (op.getNumResults())
    return op.emitOpError("hands on values: PyPTO has a form for loops over buffers only");
  SmallVector<ir::ExprPtr> bounds;
  for (Value value : {op.getLowerBound(), op.getUpperBound(), op.getStep()}) {
    bounds.push_back(scalar(op, value));
    if (!bounds.back())
      return failure();
  }
  auto index = std::make_shared<const ir::Var>("i" + std::to_string(count++),
                                               std::make_shared<const ir::ScalarType>(DataType::INDEX), ir::Span());
  scalars[op.getInductionVar()] = index;
  llvm::MapVector<Value, Held> before = held;
  SmallVector<Value> carried;
  op.getBody()->walk([&](Operation *inner) {
    Value written = operandsOf(inner).dst;
    Value root = written ? rootOf(written) : Value();
    if (root && before.count(root) && !llvm::is_contained(carried, root))
      carried.push_back(root);
  });
  std::vector<ir::IterArgPtr> args;
  std::vector<ir::VarPtr> results;
  for (Value root : carried) {
    Held &now = held[root];
    args.push_back(
        std::make_shared<const ir::IterArg>("c" + std::to_string(count++), now.var->type_, now.var, ir::Span()));
    now.var = args.back();
  }
  std::vector<ir::StmtPtr> outer = std::exchange(out, {});
  if (failed(block(*op.getBody())))
    return failure();
  std::vector<ir::ExprPtr> last;
  for (Value root : carried) {
    ir::ExprPtr value = read(op, before[root].as);
    if (!value)
      return failure();
    last.push_back(value);
    results.push_back(
        std::make_shared<const ir::Var>("r" + std::to_string(count++), before[root].var->type_, ir::Span()));
  }
  if (!carried.empty())
    out.push_back(std::make_shared<const ir::YieldStmt>(last, ir::Span()));
  auto body = std::make_shared<const ir::SeqStmts>(std::exchange(out, std::move(outer)), ir::Span());
  out.push_back(
      std::make_shared<const ir::ForStmt>(index, bounds[0], bounds[1], bounds[2], args, body, results, ir::Span()));
  held = before;
  for (auto [root, result] : llvm::zip(carried, results))
    held[root].var = result;
  return success();
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
    if (auto mode = op->getAttrOfType<pto::RoundModeAttr>("rmode"))
      return ir::Attr(llvm::StringRef(pto::stringifyRoundMode(mode.getValue())).lower());
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
    auto shape = std::make_shared<const ir::MakeTuple>(type->shape_, ir::Span());
    return define(op, dst, "tile.full", {{"shape", ir::ExprPtr(shape)}, {"dtype", type->dtype_}, {"value", value}});
  }
  for (const ir::OpRow &row : ir::AllOps())
    if (row.name.starts_with("tile.") && row.pto == name.str() && !Lowering::hasHandler(row.name))
      return fromRow(op, row, inputs, scratch, dst);
  return op->emitOpError("has no name in PyPTO");
}

LogicalResult Raiser::statement(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getValidRow() || alloc.getValidCol() || (alloc.getAddr() && !getConstantIntValue(alloc.getAddr()))
               ? op->emitOpError("with extents or an address known at run time has no form in PyPTO")
               : success();
  // Order within a core, which the compiler makes again.
  if (mlir::isa<pto::SetFlagOp, pto::WaitFlagOp>(op))
    return success();
  if (mlir::isa<pto::MakeTensorViewOp, pto::PartitionViewOp, pto::TReshapeOp, func::ReturnOp, scf::YieldOp>(op))
    return success();
  if (auto load = dyn_cast<pto::TLoadOp>(op))
    return failed(saysOnly(op, *ir::FindOp("tile.load"))) ? failure() : this->load(load);
  if (auto store = dyn_cast<pto::TStoreOp>(op))
    return failed(saysOnly(op, *ir::FindOp("tile.store"))) ? failure() : this->store(store);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return this->loop(loop);
  if (mlir::isa<arith::ArithDialect>(op->getDialect()))
    return arithmetic(op);
  std::string index = "tile." + op->getName().stripDialect().str();
  if (op->getNumOperands() == 0 && op->getNumResults() == 1 && ir::FindOp(index)) {
    ir::CallPtr call = ir::CreateOp(index, ir::Attrs(), ir::Span());
    scalars[op->getResult(0)] = assign("n", call->type_, call);
    return success();
  }
  return byTable(op);
}

LogicalResult Raiser::block(Block &block) {
  for (Operation &op : block) {
    LogicalResult done = failure();
    try {
      done = statement(&op);
    } catch (const pypto::Error &error) {
      done = op.emitOpError("has no form in PyPTO: ") << error.what();
    }
    if (failed(done))
      return failure();
  }
  return success();
}

ir::FunctionPtr Raiser::function(func::FuncOp func) {
  if (!func.getBody().hasOneBlock()) {
    func.emitError("a kernel of several blocks has no form in PyPTO");
    return nullptr;
  }
  if (failed(parameters(func)) || failed(block(func.getBody().front())))
    return nullptr;
  auto body = std::make_shared<const ir::SeqStmts>(out, ir::Span());
  std::vector<ir::ParamDirection> directions;
  for (BlockArgument argument : func.getArguments()) {
    bool read = false, written = false;
    func.walk([&](pto::PartitionViewOp part) {
      auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
      if (view && view.getPtr() == argument)
        for (Operation *user : part.getResult().getUsers())
          (mlir::isa<pto::TStoreOp>(user) ? written : read) = true;
    });
    directions.push_back(!written ? ir::ParamDirection::In
                         : read   ? ir::ParamDirection::InOut
                                  : ir::ParamDirection::Out);
  }
  return std::make_shared<const ir::Function>(func.getName().str(), params, std::vector<ir::TypePtr>(), body,
                                              ir::Span(), ir::FunctionType::InCore, directions);
}

} // namespace

ir::ProgramPtr raisePyPTO(ModuleOp module) {
  std::vector<ir::FunctionPtr> functions;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    functions.push_back(Raiser().function(func));
    if (!functions.back())
      return nullptr;
  }
  auto program = std::make_shared<const ir::Program>(functions, "Kernels", ir::Span());
  ir::VerifyProgram(program);
  return program;
}

} // namespace pto_mlir
