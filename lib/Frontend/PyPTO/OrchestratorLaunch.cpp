// Launches of an orchestrator: kernels by how their tensors are passed.
#include "Calls.h"
#include "Orchestrator.h"
#include "TensorsToTiles.h"
#include "pto_mlir/Support/FreeName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
using ir::NodeKind;

namespace {

/// The word that a kernel receives for a number: an integer, or the bits of an f32.
int64_t wordOf(const Held &value, pypto::DataType dtype, const ir::Span &span) {
  auto *integer = std::get_if<int64_t>(&value);
  auto *number = std::get_if<double>(&value);
  if (!integer && !number)
    fail(span, "a number is needed here");
  if (dtype.IsFloat())
    return int64_t(llvm::bit_cast<uint32_t>(float(integer ? double(*integer) : *number)));
  if (!integer)
    fail(span, "an integer is needed here");
  return *integer;
}

} // namespace

/// Elements from the first to the last one of a view.
Number Orchestrator::spanOf(const View &view) {
  Number span = 1;
  for (size_t axis = 0; axis < view.shape.size(); ++axis)
    span = computed(NodeKind::Add, span,
                    computed(NodeKind::Mul, computed(NodeKind::Sub, view.shape[axis], 1), view.strides[axis]));
  return span;
}

/// Tensors for the outputs behind the arguments that are given, whose extents these say.
void Orchestrator::addResults(const ir::Function &function, std::vector<Held> &arguments, const ir::Span &span) {
  Symbols symbols;
  auto shapeOf = [&](size_t i) { return ir::As<ir::TensorType>(function.params_[i]->type_)->shape_; };
  for (size_t i = 0; i < arguments.size() && i < function.params_.size(); ++i) {
    auto *view = std::get_if<View>(&arguments[i]);
    auto type = ir::As<ir::TensorType>(function.params_[i]->type_);
    for (size_t axis = 0; view && type && axis < type->shape_.size() && axis < view->shape.size(); ++axis)
      if (auto [symbol, value] = solved(type->shape_[axis], view->shape[axis]); symbol)
        symbols.insert({symbol, value});
  }
  for (size_t i = arguments.size(); i < function.params_.size(); ++i) {
    std::vector<Number> shape;
    for (const ir::ExprPtr &extent : shapeOf(i)) {
      std::optional<Number> known = extentFor(extent, symbols);
      shape.push_back(known ? *known : numberOf(extent));
    }
    arguments.emplace_back(
        makeTensor(std::move(shape), ir::As<ir::TensorType>(function.params_[i]->type_)->dtype_, span));
  }
}

Held Orchestrator::call(const ir::Call &op) {
  ir::FunctionPtr function = program->GetFunction(op.op_->name_);
  if (!function)
    fail(op.span_, "the program has no function " + op.op_->name_);
  switch (function->func_type_) {
  case ir::FunctionType::Opaque:
  case ir::FunctionType::InCore:
  case ir::FunctionType::AIC:
  case ir::FunctionType::AIV:
  case ir::FunctionType::Orchestration:
  case ir::FunctionType::Group:
    break;
  default:
    fail(op.span_, "an orchestrator calls kernels; " + function->name_ + " is none");
  }
  std::vector<Held> arguments;
  arguments.reserve(op.args_.size());
  for (const ir::ExprPtr &argument : op.args_)
    arguments.push_back(valueOf(argument));
  if (function->role_ == ir::Role::SubWorker)
    return callSubWorker(*function, arguments, op.span_);
  if (function->func_type_ == ir::FunctionType::Orchestration)
    return onDevice(op, [&] { return callOrchestrator(function, arguments, op.span_); });
  bool isGroup = function->func_type_ == ir::FunctionType::Group;
  auto [known, isNew] = ofSeveral.try_emplace(function.get());
  if (isNew)
    known->second = asOrchestrator(function);
  ir::FunctionPtr kernels = known->second;
  addResults(*function, arguments, op.span_);
  if (auto found = several.find(function->name_); found != several.end() && !areIndependent(*function, arguments)) {
    kernels = found->second;
    isGroup = false;
  }
  if (waitsForPeer(*function)) {
    together->push_back({function, arguments, op.span_});
    return resultsOf(*function, arguments);
  }
  Held given;
  auto *task = op.kind() == ir::NodeKind::Submit ? static_cast<const ir::Submit *>(&op) : nullptr;
  auto run = [&] {
    markDumped(op.attrs_, op.args_);
    if (isGroup)
      launchTogether(op.span_, [&] { given = callOrchestrator(function, arguments, op.span_); });
    else if (kernels)
      given = callOrchestrator(kernels, arguments, op.span_);
    else
      launch(function, arguments, op.span_);
    dumped.clear();
  };
  auto runAll = [&] {
    if (task && task->core_num_)
      forBlocks(numberOf(task->core_num_), op.span_, run);
    else
      run();
  };
  return onDevice(op, [&] {
    if (task && task->predicate_)
      where(task->predicate_, runAll);
    else
      runAll();
    return isGroup || (kernels && !kernels->return_types_.empty()) ? given : resultsOf(*function, arguments);
  });
}

/// A call that names its task.
Held Orchestrator::submitted(const ir::Submit &op) {
  Task made = newTask(op.deps_);
  uint32_t outer = std::exchange(task, made.numbers.empty() ? 0 : made.numbers.front());
  Held given = call(op);
  task = outer;
  Results results{{}, true, std::move(made)};
  if (auto *view = std::get_if<View>(&given))
    results.views.push_back(*view);
  else if (auto *several = std::get_if<Results>(&given))
    results.views = several->views;
  return results;
}

/// What a call gives is one of the parameters that it passes: what the function returns, else its first output.
Held Orchestrator::resultsOf(const ir::Function &function, const std::vector<Held> &arguments) {
  Results given;
  auto give = [&](const ir::Var *param) {
    for (size_t i = 0; i < function.params_.size(); ++i)
      if (function.params_[i].get() == param)
        given.views.push_back(std::get<View>(arguments[i]));
  };
  std::vector<ir::StmtPtr> body = ir::FlattenStmts(function.body_);
  auto ret = body.empty() ? nullptr : ir::As<ir::ReturnStmt>(body.back());
  if (ret && !ret->value_.empty()) {
    TensorRoots roots = tensorRoots(function.body_);
    for (const ir::ExprPtr &value : ret->value_)
      if (auto var = ir::As<ir::Var>(value))
        give(rootOf(roots, var.get()));
    if (given.views.size() != ret->value_.size())
      fail(ret->span_, function.name_ + " returns what is none of its tensors; store it into an output");
  } else {
    for (size_t i = 0; i < function.params_.size() && given.views.empty(); ++i)
      if (writes(function.param_directions_[i]) && std::holds_alternative<View>(arguments[i]))
        give(function.params_[i].get());
  }
  if (given.views.size() == 1)
    return given.views.front();
  return given;
}

/// How the tensors are passed: those of one buffer by one pointer, to the first of their elements.
std::vector<PlannedTensor> Orchestrator::planTensors(const ir::Function &function, const std::vector<Held> &arguments,
                                                     std::vector<View> &pointers, std::vector<Number> &strides,
                                                     std::vector<unsigned> &groups) {
  std::vector<PlannedTensor> tensors;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto *view = std::get_if<View>(&arguments[i]);
    if (!view)
      continue;
    PlannedTensor tensor{function.params_[i], 0, view->offset, {}};
    if (!(view->isKnown() ? view->isRowMajor() : view->strides == denseStrides(view->shape)))
      for (const Number &stride : view->strides) {
        tensor.strides.push_back(stride.isKnown() ? std::optional(stride.known) : std::nullopt);
        if (!stride.isKnown())
          strides.push_back(stride);
      }
    int64_t begin = view->offset;
    Number end = computed(NodeKind::Add, begin, spanOf(*view));
    if (const Buffer &window = buffers[view->buffer]; window.pitch) { // a kernel gets all copies
      tensor.pitch = window.pitch / view->dtype.GetByte();
      begin = 0;
      end = tensor.pitch * int64_t(window.devices.size());
      auto group = llvm::find_if(groups, [&](unsigned other) { return buffers[other].devices == window.devices; });
      tensor.group = unsigned(group - groups.begin());
      if (group == groups.end())
        groups.push_back(view->buffer);
    }
    auto found = llvm::find_if(
        pointers, [&](const View &other) { return other.buffer == view->buffer && other.moving == view->moving; });
    tensor.pointer = unsigned(found - pointers.begin());
    if (found == pointers.end()) {
      pointers.push_back({view->buffer, begin, view->moving, {computed(NodeKind::Sub, end, begin)}, {1}, view->dtype});
    } else {
      if (found->dtype != view->dtype && tensor.pitch)
        fail(function.params_[i]->span_, function.name_ + " gets one window buffer as tensors of two element types");
      Number last = computed(NodeKind::Max, end, computed(NodeKind::Add, found->offset, found->shape[0]));
      found->offset = std::min(begin, found->offset);
      found->shape[0] = computed(NodeKind::Sub, last, found->offset);
    }
    pointers[tensor.pointer].mayEnd |= view->mayEnd;
    tensors.push_back(std::move(tensor));
  }
  for (PlannedTensor &tensor : tensors)
    tensor.offset -= pointers[tensor.pointer].offset;
  return tensors;
}

std::string Orchestrator::freeKernelName(const std::string &wanted) const {
  return freeName(wanted, [&](const std::string &name) {
    return llvm::any_of(planned, [&](const PlannedKernel &kernel) { return kernel.name == name; });
  });
}

/// Extents that are known are numbers of the kernel, all others its arguments.
static void setSymbols(PlannedKernel &kernel, const llvm::MapVector<const ir::Var *, Number> &symbols) {
  for (const auto &[symbol, extent] : symbols)
    if (extent.isKnown())
      kernel.symbols[symbol] = extent.known;
    else
      kernel.open.push_back(symbol);
}

const PlannedKernel &Orchestrator::kernelFor(const ir::FunctionPtr &function, std::vector<PlannedTensor> tensors,
                                             std::vector<int64_t> ranksOfGroups, unsigned pointers, bool isBlock,
                                             const Symbols &symbols, const Group *group, const Symbols &vectorSymbols) {
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(function.get())) + (isBlock ? " block" : "");
  for (const PlannedTensor &tensor : tensors) {
    key += " " + std::to_string(tensor.pointer) + "+" + std::to_string(tensor.offset) + "/" +
           std::to_string(tensor.pitch) + "/" + std::to_string(tensor.group) + "[";
    for (std::optional<int64_t> stride : tensor.strides)
      key += (stride ? std::to_string(*stride) : "?") + ",";
  }
  for (const auto &[symbol, extent] : symbols)
    key += " " + symbol->name_hint_ + "=" + textOf({extent});
  for (int64_t ranks : ranksOfGroups)
    key += " of " + std::to_string(ranks);
  const PlannedKernel *&found = kernelOf[key];
  if (found)
    return *found;
  planned.push_back({freeKernelName(function->name_), function, std::move(tensors), pointers, isBlock});
  PlannedKernel &made = planned.back();
  made.groups = std::move(ranksOfGroups);
  setSymbols(made, symbols);
  found = &made;
  if (group) {
    made.hasQueues = group->hasQueues;
    const ir::FunctionPtr &vector = group->vector;
    std::vector<PlannedTensor> ofVector = made.tensors;
    for (PlannedTensor &tensor : ofVector)
      tensor.var = vector->params_[size_t(llvm::find(function->params_, tensor.var) - function->params_.begin())];
    made.peers = {{function->name_, made.name}, {vector->name_, freeKernelName(vector->name_)}};
    PlannedKernel peer{made.peers[vector->name_], vector, std::move(ofVector), pointers, isBlock};
    peer.groups = made.groups;
    peer.peers = made.peers;
    peer.hasQueues = made.hasQueues;
    setSymbols(peer, vectorSymbols);
    planned.push_back(std::move(peer));
  }
  return *found;
}

void Orchestrator::launch(const ir::FunctionPtr &function, std::vector<Held> arguments, const ir::Span &span,
                          const Group *group) {
  if (hasCalledBack)
    fail(span, function->name_ + " is launched behind a call of a SubWorker, which is not lowered yet; call it last");
  constexpr size_t maxLaunches = 1 << 18;
  if (launches.size() == maxLaunches)
    fail(span, "the program launches more than " + std::to_string(maxLaunches) + " kernels");
  Launch made{nullptr, {}, {}, span, rank, scope, task};
  Symbols symbols, vectorSymbols;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::VarPtr &param = function->params_[i];
    auto *view = std::get_if<View>(&arguments[i]);
    auto scalar = ir::As<ir::ScalarType>(param->type_);
    if (scalar && host)
      arguments[i] = scalarOf(arguments[i], scalar->dtype_, span);
    else if (scalar)
      made.scalars.push_back(wordOf(arguments[i], scalar->dtype_, span));
    else if (view && ir::IsA<ir::TensorType>(param->type_)) {
      if (group)
        checkedArgument(*group->vector, i, *view, vectorSymbols, span);
      arguments[i] = checkedArgument(*function, i, *view, symbols, span);
    } else
      fail(span, function->name_ + ": argument " + param->name_hint_ + " is no tensor");
  }
  Calls calls;
  calls.VisitStmt(function->body_);
  if (group)
    calls.VisitStmt(group->vector->body_);
  if (!calls.found)
    return; // it only returns its arguments
  std::vector<Number> extents, strides;
  for (const auto &[symbol, extent] : symbols)
    if (!extent.isKnown())
      extents.push_back(extent);
  std::vector<unsigned> groups;
  std::vector<PlannedTensor> tensors = planTensors(*function, arguments, made.pointers, strides, groups);
  llvm::append_range(extents, strides);
  made.dispatch = std::max<int64_t>(dispatches[rank], 1) - 1;
  made.defers = calls.defers;
  if (host && calls.defers)
    fail(span, function->name_ + ": pld.system.defer_wait is not lowered yet where the run decides what is launched");
  if (task)
    made.deps = {task};
  for (const View &view : made.pointers)
    if (const Buffer &window = buffers[view.buffer]; window.pitch && !isOfAll)
      for (int64_t device = givenRank ? 0 : rank, end = givenRank ? ranks : rank + 1; device < end; ++device)
        usedBy[window.window].insert(device);
  std::vector<int64_t> ranksOfGroups;
  for (unsigned window : groups)
    ranksOfGroups.push_back(int64_t(buffers[window].devices.size()));
  made.kernel = &kernelFor(function, std::move(tensors), std::move(ranksOfGroups), made.pointers.size(),
                           block && calls.asksForBlock, symbols, group, vectorSymbols);
  if (made.kernel->isBlock && !host)
    llvm::append_range(made.scalars, std::initializer_list<int64_t>{block->index.known, block->count.known});
  std::vector<Number> numbers;
  for (unsigned window : groups)
    numbers.push_back(rankIn(buffers[window], span));
  if (host) {
    llvm::append_range(numbers, extents);
    return submit(*made.kernel, made.pointers, arguments, numbers, span);
  }
  for (const Number &number : numbers)
    made.scalars.push_back(number.known);
  if (lists)
    keepArguments(made, arguments);
  launches.push_back(std::move(made));
}

/// A number as a scalar of a kernel, in the host program.
mlir::Value Orchestrator::scalarOf(const Held &number, pypto::DataType dtype, const ir::Span &span) {
  mlir::Value value = emitted(number);
  if (value)
    value = host->scalar(value, dtype);
  if (!value)
    fail(span, "a number of " + std::string(dtype.Name()) + " is needed here");
  return value;
}

void Orchestrator::submit(const PlannedKernel &kernel, const std::vector<View> &pointers,
                          const std::vector<Held> &arguments, const std::vector<Number> &numbers,
                          const ir::Span &span) {
  host->at(span);
  std::vector<mlir::Value> values;
  std::string directions;
  for (size_t pointer = 0; pointer < pointers.size(); ++pointer) {
    const View &part = pointers[pointer];
    bool isRead = false, isWritten = false;
    for (const PlannedTensor &tensor : kernel.tensors)
      if (tensor.pointer == pointer) {
        size_t param = size_t(llvm::find(kernel.function->params_, tensor.var) - kernel.function->params_.begin());
        isRead |= kernel.function->param_directions_[param] != ir::ParamDirection::Out;
        isWritten |= writes(kernel.function->param_directions_[param]);
      }
    const Buffer &buffer = buffers[part.buffer];
    if (buffer.pitch && part.dtype != buffer.dtype)
      fail(span, "a window is a tensor of its buffer's element type where the run decides what is launched");
    directions += pointer ? "," : "";
    directions += buffer.pitch ? "none" : !isWritten ? "in" : isRead ? "inout" : "out";
    Number offset = computed(ir::NodeKind::Add, part.moving ? Number(part.moving) : Number(), part.offset);
    if (part.mayEnd) {
      mlir::Value elements = emitted(elementsOf(buffers[part.buffer].shape));
      mlir::Value rest = host->binary(ir::NodeKind::Sub, elements, emitted(offset));
      mlir::Value count = host->binary(ir::NodeKind::Min, emitted(part.shape[0]), rest);
      values.push_back(host->part(buffers[part.buffer].memory, emitted(offset), count));
      continue;
    }
    const Number &count = part.shape[0];
    values.push_back(count.isKnown() ? host->part(buffers[part.buffer].memory, emitted(offset), count.known)
                                     : host->part(buffers[part.buffer].memory, emitted(offset), count.value));
  }
  for (const Held &argument : arguments)
    if (auto *scalar = std::get_if<mlir::Value>(&argument))
      values.push_back(*scalar);
  if (kernel.isBlock)
    llvm::append_range(values, std::initializer_list<mlir::Value>{emitted(block->index), emitted(block->count)});
  for (const Number &number : numbers)
    values.push_back(emitted(number));
  if (isRanked())
    values.push_back(givenRank ? givenRank : host->constant(rank));
  host->submit(kernel.name, values, directions, isRanked());
}

} // namespace pto_mlir::pypto_frontend
