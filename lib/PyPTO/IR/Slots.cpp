// What the assembler demands of slots of one allocation.
#include "pypto/ir/slots.h"

#include "pypto/core/error.h"
#include "pypto/ir/structural.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <map>
#include <set>
#include <utility>

namespace pypto::ir {
namespace {

constexpr uint64_t kMostSlots = 16; // of one !pto.multi_tile_buf

TileTypePtr slotType(const VarPtr &var) {
  auto tile = As<TileType>(var->type_);
  return tile && tile->memref_ && (*tile->memref_)->slot_ ? tile : nullptr;
}

bool hasKnownValid(const TileType &tile) {
  if (tile.tile_view_)
    for (const ExprPtr &extent : tile.tile_view_->valid_shape)
      if (!ConstantInt(extent))
        return false;
  return true;
}

/// Whether two tiles may be slots of one region, which says type and valid extent once.
bool sameSlot(const TileType &a, const TileType &b) {
  auto bare = [](const TileType &tile) {
    return std::make_shared<const TileType>(tile.shape_, tile.dtype_, std::nullopt, tile.tile_view_,
                                            tile.GetMemorySpace());
  };
  return structural_equal(bare(a), bare(b));
}

class SlotRegions : public IRVisitor {
public:
  void VisitFunction(const FunctionPtr &function) override {
    regions.clear();
    taken.clear();
    isInLoop = false;
    IRVisitor::VisitFunction(function);
  }

protected:
  void VisitStmt_(const ForStmtPtr &op) override { loop(op); }
  void VisitStmt_(const WhileStmtPtr &op) override { loop(op); }
  void VisitStmt_(const IfStmtPtr &op) override {
    refuseCarried(op->return_vars_);
    IRVisitor::VisitStmt_(op);
  }
  void VisitStmt_(const AssignStmtPtr &op) override {
    if (TileTypePtr tile = slotType(op->var_))
      check(op->var_, tile);
    IRVisitor::VisitStmt_(op);
  }

private:
  [[noreturn]] static void refuse(const VarPtr &var, const std::string &why, const std::string &hint) {
    const MemRefPtr &memref = *As<TileType>(var->type_)->memref_;
    std::string name = memref->name_.empty() ? std::to_string(memref->id_) : "`" + memref->name_ + "`";
    std::string place = var->span_.is_valid() ? var->span_.to_string() + ": " : "";
    throw ValueError(place + var->name_hint_ + " is a slot of " + name + ", which memory_planner=PTOAS refuses: " +
                     why + "; " + hint + ", or leave out the memory_planner");
  }
  template <class T> static void refuseCarried(const std::vector<T> &vars) {
    for (const T &var : vars)
      if (slotType(var))
        refuse(var, "a branch or a loop hands it on", "copy it to a tile of its own");
  }
  template <class T> void loop(const T &op) {
    refuseCarried(op->iter_args_);
    refuseCarried(op->return_vars_);
    // Slots of one turn are those of the innermost loop.
    auto outside = std::exchange(taken, {});
    bool wasInLoop = std::exchange(isInLoop, true);
    IRVisitor::VisitStmt_(op);
    taken = std::move(outside);
    isInLoop = wasInLoop;
  }
  void check(const VarPtr &var, const TileTypePtr &tile) {
    const MemRef &memref = **tile->memref_;
    auto space = tile->GetMemorySpace();
    if (memref.slots_ > kMostSlots)
      refuse(var, "an allocation has at most 16 slots there, not " + std::to_string(memref.slots_), "declare fewer");
    if (space != MemorySpace::Vec && space != MemorySpace::Mat && space != MemorySpace::Acc)
      refuse(var, "slots lie in Vec, Mat or Acc", "place it there");
    if (!hasKnownValid(*tile))
      refuse(var, "its valid extent is known at run time only", "make it a constant");
    auto [region, isFirst] = regions.try_emplace(memref.id_, tile);
    if (!isFirst && !sameSlot(*tile, *region->second))
      refuse(var, "slots of one allocation have one type and valid extent", "declare an allocation for each type");
    if (isInLoop && !taken.insert(memref.id_).second)
      refuse(var, "two slots live at once in a turn of a loop, and only the first one is guarded there",
             "take one slot in a turn");
  }

  std::map<uint64_t, TileTypePtr> regions; // by allocation, its first slot
  std::set<uint64_t> taken;                // by this turn of the innermost loop
  bool isInLoop = false;
};

} // namespace

void CheckSlotRegions(const ProgramPtr &program) { SlotRegions().VisitProgram(program); }

} // namespace pypto::ir
