// Buffers in the order of their first variables.
#include "pypto/codegen/memref_collector.h"

namespace pypto::codegen {

void MemRefCollectorVisitor::Add(const ir::TypePtr &type) {
  auto tile = ir::As<ir::TileType>(type);
  if (tile && tile->memref_ && types_.emplace(tile->memref_->get(), tile).second)
    memrefs_.push_back(*tile->memref_);
}

void MemRefCollectorVisitor::VisitExpr_(const ir::VarPtr &op) { Add(op->type_); }
void MemRefCollectorVisitor::VisitExpr_(const ir::IterArgPtr &op) { Add(op->type_); }

} // namespace pypto::codegen
