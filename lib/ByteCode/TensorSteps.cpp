// Instructions on tensors, and the trace.
#include "Arithmetic.h"
#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/ByteCode/Text.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace pto_mlir::bytecode {

TensorPtr makeTensor(ElementType element, std::vector<int64_t> shape) {
  std::vector<uint64_t> sizes;
  for (int64_t size : shape) {
    if (size < 0)
      return nullptr;
    sizes.push_back(size);
  }
  auto bytes = tensorBytes(element, sizes);
  if (!bytes || *bytes > uint64_t(1) << 40)
    return nullptr;
  auto *data = new (std::nothrow) std::byte[*bytes]();
  if (!data)
    return nullptr;
  auto tensor = std::make_shared<Tensor>();
  tensor->element = element;
  tensor->shape = std::move(shape);
  tensor->data.reset(data);
  tensor->bytes = *bytes;
  return tensor;
}

Status Tensor::detach() {
  if (residence && residence->mayChange())
    return Failure{"the host writes a tensor that tasks write"};
  Status status = fetch();
  residence.reset();
  return status;
}

Status Tensor::fetchNow() {
  auto fetched = residence->fetch();
  if (!fetched)
    return fetched.failure();
  data = fetched.take();
  return {};
}

namespace {

/// Row-major position of an element; nullopt when an index is out of bounds.
std::optional<uint64_t> elementAt(const Tensor &tensor, const int64_t *indices) {
  uint64_t position = 0;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (indices[d] < 0 || indices[d] >= tensor.shape[d])
      return std::nullopt;
    position = position * tensor.shape[d] + indices[d];
  }
  return position;
}

template <class T> T read(const std::byte *data, uint64_t position) {
  T value;
  std::memcpy(&value, data + position * sizeof(T), sizeof(T));
  return value;
}

int64_t loadElement(const Step &step, const std::byte *data, uint64_t position) {
  if (step.kind == Kind::Float)
    return std::bit_cast<int64_t>(step.width == 32 ? double(read<float>(data, position))
                                                   : read<double>(data, position));
  switch (step.width) {
  case 8:
    return read<int8_t>(data, position);
  case 16:
    return read<int16_t>(data, position);
  case 32:
    return read<int32_t>(data, position);
  default:
    return read<int64_t>(data, position);
  }
}

void storeElement(const Step &step, std::byte *data, uint64_t position, int64_t bits) {
  if (step.kind == Kind::Float && step.width == 32)
    bits = std::bit_cast<int32_t>(float(std::bit_cast<double>(bits)));
  size_t bytes = step.width / 8;
  std::memcpy(data + position * bytes, &bits, bytes); // little-endian hosts only
}

} // namespace

Result<std::vector<int64_t>> Machine::popShape(const Type &type) {
  std::vector<int64_t> shape = type.shape;
  for (size_t d = shape.size(); d-- > 0;)
    if (shape[d] == kDynamic) {
      shape[d] = numberStack[--numbers];
      if (shape[d] < 0)
        return Failure{"extent " + std::to_string(shape[d]) + " of dimension " + std::to_string(d)};
    }
  return shape;
}

Result<uint64_t> Machine::sizeOf(const Type &type, const std::vector<int64_t> &shape) const {
  auto bytes = tensorBytes(type.element, std::vector<uint64_t>(shape.begin(), shape.end()));
  if (!bytes || *bytes > options.maxTensorBytes)
    return Failure{"cannot make a tensor of " + std::to_string(bytes.value_or(UINT64_MAX)) + " bytes"};
  return *bytes;
}

Status Machine::tensorStep(const Step &step, size_t) {
  const Module &module = loaded.module();
  switch (step.opcode) {
  case Opcode::NewTensor: {
    const Type &type = module.types[step.a];
    auto shape = popShape(type);
    if (!shape)
      return shape.failure();
    auto bytes = sizeOf(type, *shape);
    if (!bytes)
      return bytes.failure();
    TensorPtr tensor = makeTensor(type.element, *shape);
    if (!tensor)
      return Failure{"cannot make a tensor of " + std::to_string(*bytes) + " bytes"};
    tensorStack[references++] = std::move(tensor);
    return {};
  }
  case Opcode::Reshape: {
    auto shape = popShape(module.types[step.a]);
    if (!shape)
      return shape.failure();
    TensorPtr &top = tensorStack[references - 1];
    auto bytes = tensorBytes(top->element, std::vector<uint64_t>(shape->begin(), shape->end()));
    if (!bytes || *bytes != top->bytes)
      return Failure{"reshapes " + shapeText(top->shape) + " to " + shapeText(*shape)};
    // A view shares the data of its source, so the source must be complete.
    if (!top->data && !top->residence)
      if (Status status = waitForLaunches(); !status)
        return status;
    auto view = std::make_shared<Tensor>(*top);
    view->shape = shape.take();
    top = std::move(view);
    return {};
  }
  case Opcode::Cast: {
    const TensorPtr &top = tensorStack[references - 1];
    if (!isRefinedBy(module.types[step.a], Type{top->element, true, top->shape}))
      return Failure{"the tensor is a " + typeText({top->element, true, top->shape}) + ", no " +
                     typeText(module.types[step.a])};
    return {};
  }
  case Opcode::Dim:
    numberStack[numbers++] = tensorStack[--references]->shape[step.a];
    tensorStack[references].reset();
    return {};
  case Opcode::TLoad: {
    if (Status status = waitForLaunches(); !status)
      return status;
    TensorPtr tensor = std::move(tensorStack[--references]);
    numbers -= step.b;
    auto position = elementAt(*tensor, numberStack.data() + numbers);
    if (!position)
      return Failure{"an index is outside " + shapeText(tensor->shape)};
    if (Status status = tensor->fetch(); !status)
      return status;
    numberStack[numbers++] = loadElement(step, tensor->data.get(), *position);
    return {};
  }
  case Opcode::TStore: {
    if (Status status = waitForLaunches(); !status)
      return status;
    TensorPtr tensor = std::move(tensorStack[--references]);
    int64_t value = numberStack[--numbers];
    numbers -= step.b;
    auto position = elementAt(*tensor, numberStack.data() + numbers);
    if (!position)
      return Failure{"an index is outside " + shapeText(tensor->shape)};
    if (Status status = tensor->detach(); !status)
      return status;
    storeElement(step, tensor->data.get(), *position, value);
    return {};
  }
  case Opcode::TCopy: {
    if (Status status = waitForLaunches(); !status)
      return status;
    TensorPtr from = std::move(tensorStack[--references]), to = std::move(tensorStack[--references]);
    if (from->bytes != to->bytes)
      return Failure{"copies " + shapeText(from->shape) + " into " + shapeText(to->shape)};
    if (Status status = from->fetch(); !status)
      return status;
    if (Status status = to->detach(); !status)
      return status;
    std::memmove(to->data.get(), from->data.get(), from->bytes);
    return {};
  }
  default:
    return Failure{"is not an instruction of this machine"};
  }
}

std::string Machine::traceLine(uint32_t function, uint32_t instruction, size_t slotBase) const {
  const Module &module = loaded.module();
  const Function &entry = module.functions[function];
  const LoadedFunction &code = loaded.functions()[function];
  uint64_t position = 0;
  auto insn = decode(entry.code, position);
  for (uint32_t i = 0; i < instruction; ++i)
    insn = decode(entry.code, position);
  std::string text =
      "@" + entry.name + " " + std::to_string(instruction) + ": " + instructionText(module, *insn) + "  | slots";
  for (size_t i = 0; i < code.slots.size(); ++i) {
    if (code.slots[i] == Kind::Tensor) {
      const TensorPtr &tensor = tensorSlots[slotBase + i];
      text += " " + (tensor ? typeText({tensor->element, true, tensor->shape}) : "-");
    } else if (code.slots[i] == Kind::Float) {
      text += " " + std::to_string(std::bit_cast<double>(numberSlots[slotBase + i]));
    } else {
      text += " " + std::to_string(numberSlots[slotBase + i]);
    }
  }
  return text + " | depth " + std::to_string(numbers) + " numbers, " + std::to_string(references) + " tensors";
}

} // namespace pto_mlir::bytecode
