#include "IndexCheck.h"

#include <cstring>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

std::vector<IndexUse> computedIndices(const VM &vm, const VariantDesc &variant) {
  std::vector<IndexUse> list;
  for (const DebugTensorDesc &desc : variant.debugTensors)
    if (desc.indexBound != 0)
      list.push_back({desc.name,
                      desc.shape,
                      desc.permutation,
                      desc.indexBound,
                      {vm.address(desc), *tensorBytes(desc.type, desc.shape)}});
  return list;
}

std::vector<IndexUse> inputIndices(const VM &vm, const VariantDesc &variant) {
  std::vector<IndexUse> list;
  for (size_t i = 0; i < variant.inputs.size(); ++i)
    if (const TensorDesc &desc = variant.inputs[i]; desc.indexBound != 0)
      list.push_back({desc.name, desc.shape, {}, desc.indexBound, vm.input(i), desc.arithmeticBound});
  return list;
}

/// The position of element `number` in ONNX's layout, one index per dimension.
static std::string placeText(const IndexUse &index, uint64_t number) {
  size_t rank = index.shape.size();
  std::vector<uint64_t> stored(rank);
  for (size_t dim = rank; dim-- > 0; number /= index.shape[dim])
    stored[dim] = number % index.shape[dim];
  std::string text;
  for (size_t dim = 0; dim < rank; ++dim)
    text += (dim ? ", " : "") + std::to_string(stored[index.permutation.empty() ? dim : index.permutation[dim]]);
  return "[" + text + "]";
}

Status checkIndex(const std::string &who, const IndexUse &index, const void *values) {
  int64_t rows = int64_t(index.rows);
  uint64_t count = *numElements(index.shape);
  for (uint64_t i = 0; i < count; ++i) {
    int32_t value = 0;
    std::memcpy(&value, static_cast<const char *>(values) + i * sizeof(value), sizeof(value));
    if (value < -rows || value >= rows) {
      std::string range = " (" + std::to_string(-rows) + " to " + std::to_string(rows - 1) + ")";
      return Failure{who + " '" + index.name + "': element " + placeText(index, i) + " is " + std::to_string(value) +
                     (index.arithmetic ? ", but the net's 64-bit arithmetic with it is exact in a range only" + range
                                       : ", but it names one of " + std::to_string(rows) + " rows" + range)};
    }
  }
  return {};
}

Status checkIndex(Device &device, const IndexUse &index) {
  std::vector<std::byte> values(index.memory.bytes);
  if (Status status = device.copyFromDevice(values.data(), index.memory.address, values.size()); !status)
    return status;
  return checkIndex("index", index, values.data());
}

} // namespace pto_mlir::runtime
