#include "pto_mlir/Dialect/Top/IR/Strings.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top {

Value createStrings(OpBuilder &builder, Location loc, StringRef name, ArrayRef<int64_t> shape,
                    ArrayRef<std::string> values) {
  auto type = RankedTensorType::get(shape, StringType::get(builder.getContext()));
  if (values.empty())
    return createConstant(builder, loc, name, type, {});
  std::vector<char> bytes;
  std::vector<int64_t> lengths;
  for (const std::string &value : values) {
    llvm::append_range(bytes, value);
    lengths.push_back(static_cast<int64_t>(value.size()));
  }
  bytes.push_back(0); // a constant has elements
  auto listOf = [](size_t count, Type element) {
    return RankedTensorType::get({static_cast<int64_t>(count)}, element);
  };
  Type u8 = builder.getIntegerType(8, /*isSigned=*/false), i64 = builder.getI64Type();
  Location unknown = builder.getUnknownLoc();
  Value all = createConstant(builder, unknown, (name + ".bytes").str(), listOf(bytes.size(), u8), bytes);
  Value each =
      createConstant(builder, unknown, (name + ".lengths").str(), listOf(lengths.size(), i64), fromInts(i64, lengths));
  auto parameters = builder.getDictionaryAttr(builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape)));
  return builder.create<HostOp>(loc, type, "strings", ValueRange{all, each}, parameters, "strings");
}

} // namespace pto_mlir::top
