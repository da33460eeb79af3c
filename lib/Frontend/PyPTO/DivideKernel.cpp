// What expandPyPTO shows and what a run has as one kernel are divided by the same steps.
#include "DivideKernel.h"

#include "TensorsToTiles.h"
#include "TileNodes.h"

#include "pypto/codegen/orchestration/orchestration_codegen.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

/// Refuses rings that L1 does not hold beside what the cube core loads.
void checkRings(const ir::Function &cube, const isa::ArchInfo &arch) {
  class Bytes : public ir::IRVisitor {
  public:
    int64_t reserved = 0, largest = 0;

  protected:
    void VisitExpr_(const ir::CallPtr &op) override {
      if (op->op_->name_ == "system.reserve_buffer")
        reserved += *ir::OpView(*op).Keyword<int64_t>("size");
      auto tile = ir::As<ir::TileType>(op->type_);
      if (tile && op->op_->name_ == "tile.load" && tile->GetMemorySpace() == ir::MemorySpace::Mat) {
        auto [rows, columns] = extentsOf(tile->shape_, op->span_);
        largest = std::max(largest, rows * columns * int64_t(tile->dtype_.GetBit()) / 8);
      }
      ir::IRVisitor::VisitExpr_(op);
    }
  };
  Bytes bytes;
  bytes.VisitStmt(tensorsToTiles(std::make_shared<const ir::Function>(cube), arch)->body_);
  int64_t limit = int64_t(arch.memory(isa::Memory::L1).bytes);
  if (bytes.reserved && bytes.reserved + bytes.largest > limit)
    fail(cube.span_, "Mat buffer usage (" + std::to_string(bytes.reserved + bytes.largest) +
                         " bytes) exceeds platform limit (" + std::to_string(limit) + " bytes). The first " +
                         std::to_string(bytes.reserved) +
                         " bytes of that space are reserved by system.reserve_buffer for the cross-core pipe ring; "
                         "take fewer slots with pl.cross_core_slot(slot_num=N)");
}

} // namespace

std::optional<CoreFunctions> divideKernel(const ir::FunctionPtr &kernel, const pto::Target &target) {
  std::optional<CoreFunctions> cores = splitCores(kernel);
  if (!cores)
    return std::nullopt;
  auto mode = ir::FindEnum(kernel->attrs_, "split", ir::SplitMode::NONE);
  if (mode != ir::SplitMode::NONE && !ir::FindAttr(cores->vector->attrs_, "split_aiv"))
    cores = splitHalves(*cores, mode, !target.directTiles);
  checkRings(*cores->cube, *isa::findArch(target.name));
  return cores;
}

ir::FunctionPtr ofOneCore(const ir::FunctionPtr &function, const isa::ArchInfo &arch) {
  ir::FunctionPtr tiled = tensorsToTiles(function, arch);
  if (tiled->params_.size() != function->params_.size())
    return function;
  auto made = std::make_shared<ir::Function>(*tiled);
  made->level_ = function->level_, made->role_ = function->role_, made->attrs_ = function->attrs_;
  if (function->func_type_ == ir::FunctionType::InCore)
    made->func_type_ = pypto::codegen::InferFunctionCoreType(made) == ir::CoreType::CUBE ? ir::FunctionType::AIC
                                                                                         : ir::FunctionType::AIV;
  return made;
}

} // namespace pto_mlir::pypto_frontend
