// Saving and loading a state as safetensors.
#include "StateImpl.h"

#include "pto_mlir/Support/Safetensors.h"

#include <algorithm>
#include <cstring>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

constexpr char kPositionName[] = "state.position";

/// The name of a type in safetensors; empty where the format has none.
std::string dtypeOf(ElementType type) {
  if (isPacked(type) || type == ElementType::HIF8)
    return "";
  if (type == ElementType::Boolean)
    return "BOOL";
  if (type == ElementType::F8E4M3FN)
    return "F8_E4M3";
  if (type == ElementType::F8E5M2)
    return "F8_E5M2";
  std::string name(elementTypeName(type));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

} // namespace

Status ModelState::save(const std::string &path) const {
  auto access = StateAccess::take(*impl);
  if (!access)
    return access.failure();
  auto list = impl->read();
  if (!list)
    return list.failure();
  std::vector<SafetensorsEntry> entries;
  auto add = [&](const std::string &name, ElementType type, const std::vector<uint64_t> &shape, const void *data) {
    std::string dtype = dtypeOf(type);
    entries.push_back({name, dtype, std::vector<int64_t>(shape.begin(), shape.end()), static_cast<const char *>(data),
                       *tensorBytes(type, shape)});
    return !dtype.empty();
  };
  for (const HostTensor &tensor : *list)
    if (!add(tensor.name, tensor.type, tensor.shape, tensor.data.get()))
      return Failure{path + ": safetensors cannot hold '" + tensor.name + "' of type " +
                     std::string(elementTypeName(tensor.type))};
  auto count = static_cast<int64_t>(impl->position);
  add(kPositionName, ElementType::I64, {1}, &count);
  std::string error;
  return writeSafetensors(path, entries, error) ? Status() : Status(Failure{error});
}

Status ModelState::load(const std::string &path) {
  std::string error;
  auto file = SafetensorsFile::open(path, error);
  if (!file)
    return Failure{error};
  const SafetensorsEntry *place = file->find(kPositionName);
  int64_t count = -1;
  if (place && place->dtype == "I64" && place->size == sizeof(count))
    std::memcpy(&count, place->data, sizeof(count));
  if (count < 0)
    return Failure{path + ": has no position ('" + kPositionName + "', an i64), so it is not a saved state"};
  std::vector<InputTensor> list;
  for (const StateTensorDesc &desc : group().tensors) {
    const SafetensorsEntry *entry = file->find(desc.name);
    if (!entry)
      continue; // `assign` reports it
    std::vector<uint64_t> shape(entry->shape.begin(), entry->shape.end());
    if (entry->dtype != dtypeOf(desc.type))
      return Failure{path + ": " + "state '" + group().name + "'" + ": '" + desc.name + "' is " + dtypeOf(desc.type) +
                     " " + shapeText(desc.shape) + ", got " + entry->dtype + " " + shapeText(shape)};
    list.push_back({desc.name, desc.type, std::move(shape), entry->data});
  }
  for (const auto &[name, entry] : file->entries())
    if (name != kPositionName && std::none_of(list.begin(), list.end(), [&](auto &t) { return t.name == name; }))
      return Failure{path + ": " + "state '" + group().name + "'" + " has no '" + name + "'"};
  Status status = assign(list, count);
  return status ? status : Status(Failure{path + ": " + status.error()});
}

} // namespace pto_mlir::runtime
