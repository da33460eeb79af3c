// The buffers that a function uses.
#ifndef PYPTO_CODEGEN_MEMREF_COLLECTOR_H
#define PYPTO_CODEGEN_MEMREF_COLLECTOR_H

#include "pypto/ir/transforms/base/visitor.h"

#include <unordered_map>

namespace pypto::codegen {

/// Collects each MemRef of a tile once, in the order in which variables with it appear, and the first of its types.
class MemRefCollectorVisitor : public ir::IRVisitor {
public:
  const std::vector<ir::MemRefPtr> &GetMemRefs() const { return memrefs_; }
  const std::unordered_map<const ir::MemRef *, ir::TileTypePtr> &GetMemRefTileTypes() const { return types_; }

protected:
  void VisitExpr_(const ir::VarPtr &op) override;
  void VisitExpr_(const ir::IterArgPtr &op) override;

private:
  void Add(const ir::TypePtr &type);

  std::vector<ir::MemRefPtr> memrefs_;
  std::unordered_map<const ir::MemRef *, ir::TileTypePtr> types_;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_MEMREF_COLLECTOR_H
