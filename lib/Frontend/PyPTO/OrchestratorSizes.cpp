// Extents of the entry's tensors: numbers, sizes that are given when the program is compiled, or those of each run.
#include "Orchestrator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

/// An extent of a parameter: a number, or one whose size is given; nothing where each run says it.
std::optional<int64_t> Orchestrator::sizeOf(const ir::ExprPtr &extent, const ir::Var &param, size_t axis) {
  if (auto own = sizes.find(param.name_hint_ + "[" + std::to_string(axis) + "]"); own != sizes.end())
    return own->second;
  auto value = extentValue(extent, [&](const ir::Var &symbol) -> std::optional<int64_t> {
    auto found = sizes.find(symbol.name_hint_);
    if (found == sizes.end())
      return std::nullopt;
    held[&symbol] = found->second;
    return found->second;
  });
  constexpr int64_t most = int64_t(1) << 40;
  if (value && (*value < 1 || *value > most))
    fail(param.span_, "parameter " + param.name_hint_ + ": an extent of " + std::to_string(*value));
  return value;
}

std::optional<Held> Orchestrator::givenElement(const std::string &name, int64_t index, pypto::DataType dtype) const {
  auto found = sizes.find(name + "(" + std::to_string(index) + ")");
  if (found == sizes.end())
    return std::nullopt;
  return dtype.IsFloat() ? Held(llvm::bit_cast<double>(found->second)) : Held(found->second);
}

/// An element that the host level reads, of a tensor that no launch writes.
Held Orchestrator::knownElement(const View &tensor, const std::vector<Number> &indices, const ir::Span &span) {
  const Buffer &buffer = buffers[tensor.buffer];
  int64_t place = tensor.offset;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    int64_t index = indices[axis].known;
    if (index < 0 || index >= tensor.shape[axis].known)
      fail(span, "the run reads element " + std::to_string(index) + " of " + buffer.name + ", whose axis " +
                     std::to_string(axis) + " has " + std::to_string(tensor.shape[axis].known));
    place += index * tensor.strides[axis].known;
  }
  auto given =
      buffer.direction == ir::ParamDirection::In ? givenElement(buffer.name, place, buffer.dtype) : std::nullopt;
  if (!given)
    fail(span, "the host level of several ranks reads elements of its In parameters, and " + buffer.name +
                   " is none; let a kernel read it");
  return *given;
}

bool Orchestrator::leavesOpen() const {
  auto isOpen = [&](const ir::ExprPtr &extent) {
    return !extentValue(extent, [&](const ir::Var &symbol) {
      auto found = sizes.find(symbol.name_hint_);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    });
  };
  return llvm::any_of(entry->params_, [&](const ir::VarPtr &param) {
    auto type = ir::As<ir::TensorType>(param->type_);
    return type && llvm::any_of(type->shape_, isOpen);
  });
}

/// Inputs say what extents are; outputs have those that follow, and say only what no input does.
void Orchestrator::readSizes() {
  Symbols symbols;
  for (bool isOutput : {false, true})
    for (size_t i = 0; i < entry->params_.size(); ++i) {
      const ir::VarPtr &param = entry->params_[i];
      auto type = ir::As<ir::TensorType>(param->type_);
      if (!type || (buffers[i].direction == ir::ParamDirection::Out) != isOutput)
        continue;
      host->at(param->span_);
      for (size_t axis = 0; axis < type->shape_.size(); ++axis) {
        Number &extent = buffers[i].shape[axis];
        std::string who = "parameter " + param->name_hint_, where = who + ": extent " + std::to_string(axis);
        if (extent != Number(mlir::ShapedType::kDynamic))
          continue;
        if (std::optional<Number> follows = isOutput ? extentFor(type->shape_[axis], symbols) : std::nullopt) {
          extent = *follows;
          continue;
        }
        Number given(host->extent(buffers[i].given, int64_t(axis)));
        host->check(ir::NodeKind::Ge, emitted(given), host->constant(int64_t(1)),
                    where + (isOutput ? " follows from no input, so a run gives the output" : " is 0"));
        extent = extentOf(type->shape_[axis], given, symbols, who, param->span_);
        if (extent != given)
          host->check(ir::NodeKind::Eq, emitted(given), emitted(extent), where + " is not what the program declares");
      }
    }
  for (const auto &[symbol, extent] : symbols)
    held[symbol] = heldOf(extent);
}

} // namespace pto_mlir::pypto_frontend
