// Calls of operations. Most of them bind by the table: PyPTO's row names the pto op, the op's form its operands.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {
namespace {

/// Keywords that become attributes of the pto op, whichever op it is.
std::optional<NamedAttribute> attributeOf(OpBuilder &b, std::string_view keyword, const ir::Attr &value,
                                          const ir::Span &span) {
  MLIRContext *context = b.getContext();
  auto named = [&](StringRef name, Attribute attribute) { return NamedAttribute(b.getStringAttr(name), attribute); };
  if (keyword == "cmp_type") {
    auto mode = pto::symbolizeCmpMode(static_cast<uint32_t>(std::get<int64_t>(value)));
    if (!mode)
      fail(span, "cmp_type is 0 to 5, not " + std::to_string(std::get<int64_t>(value)));
    return named("cmpMode", pto::CmpModeAttr::get(context, *mode));
  }
  if (keyword == "mode") {
    std::string name = StringRef(std::get<std::string>(value)).upper();
    auto mode = pto::symbolizeRoundMode(name);
    if (!mode)
      fail(span, "mode is none, rint, round, floor, ceil, trunc or odd, not " + std::get<std::string>(value));
    return named("rmode", pto::RoundModeAttr::get(context, *mode));
  }
  // The types of operands and result say these.
  for (std::string_view told :
       {"target_type", "target_memory", "blayout", "slayout", "pad_value", "dtype", "output_dtype", "acc_phase"})
    if (keyword == told)
      return std::nullopt;
  if (keyword == "high_precision")
    return std::nullopt; // every instruction of the model is that precise
  fail(span, "keyword " + std::string(keyword) + " is not lowered yet");
}

/// The operand whose buffer the result takes over.
std::string_view inPlaceOperand(const ir::OpRow &row) {
  for (std::string_view name : {"acc", "dst"})
    if (row.rule == ir::OpRule::Like && row.Find(name) == 0)
      return name;
  return "";
}

/// An operand that only says a shape; the result's type has it.
bool saysShape(std::string_view param) { return param == "target" || param == "shape"; }
bool isScratch(std::string_view param) { return param.starts_with("tmp"); }

/// The memory where the matrix unit reads an operand of a product.
std::optional<ir::MemorySpace> spaceOfFactor(const ir::OpRow &row, std::string_view param) {
  if (!row.pto.starts_with("tmatmul") && !row.pto.starts_with("tgemv"))
    return std::nullopt;
  if (param == "lhs")
    return ir::MemorySpace::Left;
  if (param == "rhs")
    return ir::MemorySpace::Right;
  if (param == "lhs_scale")
    return ir::MemorySpace::LeftScale;
  if (param == "rhs_scale")
    return ir::MemorySpace::RightScale;
  return param == "bias" ? std::optional(ir::MemorySpace::Bias) : std::nullopt;
}

} // namespace

void keepsPlace(const ir::TypePtr &type, const ir::ExprPtr &operand, const ir::CallPtr &op) {
  auto var = ir::As<ir::Var>(operand);
  if (!liesWith(type, operand->type_))
    fail(op->span_, op->op_->name_ + " gives the bytes of " + (var ? var->name_hint_ : "its operand") +
                        ", whose MemRef is another one");
}

Value Lowering::lowerCall(const ir::CallPtr &op, const ir::VarPtr &var) {
  at(op->span_);
  if (const auto *emit = options.backend ? options.backend->FindOp(op->op_->name_) : nullptr)
    return lowerByText(*emit, op, var);
  ir::OpView call(*op);
  const ir::OpRow *row = call.row();
  if (!row)
    fail(op->span_, ir::IsA<ir::GlobalVar>(op->op_) ? "a kernel calls no function: " + op->op_->name_
                                                    : "Unknown operation " + op->op_->name_);
  if (auto found = handlers().find(row->name); found != handlers().end())
    return (this->*found->second)(call, op, var);
  if (row->name == "tile.move" && ir::ElementTypeOf(op->type_) == pypto::DataType::FP8E8M0)
    return moveScales(call, op, var);
  if (row->name.starts_with("tensor."))
    fail(op->span_, op->op_->name_ + " works on tensors; a kernel loads them into tiles first");
  const Form *form = findForm(row->pto);
  if (!form || !form->hasDst())
    fail(op->span_, op->op_->name_ + " is not lowered yet");
  return lowerByForm(call, op, var);
}

/// The operand of a product where the matrix unit reads it: moved there from Mat.
Value Lowering::factor(Value tile, const ir::TypePtr &given, ir::MemorySpace space) {
  auto type = ir::As<ir::TileType>(given);
  if (!options.layoutsOfSpaces || !type || type->GetMemorySpace() != ir::MemorySpace::Mat)
    return tile;
  ir::TileView view = ir::DefaultTileView(space, type->shape_);
  if (type->tile_view_)
    view.valid_shape = type->tile_view_->valid_shape;
  auto moved = std::make_shared<const ir::TileType>(type->shape_, type->dtype_, std::nullopt, std::move(view), space);
  held.push_back(moved); // its address is the buffer's name
  Value place = buffer(moved, moved.get());
  setValid(place, *moved);
  if (moved->dtype_ == pypto::DataType::FP8E8M0)
    moveScales(tile, place);
  else
    b.create<pto::TMovOp>(loc, tile, place);
  return place;
}

/// Scratch of a row's operation, which is as large as the source.
Value Lowering::rowScratch(Value given, Value like, const ir::TileTypePtr &source) {
  auto type = cast<pto::TileBufType>(like.getType()), scratch = cast<pto::TileBufType>(given.getType());
  if (scratch.getValidRows() == type.getValidRows() && scratch.getValidCols() == type.getValidCols() &&
      type.hasStaticValid())
    return given;
  Value made = scratchLike(nullptr, like);
  setValid(made, *source);
  return made;
}

/// A product sums over the columns of its left operand: of the right one, so many rows, although more are valid.
Value Lowering::rowsOfFactor(Value right, Value left) {
  auto a = cast<pto::TileBufType>(left.getType()), b = cast<pto::TileBufType>(right.getType());
  int64_t rows = a.getValidCols();
  if (!a.hasStaticValid() || !b.hasStaticValid() || rows >= b.getValidRows())
    return right;
  Value zero = indexConstant(0);
  return this->b.create<pto::SubViewOp>(loc, b.withValid(rows, b.getValidCols()), right, ValueRange{zero, zero},
                                        indexConstant(rows), indexConstant(b.getValidCols()),
                                        this->b.getI64ArrayAttr({b.getRows(), b.getCols()}));
}

Value Lowering::lowerByForm(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  const ir::OpRow &row = *call.row();
  if (row.Find("lhs_scale") >= 0)
    checkScaled(op);
  const Form &form = *findForm(row.pto);
  std::string_view inPlace = inPlaceOperand(row);
  SmallVector<std::pair<ir::ExprPtr, Value>> inputs; // tiles are computed once, numbers where their type is known
  ir::TileTypePtr source;                            // of the first tile
  Value scratch, like, first;
  for (const ir::OpParam &param : row.params) {
    ir::ExprPtr operand = param.operand ? call.Operand(param.name) : nullptr;
    if (!operand || saysShape(param.name) || param.name == "init_cond")
      continue;
    if (isScratch(param.name)) {
      scratch = valueOf(operand);
      continue;
    }
    if (param.kind != ir::ParamKind::Data && param.kind != ir::ParamKind::Scalar)
      fail(op->span_, op->op_->name_ + ": operand " + std::string(param.name) + " is not lowered yet");
    auto space = spaceOfFactor(row, param.name);
    Value held = ShapeOf(operand->type_) ? valueOf(operand) : Value();
    if (param.kind == ir::ParamKind::Data && !like && param.name != "mask") {
      like = held ? held : valueOf(operand);
      source = ir::As<ir::TileType>(operand->type_);
    }
    inputs.emplace_back(operand, held && space ? factor(held, operand->type_, *space) : held);
    if (space == ir::MemorySpace::Right)
      inputs.back().second = rowsOfFactor(inputs.back().second, inputs[inputs.size() - 2].second);
    if (param.name == inPlace)
      first = inputs.back().second;
  }
  if (scratch && row.rule == ir::OpRule::Row)
    scratch = rowScratch(scratch, like, source);
  Value dst = inPlace.empty() ? destination(*op, var) : first;
  SmallVector<Value> operands;
  SmallVector<int32_t> segments;
  // An op that reads and writes one operand lists it once.
  size_t next = !inPlace.empty() && llvm::count_if(form.operands, [](const FormOperand &operand) {
                                      return operand.role == Role::Input && !operand.optional;
                                    }) < int64_t(inputs.size());
  Type element = cast<pto::TileBufType>(like ? like.getType() : dst.getType()).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = b.getIntegerType(integer.getWidth());
  if (row.pto == "tlrelu") // its slope is f32, whatever the elements are
    element = b.getF32Type();
  for (const FormOperand &operand : form.operands) {
    Value value;
    if (operand.role == Role::Dst) {
      value = dst;
    } else if (operand.role == Role::Scratch) {
      value = scratch;
      if (!value && !operand.optional && like) {
        value = scratchLike(nullptr, like);
        setValid(value, *source);
      }
    } else if (next < inputs.size()) {
      const auto &[input, computed] = inputs[next++];
      value = computed ? computed : scalarOf(input, element);
    }
    if (!value && !operand.optional)
      fail(op->span_, op->op_->name_ + " needs " + std::string(operand.name));
    segments.push_back(value != nullptr);
    if (value)
      operands.push_back(value);
  }
  if (next < inputs.size())
    fail(op->span_, op->op_->name_ + " with " + std::to_string(inputs.size()) + " operands is not lowered yet");

  OperationState state(loc, "pto." + std::string(row.pto));
  if (state.name.hasTrait<pto::RowMajorTiles>())
    columnsAsRows(operands);
  state.addOperands(operands);
  if (form.segments)
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  if (row.pto == "tcolsum" && scratch)
    state.addAttribute("isBinary", b.getBoolAttr(true));
  for (const ir::OpParam &param : row.params) {
    auto value = param.operand ? std::nullopt : call.Keyword(param.name);
    bool isDefault = !value || !ir::FindAttr(op->kwargs_, param.name);
    if (isDefault && param.name != "mode" && param.name != "cmp_type")
      continue;
    if (auto attribute = attributeOf(b, param.name, *value, op->span_))
      state.addAttribute(attribute->getName(), attribute->getValue());
  }
  if (ir::ExprPtr isFirst = row.Find("init_cond") >= 0 ? call.Operand("init_cond") : nullptr) {
    auto branch = b.create<scf::IfOp>(loc, valueOf(isFirst), true); // the product itself, else what it adds to
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create(state);
    b.setInsertionPointToStart(branch.thenBlock());
    OperationState product(loc, "pto.tmatmul");
    product.addOperands({inputs[1].second, inputs[2].second, dst});
    b.create(product);
  } else {
    b.create(state);
  }
  if (!inPlace.empty()) {
    keepsPlace(var ? var->type_ : op->type_, call.Operand(inPlace), op);
    takeOver(call.Operand(inPlace), op->op_->name_);
  }
  return dst;
}

Value Lowering::load(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  if (auto tensor = ir::As<ir::TensorType>(call.Operand("tensor")->type_); tensor && isScaleLayout(*tensor))
    return loadScales(call, op, var);
  // The deduced type has what the tensor holds of the window.
  auto type = ir::As<ir::TileType>(op->type_);
  bool cut = type && type->tile_view_ && !type->tile_view_->valid_shape.empty();
  std::vector<ir::ExprPtr> sizes = cut ? type->tile_view_->valid_shape : call.Elements("shapes");
  if (call.Elements("valid_shape").size() > sizes.size()) // its rows lie along several axes
    sizes = call.Elements("valid_shape");
  Value view = valueOf(call.Operand("tensor"));
  Value tile = destination(*op, var);
  Value part = window(view, call.Elements("offsets"), sizes);
  b.create<pto::TLoadOp>(loc, part, tile);
  return tile;
}

Value Lowering::store(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  ir::ExprPtr source = call.Operand("tile");
  auto type = ir::As<ir::TileType>(source->type_);
  Value tile = valueOf(source), view = valueOf(call.Operand("out"));
  std::vector<ir::ExprPtr> sizes = call.Elements("shapes");
  if (sizes.empty())
    sizes = type->tile_view_ && !type->tile_view_->valid_shape.empty() ? type->tile_view_->valid_shape : type->shape_;
  auto offsets = call.Elements("offsets");
  while (sizes.size() > offsets.size() && ir::ConstantInt(sizes.front()) == 1)
    sizes.erase(sizes.begin());
  auto move = b.create<pto::TStoreOp>(loc, tile, window(view, offsets, sizes));
  if (call.Enum<ir::AtomicType>("atomic") == ir::AtomicType::Add)
    move.setAtomicType(pto::AtomicType::atomic_add);
  if (call.Keyword<bool>("relu").value_or(false)) {
    if (cast<pto::TileBufType>(tile.getType()).getLoc() != pto::AddressSpace::acc)
      fail(op->span_, "a store with relu=True is of a tile in Acc; use `pl.relu` for others");
    move.setReluPreMode(pto::ReluPreMode::normal_relu);
  }
  return view;
}

Value Lowering::create(const ir::OpView &, const ir::CallPtr &op, const ir::VarPtr &var) {
  return destination(*op, var);
}

Value Lowering::full(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value tile = destination(*op, var);
  Type element = cast<pto::TileBufType>(tile.getType()).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = b.getIntegerType(integer.getWidth());
  b.create<pto::TExpandSOp>(loc, scalarOf(call.Operand("value"), element), tile);
  return tile;
}

Value Lowering::reshape(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto type = ir::As<ir::TileType>(var ? var->type_ : op->type_);
  keepsPlace(type, call.Operand("x"), op);
  return b.create<pto::TReshapeOp>(loc, tileType(*b.getContext(), *type, options), valueOf(call.Operand("x")));
}

/// a - b - c: the pto ops of that name add c.
Value Lowering::subtractTwice(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value left = valueOf(call.Operand("a")), last = valueOf(call.Operand("c"));
  Value dst = destination(*op, var);
  auto type = cast<pto::TileBufType>(dst.getType());
  Value first = dst == last ? scratch(type) : dst;
  ir::ExprPtr middle = call.Operand("b");
  if (ir::ShapeOf(middle->type_))
    b.create<pto::TSubOp>(loc, left, valueOf(middle), first);
  else
    b.create<pto::TSubSOp>(loc, left, scalarOf(middle, type.getElementType()), first);
  b.create<pto::TSubOp>(loc, first, last, dst);
  return dst;
}

Value Lowering::dim(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  auto view = valueOf(call.Operand("tensor")).getDefiningOp<pto::MakeTensorViewOp>();
  auto axis = ir::ConstantInt(call.Operand("axis"));
  if (!axis || *axis < 0 || *axis >= int64_t(view.getShape().size()))
    fail(op->span_, "dim needs a constant axis of the tensor");
  return view.getShape()[*axis];
}

Value Lowering::flag(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  auto pipe = [&](const char *keyword) {
    auto named = call.Enum<ir::PipeType>(keyword);
    return *pto::symbolizePipe("PIPE_" + std::string(ir::ValueName(*named)));
  };
  int64_t event = *call.Keyword<int64_t>("event_id");
  if (event < 0 || event > 7)
    fail(op->span_, "Event ID must be in range [0, 7], got " + std::to_string(event));
  if (call.row()->pto == "set_flag")
    b.create<pto::SetFlagOp>(loc, pipe("set_pipe"), pipe("wait_pipe"), event);
  else
    b.create<pto::WaitFlagOp>(loc, pipe("set_pipe"), pipe("wait_pipe"), event);
  return nullptr;
}

Value Lowering::barrier(const ir::OpView &call, const ir::CallPtr &, const ir::VarPtr &) {
  // system.bar_v
  std::string name = "PIPE_" + StringRef(call.row()->name).rsplit('_').second.upper();
  b.create<pto::BarrierOp>(loc, *pto::symbolizePipe(name));
  return nullptr;
}

Value Lowering::blockIndex(const ir::OpView &call, const ir::CallPtr &, const ir::VarPtr &) {
  if (plan && plan->isBlock && call.row()->name != "tile.get_subblock_idx")
    return convert(call.row()->name == "tile.get_block_idx" ? blockNumber : blockCount, b.getIndexType(), true);
  OperationState state(loc, "pto." + std::string(call.row()->pto), {}, {b.getI64Type()});
  return convert(b.create(state)->getResult(0), b.getIndexType(), true);
}

const std::map<std::string_view, Lowering::Handler> &Lowering::handlers() {
  static const std::map<std::string_view, Handler> all = {
      {"tile.load", &Lowering::load},
      {"tile.store", &Lowering::store},
      {"tile.create", &Lowering::create},
      {"tile.create_l1", &Lowering::create},
      {"tile.full", &Lowering::full},
      {"tile.reshape", &Lowering::reshape},
      {"tile.slice", &Lowering::slice},
      {"tile.subc", &Lowering::subtractTwice},
      {"tile.subsc", &Lowering::subtractTwice},
      {"tensor.dim", &Lowering::dim},
      {"tensor.view", &Lowering::viewAgain},
      {"tile.read", &Lowering::read},
      {"tensor.read", &Lowering::read},
      {"tile.write", &Lowering::write},
      {"tensor.write", &Lowering::write},
      {"tile.assemble", &Lowering::assemble},
      {"tile.extract", &Lowering::extract},
      {"tile.img2col", &Lowering::columnsOf},
      {"tile.transpose", &Lowering::transpose},
      {"tile.transpose_view", &Lowering::transposeView},
      {"tile.gather", &Lowering::gather},
      {"tile.gather_mask", &Lowering::gatherMask},
      {"tile.gatherb", &Lowering::gatherBlocks},
      {"tile.gather_compare", &Lowering::gatherCompare},
      {"tile.sin", &Lowering::sine},
      {"tile.cos", &Lowering::sine},
      {"tile.scatter_update", &Lowering::scatterRows},
      {"tile.mgather", &Lowering::gatherMemory},
      {"tile.mscatter", &Lowering::scatterMemory},
      {"tile.gather_row", &Lowering::gatherRow},
      {"tile.mrgsort", &Lowering::mergeSort},
      {"tile.ci", &Lowering::countUp},
      {"tile.tri", &Lowering::triangle},
      {"tile.set_validshape", &Lowering::setValidShape},
      {"tile.reinterpret_view", &Lowering::reinterpret},
      {"system.sync_set", &Lowering::semaphore},
      {"system.sync_wait", &Lowering::semaphore},
      {"system.set_ffts", &Lowering::semaphore},
      {"tile.random", &Lowering::random},
      {"system.aic_initialize_pipe", &Lowering::openQueue},
      {"system.aiv_initialize_pipe", &Lowering::openQueue},
      {"system.reserve_buffer", &Lowering::reserveBuffer},
      {"system.import_peer_buffer", &Lowering::importBuffer},
      {"tile.tpush_to_aiv", &Lowering::push},
      {"tile.tpush_to_aic", &Lowering::push},
      {"tile.tpop_from_aiv", &Lowering::pop},
      {"tile.tpop_from_aic", &Lowering::pop},
      {"tile.tfree_to_aiv", &Lowering::freeSlot},
      {"tile.tfree_to_aic", &Lowering::freeSlot},
      {"array.create", &Lowering::createArray},
      {"array.get_element", &Lowering::arrayElement},
      {"array.update_element", &Lowering::updateArray},
      {"system.sync_src", &Lowering::flag},
      {"system.sync_dst", &Lowering::flag},
      {"system.bar_v", &Lowering::barrier},
      {"system.bar_m", &Lowering::barrier},
      {"system.bar_all", &Lowering::barrier},
      {"comm.get_comm_ctx", &Lowering::context},
      {"comm.rank", &Lowering::rankNumber},
      {"comm.nranks", &Lowering::rankNumber},
      {"comm.notify", &Lowering::notify},
      {"comm.wait", &Lowering::wait},
      {"comm.defer_wait", &Lowering::wait},
      {"comm.remote_load", &Lowering::remoteLoad},
      {"comm.remote_store", &Lowering::remoteStore},
      {"comm.put", &Lowering::put},
      {"comm.get", &Lowering::get},
      {"comm.barrier", &Lowering::meetRanks},
      {"comm.allreduce", &Lowering::reduceAll},
      {"comm.broadcast", &Lowering::broadcast},
      {"comm.allgather", &Lowering::gatherAll},
      {"comm.all_to_all", &Lowering::gatherAll},
      {"comm.all_to_all_v", &Lowering::gatherAll},
      {"comm.reduce_scatter", &Lowering::reduceScatter},
      {"tile.get_block_idx", &Lowering::blockIndex},
      {"tile.get_block_num", &Lowering::blockIndex},
      {"tile.get_subblock_idx", &Lowering::blockIndex},
  };
  return all;
}

} // namespace pto_mlir::pypto_frontend
