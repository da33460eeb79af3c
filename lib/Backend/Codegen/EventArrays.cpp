//===- EventArrays.cpp - Arrays of event ids -> one register per entry ----===//

#include "Models.h"
#include "Scalars.h"
#include "Types.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

constexpr int64_t kMostEntries = 16;

struct DeclareModel : CodegenOpInterface::ExternalModel<DeclareModel, pto::DeclareEventIdArrayOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    mlir::Value array = op->getResult(0);
    int64_t size = cast<pto::EventIdArrayType>(array.getType()).getSize();
    if (size < 1 || size > kMostEntries)
      return op->emitOpError("has ") << size << " entries, command streams hold 1 to " << kMostEntries;
    SmallVector<uint8_t> registers;
    for (int64_t i = 0; i < size; ++i) {
      auto reg = cg.registerFor(op, array);
      if (failed(reg) || failed(cg.emit(op, isa::Mov{*reg, 0})))
        return failure();
      registers.push_back(*reg);
    }
    cg.defineArray(array, std::move(registers));
    return success();
  }
};

/// The entry that a constant index names; null when the index is known at run time only.
FailureOr<const uint8_t *> entryOf(Operation *op, ArrayRef<uint8_t> registers, mlir::Value index) {
  auto constant = constantOf(index);
  if (!constant)
    return static_cast<const uint8_t *>(nullptr);
  if (*constant < 0 || *constant >= int64_t(registers.size()))
    return op->emitOpError("names entry ") << *constant << " of " << registers.size();
  return &registers[*constant];
}

struct GetModel : CodegenOpInterface::ExternalModel<GetModel, pto::EventIdArrayGetOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto get = cast<pto::EventIdArrayGetOp>(op);
    ArrayRef<uint8_t> registers = cg.array(get.getArray());
    auto entry = entryOf(op, registers, get.getIndex());
    // A copy: the entry may be set again while this value is in use.
    auto dst = cg.registerFor(op, op->getResult(0));
    if (failed(entry) || failed(dst))
      return failure();
    cg.define(op->getResult(0), isa::Value::reg(*dst));
    if (*entry)
      return cg.emit(op, isa::Mov{*dst, isa::Value::reg(**entry)});
    isa::Value index;
    auto hit = cg.temporary(op);
    if (failed(cg.integer(op, get.getIndex(), index)) || failed(hit) ||
        failed(cg.emit(op, isa::Mov{*dst, isa::Value::reg(registers[0])})))
      return failure();
    for (auto [k, reg] : llvm::drop_begin(llvm::enumerate(registers)))
      if (failed(cg.emit(op, isa::Cmp{*hit, isa::CompareMode::eq, index, int64_t(k)})) ||
          failed(cg.emit(op, isa::Select{*dst, isa::Value::reg(*hit), isa::Value::reg(reg), isa::Value::reg(*dst)})))
        return failure();
    return success();
  }
};

struct SetModel : CodegenOpInterface::ExternalModel<SetModel, pto::EventIdArraySetOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto set = cast<pto::EventIdArraySetOp>(op);
    ArrayRef<uint8_t> registers = cg.array(set.getArray());
    auto entry = entryOf(op, registers, set.getIndex());
    isa::Value value, index;
    if (failed(entry) || failed(cg.integer(op, set.getValue(), value)))
      return failure();
    if (*entry)
      return cg.emit(op, isa::Mov{**entry, value});
    auto hit = cg.temporary(op);
    if (failed(cg.integer(op, set.getIndex(), index)) || failed(hit))
      return failure();
    for (auto [k, reg] : llvm::enumerate(registers))
      if (failed(cg.emit(op, isa::Cmp{*hit, isa::CompareMode::eq, index, int64_t(k)})) ||
          failed(cg.emit(op, isa::Select{reg, isa::Value::reg(*hit), value, isa::Value::reg(reg)})))
        return failure();
    return success();
  }
};

} // namespace

void attachEventArrayModels(MLIRContext *c) {
  pto::DeclareEventIdArrayOp::attachInterface<DeclareModel>(*c);
  pto::EventIdArrayGetOp::attachInterface<GetModel>(*c);
  pto::EventIdArraySetOp::attachInterface<SetModel>(*c);
}

} // namespace pto_mlir::backend
