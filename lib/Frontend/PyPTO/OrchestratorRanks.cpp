// The host level: functions of devices that it calls, and memory that every device has a copy of.
#include "Orchestrator.h"
#include "TensorsToTiles.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

Held Orchestrator::communication(const ir::OpView &call, const ir::Call &op) {
  std::string_view name = call.row()->name;
  if (name == "comm.world_size")
    return ranks;
  if (name == "comm.alloc_window_buffer")
    return windowFor(numbersOf(call.Elements("shape")), *call.Keyword<pypto::DataType>("dtype"), op.span_);
  if (name == "comm.window")
    return windowOf(call, op);
  if (name == "comm.get_comm_ctx")
    return viewOf(call.Operand("tensor"));
  if (call.row()->Find("signal") >= 0 && name != "comm.wait" && name != "comm.defer_wait")
    return collective(call, op);
  fail(op.span_, op.op_->name_ + " belongs into a kernel");
}

/// A copy for each rank; bytes of one copy are a multiple of what allocations are aligned to, and at least a page.
View Orchestrator::windowFor(const std::vector<Number> &shape, pypto::DataType dtype, const ir::Span &span,
                             std::vector<int64_t> devices) {
  constexpr int64_t least = 4096, alignment = 512, most = int64_t(1) << 40;
  int64_t bytes = std::max<int64_t>(int64_t(dtype.GetBit()) / 8, 1);
  View view{unsigned(buffers.size()), 0, {}, shape, std::vector<Number>(shape.size()), dtype};
  for (int64_t axis = int64_t(shape.size()), dense = 1; axis-- > 0;) {
    view.strides[axis] = dense;
    bool fits = shape[axis].isKnown() && shape[axis].known > 0 && !llvm::MulOverflow(bytes, shape[axis].known, bytes) &&
                bytes <= most;
    if (!fits)
      fail(span, "a window buffer of this shape cannot be made");
    dense *= shape[axis].known;
  }
  int64_t pitch = int64_t(llvm::alignTo(uint64_t(std::max(bytes, least)), uint64_t(alignment)));
  buffers.push_back({"window" + std::to_string(buffers.size()), shape, dtype, {}, windows});
  Buffer &made = buffers.back();
  made.pitch = pitch;
  made.window = unsigned(usedBy.size());
  usedBy.emplace_back();
  if (devices.empty() && made.window < windowDevices.size())
    devices = windowDevices[made.window];
  if (devices.empty())
    for (int64_t device = 0; device < ranks; ++device)
      devices.push_back(device);
  made.devices = std::move(devices);
  int64_t all = pitch * int64_t(made.devices.size());
  if (host)
    made.memory = host->zeros(all / std::max<int64_t>(int64_t(dtype.GetBit()) / 8, 1), dtype);
  windows += all;
  if (windows > most)
    fail(span, "the program makes windows of more than 1 TiB");
  return view;
}

Number Orchestrator::rankIn(const Buffer &window, const ir::Span &span) const {
  if (givenRank && int64_t(window.devices.size()) == ranks)
    return Number(givenRank);
  auto found = std::find(window.devices.begin(), window.devices.end(), rank);
  if (found == window.devices.end())
    fail(span, (givenRank ? "the device of this run" : "device " + std::to_string(rank)) + " has no copy of " +
                   window.name + ", which other devices share");
  return found - window.devices.begin();
}

Orchestrator::WindowDevices Orchestrator::devicesOfWindows() const {
  WindowDevices devices;
  for (const std::set<int64_t> &users : usedBy)
    devices.emplace_back(users.begin(), users.end());
  return devices;
}

bool Orchestrator::hasSmallGroups() const {
  return std::any_of(usedBy.begin(), usedBy.end(),
                     [&](const std::set<int64_t> &users) { return !users.empty() && int64_t(users.size()) < ranks; });
}

View Orchestrator::windowOf(const ir::OpView &call, const ir::Call &op) {
  View view = viewOf(call.Operand("buffer"));
  const Buffer &buffer = buffers[view.buffer];
  if (!buffer.pitch)
    fail(op.span_, "pld.window is of a buffer that pld.alloc_window_buffer made");
  view.shape = numbersOf(call.Elements("shape"));
  view.strides.assign(view.shape.size(), 1);
  view.dtype = *call.Keyword<pypto::DataType>("dtype");
  int64_t bytes = std::max<int64_t>(int64_t(view.dtype.GetBit()) / 8, 1), dense = 1;
  int64_t room = std::max<int64_t>(int64_t(buffer.dtype.GetBit()) / 8, 1);
  for (const Number &extent : buffer.shape)
    room *= extent.known;
  for (size_t axis = view.shape.size(); axis-- > 0;) {
    const Number &extent = view.shape[axis];
    view.strides[axis] = dense;
    if (!extent.isKnown() || extent.known < 1 || llvm::MulOverflow(dense, extent.known, dense))
      fail(op.span_, "a window of this shape cannot be made");
  }
  if (llvm::MulOverflow(bytes, dense, bytes) || bytes > room)
    fail(op.span_, "the window needs " + std::to_string(bytes) + " bytes, its buffer has " + std::to_string(room));
  return view;
}

/// A collective outside of kernels is a kernel of its own: on all devices at the host level, else on this one.
Held Orchestrator::collective(const ir::OpView &call, const ir::Call &op) {
  const ir::OpRow &row = *call.row();
  std::vector<Held> arguments;
  std::vector<ir::VarPtr> params;
  std::vector<ir::ParamDirection> directions;
  ir::TypePtr result;
  Held given;
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(&op));
  std::vector<int64_t> devices; // that share its windows
  for (const ir::OpParam &param : row.params) {
    if (!param.operand)
      continue;
    ir::ExprPtr operand = call.Operand(param.name);
    View view =
        operand ? viewOf(operand) : windowFor({int64_t(devices.size())}, pypto::DataType::INT32, op.span_, devices);
    if (const Buffer &buffer = buffers[view.buffer]; buffer.pitch) {
      if (!devices.empty() && devices != buffer.devices)
        fail(op.span_, op.op_->name_ + ": its windows belong to different devices; pass all of them to the same ones");
      devices = buffer.devices;
    }
    if (!view.isKnown())
      fail(op.span_, op.op_->name_ + " outside a kernel takes tensors whose extents are known");
    std::vector<int64_t> extents(view.shape.size());
    std::transform(view.shape.begin(), view.shape.end(), extents.begin(),
                   [](const Number &extent) { return extent.known; });
    std::vector<ir::ExprPtr> shape = ir::ConstantShape(extents);
    ir::TypePtr type = std::make_shared<const ir::TensorType>(shape, view.dtype);
    if (buffers[view.buffer].pitch)
      type = std::make_shared<const ir::DistributedTensorType>(shape, view.dtype);
    params.push_back(std::make_shared<const ir::Var>(std::string(param.name), type, op.span_));
    bool isRead = param.name == "local" || param.name == "input" || param.name == "send_counts";
    directions.push_back(isRead ? ir::ParamDirection::In : ir::ParamDirection::InOut);
    if (param.name == row.like) {
      result = type;
      given = view;
    }
    key += textOf(view.shape);
    arguments.emplace_back(std::move(view));
  }
  ir::FunctionPtr &kernel = collectives[key];
  if (!kernel) {
    auto made = std::make_shared<const ir::Call>(op.op_, std::vector<ir::ExprPtr>(params.begin(), params.end()),
                                                 op.kwargs_, result, op.span_);
    kernel = std::make_shared<const ir::Function>(std::string(row.name.substr(row.name.find('.') + 1)), params,
                                                  std::vector<ir::TypePtr>(),
                                                  std::make_shared<const ir::EvalStmt>(made, op.span_), op.span_,
                                                  ir::FunctionType::InCore, std::move(directions));
  }
  isOfAll = isDispatching();
  int64_t outer = rank;
  auto back = llvm::make_scope_exit([&] {
    rank = outer;
    isOfAll = false;
  });
  if (!isOfAll)
    devices = {rank};
  for (int64_t device : devices) {
    rank = device;
    dispatches[rank] += isOfAll;
    launch(kernel, arguments, op.span_);
  }
  return given;
}

/// What a SubWorker does is the caller's; it runs when the launches have ended. Tensors that it gets and that the host
/// level made are results of the run.
Held Orchestrator::callSubWorker(const ir::Function &function, const std::vector<Held> &arguments,
                                 const ir::Span &span) {
  if (depth > 0)
    fail(span, function.name_ + " is called by a device; SubWorkers are called from the host level");
  hasCalledBack = true;
  Results given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto *view = std::get_if<View>(&arguments[i]);
    if (!view)
      continue;
    Buffer &buffer = buffers[view->buffer];
    if (buffer.pitch || (!buffer.direction && !isWhole(*view)))
      fail(span, function.name_ + ": a SubWorker gets whole tensors, not " + buffer.name);
    if (!buffer.direction && !buffer.returned) {
      buffer.returned = true;
      results.push_back(*view);
    }
    if (i < function.param_directions_.size() && writes(function.param_directions_[i]))
      given.views.push_back(*view);
  }
  return given.views.size() == 1 ? Held(given.views.front()) : Held(given);
}

Held Orchestrator::onDevice(const ir::Call &op, llvm::function_ref<Held()> body) {
  const ir::Attr *attr = ir::FindAttr(op.attrs_, "device");
  bool isDispatch = isDispatching();
  if (!attr) {
    dispatches[rank] += isDispatch;
    return body();
  }
  auto *number = std::get_if<int64_t>(attr);
  auto *expr = std::get_if<ir::ExprPtr>(attr);
  if (!number && !expr)
    fail(op.span_, "device= is the number of a rank");
  Number device = number ? Number(*number) : numberOf(*expr);
  std::string compiledFor = ": the program is compiled for " + std::to_string(ranks) +
                            (ranks == 1 ? " rank" : " ranks") + " (DistributedConfig.device_ids)";
  if (device.isKnown() && (device.known < 0 || device.known >= ranks))
    fail(op.span_, "there is no device " + std::to_string(device.known) + compiledFor);
  if (!device.isKnown()) {
    host->check(ir::NodeKind::Ge, device.value, host->constant(int64_t(0)), "device= is negative" + compiledFor);
    host->check(ir::NodeKind::Lt, device.value, host->constant(ranks),
                "there is no device of this number" + compiledFor);
  }
  int64_t outer = std::exchange(rank, device.isKnown() ? device.known : -1);
  mlir::Value outerGiven = std::exchange(givenRank, device.value);
  auto back = llvm::make_scope_exit([&] {
    rank = outer;
    givenRank = outerGiven;
  });
  dispatches[rank] += isDispatch;
  return body();
}

/// A window is so many elements, which a parameter with other axes sees as it declares them.
View Orchestrator::windowAs(const ir::TensorType &type, View view) {
  std::vector<Number> shape;
  for (const ir::ExprPtr &extent : type.shape_)
    shape.emplace_back(ir::ConstantInt(extent).value_or(0));
  bool isOther = buffers[view.buffer].pitch && shape.size() != view.shape.size() && view.isKnown() && view.isRowMajor();
  if (!isOther || elementsOf(shape) != elementsOf(view.shape))
    return view;
  view.strides = denseStrides(shape);
  view.shape = std::move(shape);
  return view;
}

void Orchestrator::bindParameter(const ir::Function &function, const ir::VarPtr &param, const Held &argument,
                                 const ir::Span &span) {
  std::string who = function.name_ + ": argument " + param->name_hint_;
  auto *given = std::get_if<View>(&argument);
  auto type = ir::As<ir::TensorType>(param->type_);
  if ((type != nullptr) != (given != nullptr))
    fail(span, who + (type ? " is no tensor" : " is a tensor, not a number"));
  held[param.get()] = argument;
  if (!type)
    return;
  held[param.get()] = windowAs(*type, *given);
  const View *view = std::get_if<View>(&held[param.get()]);
  if (type->shape_.size() != view->shape.size())
    fail(span, who + " expects " + std::to_string(type->shape_.size()) + " axes, not " + textOf(view->shape));
  for (size_t axis = 0; axis < view->shape.size(); ++axis) {
    const Number &extent = view->shape[axis];
    auto known = ir::ConstantInt(type->shape_[axis]);
    if (known && extent.isKnown() && *known != extent.known)
      fail(span, who + " expects " + std::to_string(*known) + " on axis " + std::to_string(axis) + ", not " +
                     textOf(view->shape));
    if (auto symbol = ir::As<ir::Var>(type->shape_[axis]))
      held[symbol.get()] = heldOf(extent);
  }
  if (type->dtype_ != view->dtype)
    fail(span, who + " expects " + std::string(type->dtype_.Name()) + ", not " + std::string(view->dtype.Name()));
}

/// Runs the statements of a function of one device.
Held Orchestrator::callOrchestrator(const ir::FunctionPtr &function, const std::vector<Held> &arguments,
                                    const ir::Span &span) {
  constexpr unsigned most = 16;
  if (depth == most)
    fail(span, "orchestrators call each other more than " + std::to_string(most) + " deep");
  for (size_t i = 0; i < function->params_.size(); ++i)
    bindParameter(*function, function->params_[i], arguments[i], span);
  ir::FunctionPtr &split = called[function.get()];
  if (!split)
    split = splitMixedScopes(function);
  ir::FunctionPtr outer = std::exchange(current, split);
  ++depth;
  returned.clear();
  VisitStmt(split->body_);
  --depth;
  current = outer;
  Results given;
  for (const Held &value : std::exchange(returned, {}))
    if (auto *view = std::get_if<View>(&value))
      given.views.push_back(*view);
  for (size_t i = 0; i < arguments.size() && given.views.empty(); ++i)
    if (auto *view = std::get_if<View>(&arguments[i]); view && writes(function->param_directions_[i]))
      given.views.push_back(*view);
  return given.views.size() == 1 ? Held(given.views.front()) : Held(given);
}

} // namespace pto_mlir::pypto_frontend
