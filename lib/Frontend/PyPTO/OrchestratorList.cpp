// The launches of an orchestrator as a list, for those who run them one by one.
#include "Orchestrator.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
namespace json = llvm::json;

static json::Array numbersIn(const std::vector<Number> &numbers) {
  json::Array list;
  for (const Number &number : numbers)
    list.push_back(number.known);
  return list;
}

void Orchestrator::markDumped(const ir::Attrs &attrs, const std::vector<ir::ExprPtr> &arguments) {
  dumped.clear();
  if (const auto *marked = ir::FindAttr<std::vector<ir::ExprPtr>>(attrs, "dumps"))
    for (const ir::ExprPtr &argument : arguments)
      dumped.push_back(llvm::is_contained(*marked, argument));
}

void Orchestrator::keepArguments(Launch &launch, const std::vector<Held> &arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (auto *view = std::get_if<View>(&arguments[i]))
      launch.arguments.push_back({i, *view, i < dumped.size() && dumped[i]});
}

json::Object Orchestrator::listed(const Launch &launch) const {
  json::Array pointers, scalars, tensors;
  for (const View &view : launch.pointers) {
    const Buffer &buffer = buffers[view.buffer];
    int64_t size = view.dtype.GetByte();
    pointers.push_back(json::Object{{"buffer", view.buffer},
                                    {"offset", (isPort(view.buffer) ? 0 : buffer.offset) + view.offset * size},
                                    {"bytes", view.shape[0].known * size}});
  }
  for (int64_t scalar : launch.scalars)
    scalars.push_back(scalar);
  const ir::Function &function = *launch.kernel->function;
  std::set<const ir::Var *> written = writtenTensors(function.body_), read = readTensors(function.body_),
                            updated = updatedTensors(function.body_);
  for (const Argument &argument : launch.arguments) {
    const ir::Var *param = function.params_[argument.param].get();
    bool isUpdated = updated.count(param) != 0, isWritten = isUpdated || written.count(param) != 0;
    const Buffer &buffer = buffers[argument.view.buffer];
    auto own = std::find(buffer.devices.begin(), buffer.devices.end(), launch.rank);
    int64_t copy = buffer.pitch * (own - buffer.devices.begin()); // of a window that the launch's device has
    tensors.push_back(json::Object{{"index", int64_t(argument.param)},
                                   {"name", param->name_hint_},
                                   {"role", !isWritten                       ? "input"
                                            : isUpdated || read.count(param) ? "inout"
                                                                             : "output"},
                                   {"buffer", argument.view.buffer},
                                   {"offset", argument.view.offset},
                                   {"base", isPort(argument.view.buffer) ? 0 : buffer.offset + copy},
                                   {"shape", numbersIn(argument.view.shape)},
                                   {"strides", numbersIn(argument.view.strides)},
                                   {"dtype", llvm::StringRef(argument.view.dtype.Name())},
                                   {"dumped", argument.dumped}});
  }
  return json::Object{
      {"kernel", launch.kernel->name}, {"line", launch.span.begin_line_}, {"rank", launch.rank},
      {"dispatch", launch.dispatch},   {"pointers", std::move(pointers)}, {"scalars", std::move(scalars)},
      {"tensors", std::move(tensors)}};
}

bool Orchestrator::isPort(unsigned buffer) const {
  return buffers[buffer].direction ||
         llvm::any_of(results, [&](const View &result) { return result.buffer == buffer; });
}

std::string Orchestrator::listed() const {
  if (host)
    fail(entry->span_, entry->name_ + " decides at run time what it launches: its launches have no list");
  json::Array ports, list;
  for (const Buffer &buffer : buffers)
    ports.push_back(buffer.direction ? json::Value(buffer.name) : json::Value(nullptr));
  for (const auto &[number, view] : llvm::enumerate(results))
    ports[view.buffer] = results.size() == 1 ? "result" : "result" + std::to_string(number);
  for (const Launch &launch : launches)
    list.push_back(listed(launch));
  json::Object all{{"ports", std::move(ports)}, {"workspace", workspace}, {"launches", std::move(list)}};
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(all));
  return text;
}

} // namespace pto_mlir::pypto_frontend
