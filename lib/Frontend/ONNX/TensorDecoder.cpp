#include "TensorDecoder.h"

#include "pto_mlir/Support/MathExtras.h"
#include "pto_mlir/Support/PackedBits.h"

#include "mlir/IR/Builders.h"
#include <cstring>

using namespace mlir;
using ::onnx::TensorProto;

namespace pto_mlir::onnx {

Type elementType(MLIRContext *context, int dataType) {
  Builder b(context);
  auto unsignedType = [&](unsigned width) { return IntegerType::get(context, width, IntegerType::Unsigned); };
  switch (dataType) {
  case TensorProto::FLOAT:
    return b.getF32Type();
  case TensorProto::FLOAT16:
    return b.getF16Type();
  case TensorProto::BFLOAT16:
    return b.getBF16Type();
  case TensorProto::DOUBLE:
    return b.getF64Type();
  case TensorProto::FLOAT8E4M3FN:
    return b.getFloat8E4M3FNType();
  case TensorProto::FLOAT8E4M3FNUZ:
    return b.getFloat8E4M3FNUZType();
  case TensorProto::FLOAT8E5M2:
    return b.getFloat8E5M2Type();
  case TensorProto::FLOAT8E5M2FNUZ:
    return b.getFloat8E5M2FNUZType();
  case TensorProto::FLOAT4E2M1:
    return top::Float4E2M1Type::get(context);
  case TensorProto::FLOAT8E8M0:
    return top::Float8E8M0Type::get(context);
  case TensorProto::STRING:
    return top::StringType::get(context);
  case TensorProto::BOOL:
    return b.getI1Type();
  case TensorProto::INT2:
    return b.getIntegerType(2);
  case TensorProto::INT4:
    return b.getIntegerType(4);
  case TensorProto::INT8:
    return b.getI8Type();
  case TensorProto::INT16:
    return b.getI16Type();
  case TensorProto::INT32:
    return b.getI32Type();
  case TensorProto::INT64:
    return b.getI64Type();
  case TensorProto::UINT2:
    return unsignedType(2);
  case TensorProto::UINT4:
    return unsignedType(4);
  case TensorProto::UINT8:
    return unsignedType(8);
  case TensorProto::UINT16:
    return unsignedType(16);
  case TensorProto::UINT32:
    return unsignedType(32);
  case TensorProto::UINT64:
    return unsignedType(64);
  default:
    return {};
  }
}

std::string dataTypeName(int dataType) {
  return TensorProto::DataType_IsValid(dataType)
             ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(dataType))
             : std::to_string(dataType);
}

// The data of one of the typed fields, each element truncated to its storage size.
template <typename Field> static std::string packField(const Field &field, size_t size) {
  std::string bytes;
  bytes.reserve(field.size() * size);
  for (auto value : field)
    bytes.append(reinterpret_cast<const char *>(&value), size);
  return bytes;
}

static std::string typedData(const TensorProto &tensor, Type type, unsigned width) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return packField(tensor.float_data(), 4);
  case TensorProto::DOUBLE:
    return packField(tensor.double_data(), 8);
  case TensorProto::INT64:
    return packField(tensor.int64_data(), 8);
  case TensorProto::UINT32:
    return packField(tensor.uint64_data(), 4);
  case TensorProto::UINT64:
    return packField(tensor.uint64_data(), 8);
  default: // every type of at most 32 bits; elements of 2 and 4 bits are packed in bytes
    return packField(tensor.int32_data(), std::max(width / 8, 1u));
  }
}

std::optional<top::Weight> decodeTensor(MLIRContext *context, const TensorProto &tensor, StringRef raw,
                                        std::shared_ptr<const void> owner, ModelFile &file, std::string &error) {
  auto fail = [&](const Twine &reason) {
    error = reason.str();
    return std::nullopt;
  };
  Type type = elementType(context, tensor.data_type());
  if (!type || isa<top::StringType>(type)) // constants of strings are no weights
    return fail("element type " + dataTypeName(tensor.data_type()) + " is not supported");
  if (tensor.has_segment())
    return fail("segmented tensors are not supported");
  for (int64_t size : tensor.dims())
    if (size < 0)
      return fail("has a negative dimension (" + Twine(size) + ")");
  auto shaped = RankedTensorType::get(ArrayRef<int64_t>(tensor.dims().data(), tensor.dims_size()), type);
  std::optional<int64_t> bytes = top::tensorBytes(shaped);
  if (!bytes)
    return fail("is too large");
  int64_t count = *bytes / top::elementBytes(type);
  Type stored = top::storageType(type);
  unsigned width = stored.getIntOrFloatBitWidth();
  bool isPacked = width == 2 || width == 4;
  uint64_t expected = isPacked ? ceilDiv(static_cast<uint64_t>(count), 8 / width) : *bytes;

  if (!raw.empty() && tensor.float_data_size() + tensor.int32_data_size() + tensor.int64_data_size() +
                              tensor.uint64_data_size() + tensor.double_data_size() >
                          0)
    return fail("has its elements twice, as bytes and as numbers");
  std::string typed;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    std::string location;
    uint64_t offset = 0;
    std::optional<uint64_t> length;
    for (const auto &entry : tensor.external_data()) {
      uint64_t number = 0;
      bool isNumber = !StringRef(entry.value()).getAsInteger(10, number);
      if (entry.key() == "location")
        location = entry.value();
      else if ((entry.key() == "offset" || entry.key() == "length") && !isNumber)
        return fail("external data: " + entry.key() + " '" + entry.value() + "' is not a number");
      else if (entry.key() == "offset")
        offset = number;
      else if (entry.key() == "length")
        length = number;
    }
    std::optional<StringRef> range = file.external(location, offset, length ? length : expected, error);
    if (!range)
      return std::nullopt;
    raw = *range;
    owner = file.owner();
  } else if (raw.empty()) {
    typed = typedData(tensor, type, width);
    raw = typed;
    owner = nullptr;
  }
  if (raw.size() != expected)
    return fail("has " + Twine(raw.size()) + " bytes of data, its type and shape need " + Twine(expected));
  if (owner && !isPacked && width != 1)
    return top::Weight{shaped, ArrayRef<char>(raw.data(), raw.size()), std::move(owner)};
  std::vector<char> data = isPacked ? unpackBits(raw.data(), width, !stored.isUnsignedInteger(), count)
                                    : std::vector<char>(raw.begin(), raw.end());
  if (width == 1) // any non-zero byte is true
    for (char &byte : data)
      byte = byte != 0;
  auto copy = std::make_shared<const std::vector<char>>(std::move(data));
  return top::Weight{shaped, ArrayRef<char>(*copy), copy};
}

} // namespace pto_mlir::onnx
